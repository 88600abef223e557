// The GPUs' work by CUPTI's activity records, and which of it is ours.
#pragma once

#include <cuda.h>

#include <atomic>
#include <string>

#include "device/activity.hpp"

namespace xcuda::device::cuda {

inline std::atomic<bool> watching{false};

/// Around the driver's call that starts a launch: the kernel's record is then known as this launch's.
class Launching {
public:
    explicit Launching(const Device::Launch& launch) : noted_(watching.load(std::memory_order_relaxed)) {
        if (noted_) [[unlikely]]
            now_ = &launch;
    }
    ~Launching() {
        if (noted_) [[unlikely]]
            now_ = nullptr;
    }
    Launching(const Launching&) = delete;
    Launching& operator=(const Launching&) = delete;
    static const Device::Launch* now() { return now_; }

private:
    const bool noted_;
    static inline constinit thread_local const Device::Launch* now_ = nullptr;
};

/// Before a graph is started under a watch, no lock held: that its kernels will have their own times.
void let_graphs_be_told();

/// A graph is about to be started: its kernels' records are known by the graph's number.
void note_replay(const Device::Launch& launch, CUgraphExec graph);

/// The parts of device::Watch. `start_watching` gives why it can't be, or nothing; each success needs a stop.
std::string start_watching(bool overlapping);
void stop_watching() noexcept;
bool watch_overlaps();
std::string watch_source();
/// What began at `from` (base/clock) or later.
Activities watched_since(double from, double seconds);

/// Finds out which launches are over.
void look_at_launches();

/// While hardware counters are read nothing can be watched: CUPTI does one of the two.
void pause_watching(bool paused);

}  // namespace xcuda::device::cuda
