// Waiting for several sockets and descriptors, with signals as no error.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <vector>

#include "zmq.hpp"

namespace xcuda::kernel {

inline void signal_event(int descriptor) {
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t ignored = ::write(descriptor, &one, sizeof one);
}

// Polls until something is ready or the time is over; false when a signal cut it short.
inline bool poll_items(std::vector<zmq::pollitem_t>& items, long timeout_ms) {
    try {
        zmq::poll(items, std::chrono::milliseconds(timeout_ms));
        return true;
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) {
            throw;
        }
        return false;
    }
}

inline bool readable(const zmq::pollitem_t& item) { return (item.revents & ZMQ_POLLIN) != 0; }

}  // namespace xcuda::kernel
