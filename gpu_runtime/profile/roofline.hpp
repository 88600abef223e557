// The two ceilings a kernel works under, memory and arithmetic: measured once on a machine and kept on disk.
#pragma once

#include <optional>
#include <string_view>

#include "device/device.hpp"

namespace xcuda::profile {

struct Ceilings {
    double copy_bytes_per_second = 0;  // read plus written, by all workers
    double flops_f32 = 0;  // multiply-adds (2 each) a second, by all workers, in the widest vectors
    double flops_f64 = 0;
};

/// From memory or the cache folder; never measures. Nothing for devices whose ceilings are not measured here.
XCUDA_API std::optional<Ceilings> known_ceilings(const device::Info& device);
/// Known, or measured now (about 40 ms on all of the device's workers) and kept.
XCUDA_API std::optional<Ceilings> ceilings(const device::Info& device);
/// Starts measuring on a thread of its own where nothing is known yet; at most once a process and device.
XCUDA_API void measure_in_background(const device::Info& device);

/// Only the measuring, keeping nothing.
XCUDA_API Ceilings measure_ceilings(int workers);

struct Roofline {
    double share =
        0;  // of the rate the ceilings allow at this intensity; above 1: the data stayed in a cache
    std::string_view bound;  // "memory" or "arithmetic": the ceiling that holds at this intensity
};
/// Where a run of `seconds` with this work stands. Nothing where there is no work or no time.
XCUDA_API std::optional<Roofline> roofline(const Ceilings& ceilings, bool float64, double flops, double bytes,
                                           double seconds);

}  // namespace xcuda::profile
