// The two ceilings a kernel works under, memory and arithmetic: found once on a machine and kept on disk. A GPU's
// arithmetic peak is computed from its clock and units, all else is measured.
#pragma once

#include <optional>
#include <string_view>

#include "device/device.hpp"

namespace xcuda::profile {

struct Ceilings {
    double copy_bytes_per_second = 0;  // read plus written, by all workers
    double flops_f32 = 0;  // multiply-adds (2 each) a second, by all workers, in the widest vectors
    double flops_f64 = 0;
    bool flops_computed = false;  // from clock and units, not measured
};

/// From memory or the cache folder; never measures.
XCUDA_API std::optional<Ceilings> known_ceilings(const device::Info& device);
/// Known, or measured now (about 40 ms on all of the CPU device's workers, less on a GPU) and kept. Nothing where it
/// can't be: a GPU whose units or clock are not known.
XCUDA_API std::optional<Ceilings> ceilings(const device::Info& device);
/// Starts measuring on a thread of its own where nothing is known yet; at most once a process and device. Only the CPU
/// device: on a GPU a thread of ours could break into a graph's capture.
XCUDA_API void measure_in_background(const device::Info& device);

/// Only the measuring, keeping nothing.
XCUDA_API Ceilings measure_ceilings(int workers);
/// A GPU's, by a short copy in its memory (two pieces of 128 MiB) on a stream of its own.
std::optional<Ceilings> gpu_ceilings(device::Device& device);
/// Only the peaks of a GPU, from its clock, multiprocessors and what one of its architecture does in a clock.
XCUDA_API std::optional<Ceilings> multiply_add_peaks(const device::Info& device);

struct Roofline {
    double share =
        0;  // of the rate the ceilings allow at this intensity; above 1: the data stayed in a cache
    std::string_view bound;  // "memory" or "arithmetic": the ceiling that holds at this intensity
};
/// Where a run of `seconds` with this work stands. Nothing where there is no work or no time.
XCUDA_API std::optional<Roofline> roofline(const Ceilings& ceilings, bool float64, double flops, double bytes,
                                           double seconds);

}  // namespace xcuda::profile
