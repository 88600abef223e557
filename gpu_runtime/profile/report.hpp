// The report: one JSON document that says what ran on the devices, what it cost and why. Data only; how it looks is
// the magics' affair. Its schema is report.schema.json beside this file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launch/event.hpp"
#include "profile/device_state.hpp"

namespace xcuda::profile {

inline constexpr const char* schema_name = "xcuda.report/1";

/// What the events are of: a cell, a profiled block, a decorated function.
struct Scope {
    std::string kind;           // "cell", "block", "function"
    std::string label;          // "In [3]", "benchmark_function"
    double begin = 0, end = 0;  // base/clock
    bool failed = false;
};

/// Nothing where no event is of a device: a cell that used none gets no report.
XCUDA_API std::optional<nlohmann::json> report(const launch::Slice& slice,
                                               const std::vector<DeviceState>& devices, const Scope& scope);

/// The devices that the events name, with ceilings: known ones, measured now where `measure`.
XCUDA_API std::vector<DeviceState> states_of(const launch::Slice& slice, bool measure);

}  // namespace xcuda::profile
