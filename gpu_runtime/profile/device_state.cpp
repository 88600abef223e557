#include "profile/device_state.hpp"

#include <algorithm>
#include <exception>

#include "launch/program.hpp"
#include "profile/report.hpp"

namespace xcuda::profile {
namespace {

/// A copy beside them would disturb both.
bool any_running(const launch::Slice& slice) {
    return std::any_of(slice.events.begin(), slice.events.end(), [](const launch::Event& e) {
        return e.timing && !e.timing->done.load(std::memory_order_acquire);
    });
}

std::string why_none(const device::Info& info) {
    if (info.kind == "cpu") return "this machine's ceilings are measured once, after its first report";
    if (!multiply_add_peaks(info)) return "the units of " + info.architecture + " or its clock are not known";
    return "this device's ceilings have not been measured";
}

}  // namespace

std::vector<DeviceState> states_of(const launch::Slice& slice, bool measure) {
    std::vector<DeviceState> states;
    for (const auto& device : device::devices()) {
        const auto& info = device->info();
        const std::string label = launch::device_label(info);
        const bool used = std::any_of(slice.events.begin(), slice.events.end(),
                                      [&](const launch::Event& e) { return e.device == label; }) ||
                          std::any_of(slice.sums.begin(), slice.sums.end(),
                                      [&](const launch::LaunchSum& s) { return s.what->device == label; });
        if (!used) continue;
        const bool now = measure || (info.kind != "cpu" && !any_running(slice));
        DeviceState state{label, info, device->memory(), {}, {}};
        try {
            state.ceilings = now ? ceilings(info) : known_ceilings(info);
        } catch (const std::exception& error) {  // no memory for the copy: the report goes on without
            state.no_ceilings = std::string("measuring the device failed: ") + error.what();
        }
        if (!state.ceilings && state.no_ceilings.empty()) state.no_ceilings = why_none(info);
        states.push_back(std::move(state));
    }
    return states;
}

}  // namespace xcuda::profile
