#include "profile/figure.hpp"

#include <cmath>
#include <utility>

namespace xcuda::profile {

nlohmann::json figure(double value, std::string_view unit, From from) {
    static constexpr std::string_view names[] = {"measured", "computed", "modelled"};
    if (!std::isfinite(value)) return absent("the figure is not a finite number");
    // Not as a list of lists, each of which would be made and copied: a report has dozens of figures.
    nlohmann::json::object_t parts;
    parts.emplace("value", value);
    parts.emplace("unit", unit);
    parts.emplace("source", names[static_cast<int>(from)]);
    return parts;
}

nlohmann::json object(std::initializer_list<Part> parts) {
    nlohmann::json::object_t made;
    for (const Part& part : parts) made.emplace(part.key, std::move(part.value));
    return made;
}

nlohmann::json absent(std::string_view reason) {
    nlohmann::json::object_t parts;
    parts.emplace("absent", reason);
    return parts;
}

}  // namespace xcuda::profile
