// Hardware counters by CUPTI's range profiler: a launch is a range, replayed until all counters have been read.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/counters.hpp"

namespace xcuda::device::cuda {

inline std::atomic<bool> counting{false};

/// While one lives, this thread's launches are not counted where `arguments` names host memory: replays don't put it back.
class SparedHostMemory {
public:
    explicit SparedHostMemory(std::span<const std::byte> arguments) {
        if (counting.load(std::memory_order_relaxed)) [[unlikely]]
            spared_ = names_host_memory(arguments);
    }
    ~SparedHostMemory() { spared_ = false; }
    SparedHostMemory(const SparedHostMemory&) = delete;
    SparedHostMemory& operator=(const SparedHostMemory&) = delete;
    static bool spared() { return spared_; }

private:
    static bool names_host_memory(std::span<const std::byte> arguments);
    static inline constinit thread_local bool spared_ = false;
};

/// Around the driver's call that starts a kernel: its counters are read where that is asked for. The context is current.
class CountedLaunch {
public:
    CountedLaunch(CUcontext context, CUfunction function, const Shape& shape, const Device::Launch& launch) {
        if (counting.load(std::memory_order_relaxed)) [[unlikely]]
            begin(context, function, shape, launch);
    }
    ~CountedLaunch() {
        if (launch_) [[unlikely]]
            end();
    }
    CountedLaunch(const CountedLaunch&) = delete;
    CountedLaunch& operator=(const CountedLaunch&) = delete;

private:
    void begin(CUcontext context, CUfunction function, const Shape& shape, const Device::Launch& launch);
    void end() noexcept;
    const Device::Launch* launch_ = nullptr;  // null: not counted
    CUcontext context_ = nullptr;
};

/// The parts of device::Counting.
std::string start_counting(std::vector<Counter> which, int launches);
void stop_counting() noexcept;
std::string counting_problem();
std::map<const Device::Launch*, std::shared_ptr<const CounterValues>> counted_launches();
std::vector<bool> known_counters(const std::string& chip, const std::vector<std::string>& names);

}  // namespace xcuda::device::cuda
