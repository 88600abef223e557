// The host as a device: its name, cores, vectors and memory.
#pragma once

#include <string>

#include "device/device.hpp"

namespace xcuda::device::cpu {

/// Cores this process may use (its affinity mask).
int cores();
/// Workers of the pool: XCUDA_WORKERS, else one a core.
int worker_count();
/// RAM of the machine, or of the container where that is less.
std::int64_t memory_total();
/// RAM that could be had now, by the kernel's own estimate.
std::int64_t memory_available();
/// Processor features that change what the compiler makes, as 16 hex digits.
std::string features_hash();

Info host_info();

}  // namespace xcuda::device::cpu
