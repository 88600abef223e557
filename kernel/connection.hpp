// What a connection file says, and the sockets bound from it.
#pragma once

#include <string>

#include "wire.hpp"

namespace xcuda::kernel {

// Reads a connection file; throws std::runtime_error naming the file if it can't be read or lacks a field.
xeus::xconfiguration read_connection(const std::string& path);

// A socket bound to a channel's address; linger is how long closing waits for unsent messages.
zmq::socket_t bind_channel(zmq::context_t& context, zmq::socket_type type, const xeus::xconfiguration& config,
                           const std::string& port);

}  // namespace xcuda::kernel
