// Comms: xeus routes the messages, the objects that users hold are those of the Python package `comm`.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "xeus_compat.hpp"

namespace xcuda::kernel {

// Makes comm_msg and comm_close for this id arrive at the Python comm manager.
void route_comm(const std::string& comm_id, const std::string& target);

// Forgets the id; inside one of its own handlers the object lives on until bury_closed_comms().
void unroute_comm(const std::string& comm_id);

// Between messages: frees comms that were closed from inside a handler.
void bury_closed_comms();

// Makes comm_open for this target arrive at the Python comm manager.
void route_target(const std::string& target);

// A message as the dict that `comm`'s manager takes.
pybind11::dict to_python(const xeus::xmessage& message);

}  // namespace xcuda::kernel
