// The launches of one compiled kernel under one launch shape, gathered from the events: a row of the report.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/counters.hpp"
#include "launch/event.hpp"
#include "profile/device_state.hpp"
#include "profile/figure.hpp"

namespace xcuda::profile {

struct KernelRow {
    std::shared_ptr<const launch::KernelFacts> kernel;
    device::Shape shape;
    bool automatic_shape = false;
    bool foreign = false;                 // another library's
    const DeviceState* device = nullptr;  // null: a device this process no longer has
    int calls = 0, timed = 0, running = 0, failed = 0, replayed = 0;
    bool watched = false;  // the vendor's profiling library looked on
    double total = 0, shortest = std::numeric_limits<double>::infinity(),
           longest = 0;                                   // seconds, of the timed calls
    int modelled = 0;                                     // timed calls with a model of their work
    double flops = 0, bytes_read = 0, bytes_written = 0;  // sums over those
    double modelled_seconds = 0;
    int shared = 0;  // calls that several threads of the CPU device shared, `workers` in all
    std::int64_t workers = 0;
    double busy = 0, busiest = 0;  // sums over those: seconds of all workers, and of the one at work longest
    int counted = 0;               // calls whose hardware counters were read
    std::shared_ptr<const std::vector<device::Counter>> counters;
    std::vector<double> counter_sums;

    double bytes() const { return bytes_read + bytes_written; }
    /// Whether warps and occupancy have a meaning on its device: not on the CPU device.
    bool has_warps() const { return device && device->info.max_threads_per_multiprocessor > 0; }
    /// Whether arithmetic is in float64, as far as the arguments tell.
    bool float64() const { return kernel->signature.find("float64") != std::string::npos; }
};

XCUDA_API std::vector<KernelRow> kernel_rows(const launch::Slice& slice,
                                             const std::vector<DeviceState>& devices);

/// The row as the report has it; see report.schema.json.
XCUDA_API nlohmann::json to_json(const KernelRow& row);

/// Why a row that ran has no modelled figures.
std::string why_unmodelled(const KernelRow& row);

}  // namespace xcuda::profile
