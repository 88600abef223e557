#include "base/time_unit.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace xcuda {
namespace {

constexpr std::array<std::string_view, 14> unit_words{"years",        "months",
                                                      "weeks",        "days",
                                                      "hours",        "minutes",
                                                      "seconds",      "milliseconds",
                                                      "microseconds", "nanoseconds",
                                                      "picoseconds",  "femtoseconds",
                                                      "attoseconds",  "generic time units"};

// How many of the next unit one of a unit is, from weeks on.
constexpr std::array<std::int64_t, 10> steps{7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000};

struct Date {
    std::int64_t year;
    int month, day;
};

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

// Of days since 1970-01-01, in the proleptic Gregorian calendar: years are counted from March, eras have 400 of them.
Date date_of(std::int64_t days) {
    const std::int64_t shifted = days + 719468, era = floored(shifted, 146097);
    const std::int64_t day_of_era = shifted - era * 146097;
    const std::int64_t year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    const std::int64_t from_march = (5 * day_of_year + 2) / 153;
    const int month = static_cast<int>(from_march < 10 ? from_march + 3 : from_march - 9);
    return {year + era * 400 + (month <= 2), month,
            static_cast<int>(day_of_year - (153 * from_march + 2) / 5 + 1)};
}

std::string year_text(std::int64_t year) { return fmt::format("{:04}", year); }

// The time of a day, in whole units of it.
std::string clock_text(std::int64_t in_day, TimeUnit unit) {
    std::int64_t unit_a_second = 1;
    if (unit > TimeUnit::seconds) unit_a_second = *units_in(TimeUnit::seconds, unit);
    if (unit == TimeUnit::hours) return fmt::format("T{:02}", in_day);
    if (unit == TimeUnit::minutes) return fmt::format("T{:02}:{:02}", in_day / 60, in_day % 60);
    const std::int64_t seconds = in_day / unit_a_second, fraction = in_day % unit_a_second;
    std::string text = fmt::format("T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    const int digits = 3 * (static_cast<int>(unit) - static_cast<int>(TimeUnit::seconds));
    return digits > 0 ? text + fmt::format(".{:0{}}", fraction, digits) : text;
}

}  // namespace

std::optional<std::int64_t> units_in(TimeUnit coarse, TimeUnit fine) {
    if (coarse == TimeUnit::years && fine == TimeUnit::months) return 12;
    if (coarse == fine) return 1;
    if (is_calendar(coarse) || fine == TimeUnit::generic || coarse > fine) return std::nullopt;
    std::int64_t n = 1;
    for (auto u = static_cast<std::size_t>(coarse); u < static_cast<std::size_t>(fine); ++u)
        if (__builtin_mul_overflow(n, steps[u - static_cast<std::size_t>(TimeUnit::weeks)], &n))
            return std::nullopt;
    return n;
}

std::string time_text(std::int64_t value, DType time) {
    if (value == INT64_MIN) return "NaT";
    const TimeUnit unit = unit_of(time);
    if (is_timedelta(time) || unit == TimeUnit::generic)
        return fmt::format("{} {}", value, unit_words[static_cast<std::size_t>(unit)]);
    if (unit == TimeUnit::years) return year_text(1970 + value);
    if (unit == TimeUnit::months) {
        const std::int64_t year = floored(value, 12);
        return fmt::format("{}-{:02}", year_text(1970 + year), value - year * 12 + 1);
    }
    const auto in_day =
        unit > TimeUnit::days ? units_in(TimeUnit::days, unit) : std::optional<std::int64_t>(1);
    std::int64_t days = unit == TimeUnit::weeks ? value * 7 : value, rest = 0;
    if (in_day && *in_day > 1) {
        days = floored(value, *in_day);
        rest = value - days * *in_day;
    } else if (!in_day) {  // a day of attoseconds is above 2^63: they all lie within ten seconds of 1970
        constexpr std::int64_t second = 1'000'000'000'000'000'000;
        const std::int64_t seconds = floored(value, second);
        const std::int64_t day = floored(seconds, 86400), left = seconds - day * 86400;
        const Date date = date_of(day);
        return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:018}", year_text(date.year), date.month,
                           date.day, left / 3600, left / 60 % 60, left % 60, value - seconds * second);
    }
    const Date date = date_of(days);
    const std::string day = fmt::format("{}-{:02}-{:02}", year_text(date.year), date.month, date.day);
    return unit > TimeUnit::days ? day + clock_text(rest, unit) : day;
}

}  // namespace xcuda
