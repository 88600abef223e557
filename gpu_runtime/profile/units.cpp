#include "profile/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace xcuda::profile {
namespace {

std::string digits(double value) {
    const double size = std::abs(value);
    const bool whole = std::abs(size - std::round(size)) <= 1e-9 * size;  // but for the unit's rounding
    if (size >= 100 || whole) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, size >= 10 ? 1 : 2);
}

}  // namespace

std::string in_unit(double value, std::string_view unit) {
    if (unit == "1") return fmt::format("{:g}", value);
    if (unit == "share")
        return value >= 0.1 || value == 0 ? fmt::format("{:.0f} %", 100 * value)
                                          : fmt::format("{:.2g} %", 100 * value);
    if (unit == "B") {
        static constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB"};
        std::size_t i = 0;
        while (std::abs(value) >= 1024 && i + 1 < names.size()) value /= 1024, ++i;
        return digits(value) + " " + names[i];
    }
    static constexpr std::array prefixes{"n", "µ", "m", "", "k", "M", "G", "T", "P"};
    std::size_t i = 3;
    if (value != 0) {
        while (std::abs(value) < 0.9995 && i > 0) value *= 1000, --i;
        while (std::abs(value) >= 999.5 && i + 1 < prefixes.size()) value /= 1000, ++i;
    }
    return fmt::format("{} {}{}", digits(value), prefixes[i], unit);
}

}  // namespace xcuda::profile
