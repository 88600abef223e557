#include "profile/figure.hpp"

#include <cmath>

namespace xcuda::profile {

nlohmann::json figure(double value, std::string_view unit, From from) {
    static constexpr std::string_view names[] = {"measured", "computed", "modelled"};
    if (!std::isfinite(value)) return absent("the figure is not a finite number");
    return {{"value", value}, {"unit", unit}, {"source", names[static_cast<int>(from)]}};
}

nlohmann::json absent(std::string_view reason) { return {{"absent", reason}}; }

}  // namespace xcuda::profile
