#include "_runtime_profile.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "launch/event.hpp"
#include "profile/report.hpp"

namespace xcuda::python {
namespace {

using launch::Event;

bool running(const Event& e) { return e.timing && !e.timing->done.load(std::memory_order_acquire); }

/// Waits until no launch of the slice runs, for `seconds` at most.
void settle(const launch::Slice& slice, double seconds) {
    const double until = now() + seconds;
    while (std::any_of(slice.events.begin(), slice.events.end(), running) && now() < until) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

std::optional<std::string> report_since(std::uint64_t mark, const std::string& kind, const std::string& label,
                                        double begin, bool failed, double wait, bool measure) {
    nb::gil_scoped_release released;
    const auto slice = launch::events_since(mark);
    if (slice.events.empty()) return std::nullopt;
    const double end = now();
    settle(slice, wait);
    const auto devices = profile::states_of(slice, measure);
    const auto document = profile::report(slice, devices, {kind, label, begin, end, failed});
    if (!measure) {
        for (const auto& d : devices) profile::measure_in_background(d.info);  // for the next report
    }
    if (!document) return std::nullopt;
    return document->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void bind_profile(nb::module_& m) {
    m.def("profile_mark", &launch::mark, "A mark in the log of events.");
    m.def("clock", &now, "Seconds on the clock that all events share.");
    m.def("report_since", &report_since, nb::arg("mark"), nb::arg("kind"), nb::arg("label"), nb::arg("begin"),
          nb::arg("failed"), nb::arg("wait"), nb::arg("measure"),
          "The report of the events after `mark` as JSON text; None where there is none. Launches that still "
          "run are "
          "waited for `wait` seconds at most; unknown ceilings are measured where `measure`, else in the "
          "background.");
}

}  // namespace xcuda::python
