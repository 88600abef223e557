// A figure of the report: a value with its unit and where it is from, or the reason why there is none. Never a zero
// that stands for "not known".
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/export.hpp"

namespace xcuda::profile {

enum class From {
    measured,  // clocks, events, counters
    computed,  // from the compiled kernel and the device's limits
    modelled,  // bytes and FLOPs counted in the IR, and what is derived from them
};

/// {"value": 1.5e-3, "unit": "s", "source": "measured"}. Units are s, B, B/s, FLOP, FLOP/s, FLOP/B, share and 1.
XCUDA_API nlohmann::json figure(double value, std::string_view unit, From from);
/// {"absent": "no occupancy on the CPU device"}
XCUDA_API nlohmann::json absent(std::string_view reason);

/// object({{"name", 1}, {"other", 2.5}}): nothing is copied, where json's own lists copy each part of a report.
struct Part {
    std::string_view key;
    mutable nlohmann::json value;  // what a list has is constant, and is to be moved
};
XCUDA_API nlohmann::json object(std::initializer_list<Part> parts);

}  // namespace xcuda::profile
