// What was collected beside the log of events, put into it: other libraries' work, exact times, counters.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "device/activity.hpp"
#include "device/counters.hpp"
#include "launch/event.hpp"

namespace xcuda::profile {

/// Other libraries' kernels, copies and fills become events of their own; launches of ours get the times that the GPU
/// itself took, each kernel of a graph too. Nothing is counted twice.
XCUDA_API void add_activities(launch::Slice& slice, const device::Activities& seen);

/// Launches whose counters were read get them, with the time that the kernel took alone.
XCUDA_API void add_counters(launch::Slice& slice, const device::Counting& counting);

/// "at::native::fill<int>(int*, int)" and its return type as name and the rest: {"at::native::fill", "<int>(int*, int)"}.
XCUDA_API std::pair<std::string, std::string> split_name(const std::string& demangled);

}  // namespace xcuda::profile
