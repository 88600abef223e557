#include "profile/device_state.hpp"

#include <algorithm>

#include "launch/program.hpp"
#include "profile/report.hpp"

namespace xcuda::profile {

std::vector<DeviceState> states_of(const launch::Slice& slice, bool measure) {
    std::vector<DeviceState> states;
    for (const auto& device : device::devices()) {
        const auto& info = device->info();
        const std::string label = launch::device_label(info);
        const bool used = std::any_of(slice.events.begin(), slice.events.end(),
                                      [&](const launch::Event& e) { return e.device == label; });
        if (!used) continue;
        DeviceState state{label, info, device->memory(), measure ? ceilings(info) : known_ceilings(info), {}};
        if (!state.ceilings) {
            state.no_ceilings = info.kind == "cpu"
                                    ? "this machine's ceilings are measured once, after its first report"
                                    : "this device's ceilings have not been measured";
        }
        states.push_back(std::move(state));
    }
    return states;
}

}  // namespace xcuda::profile
