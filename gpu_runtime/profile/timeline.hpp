// When each thing of a slice happened: what the report's timeline and traces are drawn from.
#pragma once

#include <nlohmann/json.hpp>

#include "launch/event.hpp"

namespace xcuda::profile {

/// Launches, compiles, copies and fills in order of their begin, in seconds from `origin` (base/clock); see "timeline" in
/// report.schema.json. At most `most` of them, the first ones: the document tells how many it left out.
XCUDA_API nlohmann::json timeline(const launch::Slice& slice, double origin, std::size_t most = 20'000);

/// "to device", "to host", "on device" or "fill"; nothing for other kinds of event.
XCUDA_API const char* copy_direction(launch::Event::Kind kind);

/// What the launches of a slice took on their devices.
struct LaunchTimes {
    int launches = 0;         // with blocks to run
    int unknown = 0;          // of these: not measured, still running, or stopped by an error
    double busy = 0;          // seconds in which at least one of the measured ones ran
    std::int64_t copied = 0;  // bytes between host and devices
};
XCUDA_API LaunchTimes launch_times(const launch::Slice& slice);

}  // namespace xcuda::profile
