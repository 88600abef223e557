// One monotonic clock, in seconds, for every event of a process.
#pragma once

#include <chrono>

namespace xcuda {

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace xcuda
