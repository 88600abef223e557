// The units of datetime64 and timedelta64: each has an element type of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.hpp"

namespace xcuda {

enum class TimeUnit : std::uint8_t {
    years,
    months,
    weeks,
    days,
    hours,
    minutes,
    seconds,
    milliseconds,
    microseconds,
    nanoseconds,
    picoseconds,
    femtoseconds,
    attoseconds,
    generic,  // none given: takes the other operand's
};

inline bool is_datetime(DType d) { return info(d).kind == DKind::datetime; }
inline bool is_timedelta(DType d) { return info(d).kind == DKind::timedelta; }
inline bool is_time(DType d) { return d >= DType::datetime; }

inline DType datetime_of(TimeUnit unit) {
    return static_cast<DType>(static_cast<int>(DType::datetime) + static_cast<int>(unit));
}
inline DType timedelta_of(TimeUnit unit) {
    return static_cast<DType>(static_cast<int>(DType::timedelta) + static_cast<int>(unit));
}
inline TimeUnit unit_of(DType time) {
    const DType first = is_datetime(time) ? DType::datetime : DType::timedelta;
    return static_cast<TimeUnit>(static_cast<int>(time) - static_cast<int>(first));
}
/// Months and years have no fixed length.
inline bool is_calendar(TimeUnit unit) { return unit == TimeUnit::years || unit == TimeUnit::months; }

/// How many of `fine` one of `coarse` is, where both have a fixed length; nothing where that is above 2^63.
XCUDA_API std::optional<std::int64_t> units_in(TimeUnit coarse, TimeUnit fine);

/// "2005-02-03T02", as NumPy shows a datetime64; "5 days" of a timedelta64. "NaT" of the least integer.
XCUDA_API std::string time_text(std::int64_t value, DType time);

}  // namespace xcuda
