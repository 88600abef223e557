#include "_runtime_profile.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <unordered_map>

#include "base/clock.hpp"
#include "device/activity.hpp"
#include "device/counters.hpp"
#include "device/ranges.hpp"
#include "device/under_way.hpp"
#include "launch/event.hpp"
#include "launch/running.hpp"
#include "profile/activity.hpp"
#include "profile/figure.hpp"
#include "profile/occupancy.hpp"
#include "profile/report.hpp"
#include "profile/timeline.hpp"
#include "profile/units.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

using launch::Event;

bool running(const Event& e) { return e.timing && !e.timing->done.load(std::memory_order_acquire); }

/// Waits until no launch of the slice runs, for `seconds` at most. False where none did: the slice is as it was.
bool settle(const launch::Slice& slice, double seconds) {
    const double until = now() + seconds;
    const auto under_way = [&] { return std::any_of(slice.events.begin(), slice.events.end(), running); };
    const auto without_end = [](const Event& e) {
        return e.kind == Event::Kind::launch && e.timing && e.end == 0;
    };
    if (std::none_of(slice.events.begin(), slice.events.end(), without_end)) return false;
    do {
        device::look_at_launches();
        if (!under_way() || now() > until) break;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    } while (under_way());
    return true;
}

nlohmann::json collection_of(launch::Slice& slice, device::Watch* watch, const device::Counting* counting,
                             double wait) {
    auto told = nlohmann::json::object();
    if (counting) {
        profile::add_counters(slice, *counting);
        const auto counted = std::count_if(slice.events.begin(), slice.events.end(),
                                           [](const Event& e) { return e.counters != nullptr; });
        told["counters"] = counting->problem().empty() ? nlohmann::json{{"calls", counted}}
                                                       : profile::absent(counting->problem());
    }
    if (watch && !watch->idle()) {
        if (watch->problem().empty()) profile::add_activities(slice, watch->seen(wait));
        told["activity"] = watch->problem().empty() ? nlohmann::json{{"source", watch->source()},
                                                                     {"overlapping", watch->overlaps()}}
                                                    : profile::absent(watch->problem());
    }
    return told;
}

std::optional<nlohmann::json> report_since(std::uint64_t mark, const std::string& kind,
                                           const std::string& label, double begin, bool failed, double wait,
                                           bool measure, bool timeline, device::Watch* watch,
                                           const device::Counting* counting) {
    Released released;
    const bool each = timeline || counting || (watch && !watch->idle());
    const std::size_t launches = each ? std::numeric_limits<std::size_t>::max() : 0;
    auto slice = launch::events_since(mark, launches);
    const auto nothing = [&] { return slice.events.empty() && slice.sums.empty(); };
    if (nothing() && !watch) return std::nullopt;
    const double end = now();
    if (settle(slice, wait)) slice = launch::events_since(mark, launches);  // launches have their times now
    auto collection = collection_of(slice, watch, counting, wait);
    if (nothing()) return std::nullopt;
    const auto devices = profile::states_of(slice, measure);
    auto document = profile::report(slice, devices, {kind, label, begin, end, failed});
    if (!measure) {
        for (const auto& d : devices) profile::measure_in_background(d.info);  // for the next report
    }
    if (!document) return std::nullopt;
    if (!collection.empty()) (*document)["collection"] = std::move(collection);
    if (timeline) (*document)["timeline"] = profile::timeline(slice, begin);
    return document;
}

nb::object python_text(const std::string& text) {
    PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
    if (!made) throw nb::python_error();
    return nb::steal(made);
}

/// The text as a key, made once: a report has the same few dozen in each row.
nb::object python_key(const std::string& text) {
    static auto& known = *new std::unordered_map<std::string, PyObject*>;
    constexpr std::size_t most = 1024;
    if (const auto found = known.find(text); found != known.end()) return nb::borrow(found->second);
    PyObject* name = python_text(text).release().ptr();
    PyUnicode_InternInPlace(&name);
    if (known.size() < most) known.emplace(text, Py_NewRef(name));
    return nb::steal(name);
}

/// As json.loads has it of the text, without the text.
nb::object python_value(const nlohmann::json& value) {
    using Type = nlohmann::json::value_t;
    switch (value.type()) {
        case Type::object: {
            nb::object made = nb::steal(PyDict_New());
            for (const auto& [key, part] : value.get_ref<const nlohmann::json::object_t&>())
                if (PyDict_SetItem(made.ptr(), python_key(key).ptr(), python_value(part).ptr()) != 0)
                    throw nb::python_error();
            return made;
        }
        case Type::array: {
            nb::list made;
            for (const auto& part : value) made.append(python_value(part));
            return made;
        }
        case Type::string: return python_text(value.get_ref<const std::string&>());
        case Type::boolean: return nb::bool_(value.get<bool>());
        case Type::number_integer: return nb::int_(value.get<std::int64_t>());
        case Type::number_unsigned: return nb::int_(value.get<std::uint64_t>());
        case Type::number_float: return nb::float_(value.get<double>());
        default: return nb::none();
    }
}

using CounterRow = std::tuple<std::string, std::string, double, std::vector<std::string>>;
void make_counting(device::Counting* self, const std::vector<CounterRow>& rows, int launches) {
    std::vector<device::Counter> which;
    for (const auto& [key, unit, scale, names] : rows) which.push_back({key, unit, scale, names});
    Released released;
    new (self) device::Counting(std::move(which), launches);
}

nb::tuple launch_times(std::uint64_t mark) {
    const auto t = profile::launch_times(launch::events_since(mark));
    return nb::make_tuple(t.launches, t.unknown, t.busy, t.copied);
}

/// The reading is done with the GIL held: by one thread at a time, and with no fork() in between.
nb::list under_way(std::uint64_t mark) {
    {
        Released released;
        device::look_at_launches();
    }
    auto seen = device::under_way();
    if (const auto running = launch::oldest_running(mark)) {
        const auto launched = std::find_if(seen.begin(), seen.end(), [](const auto& s) {
            return s.what == device::Doing::launch && s.name.empty();  // a stream's thread knows no names
        });
        if (launched != seen.end())
            launched->name = running->name;
        else
            seen.push_back({device::Doing::launch, running->name, running->begin, -1});
    }
    constexpr const char* words[] = {"compile", "copy", "launch"};
    nb::list out;
    for (const auto& s : seen)
        out.append(nb::make_tuple(words[static_cast<int>(s.what)], s.name, now() - s.begin,
                                  s.share < 0 ? nb::none() : nb::object(nb::float_(s.share))));
    return out;
}

nb::object occupancy(const std::string& architecture, int registers, std::int64_t shared_bytes,
                     std::int64_t threads) {
    const auto limits = device::describe_target(architecture);
    if (!limits) return nb::none();
    device::Attributes kernel;
    kernel.registers = registers;
    kernel.shared_bytes = shared_bytes;
    const auto found = profile::occupancy(*limits, kernel, {{1, 1, 1}, {threads, 1, 1}, 0});
    if (!found) return nb::none();
    return nb::make_tuple(found->blocks, found->share, std::string(found->limit));
}

}  // namespace

void bind_profile(nb::module_& m) {
    m.def(
        "profile_mark",
        [](bool summed) { return launch::mark(summed ? launch::Detail::summed : launch::Detail::each); },
        nb::arg("summed") = false,
        "A mark in the log of events. `summed`: of launches alike after it only sums need be told.");
    m.def("clock", &now, "Seconds on the clock that all events share.");
    m.def(
        "report_since",
        [](std::uint64_t mark, const std::string& kind, const std::string& label, double begin, bool failed,
           double wait, bool measure, bool timeline, device::Watch* watch, const device::Counting* counting) {
            const auto made =
                report_since(mark, kind, label, begin, failed, wait, measure, timeline, watch, counting);
            return made ? python_value(*made) : nb::none();
        },
        nb::arg("mark"), nb::arg("kind"), nb::arg("label"), nb::arg("begin"), nb::arg("failed"),
        nb::arg("wait"), nb::arg("measure"), nb::arg("timeline") = false,
        nb::arg("watch").none() = nb::none(), nb::arg("counting").none() = nb::none(),
        "The report of the events after `mark`, JSON's values as Python's; None where there is none. "
        "Launches that still "
        "run are waited for `wait` seconds at most; unknown ceilings are measured where `measure`, else in "
        "the "
        "background. `timeline`: with the time of each event. `watch`, `counting`: what was collected beside "
        "the log.");
    nb::class_<device::Watch>(m, "Watch", "While it lives, the GPUs' work is noted, whoever asked for it.")
        .def(nb::init<bool>(), nb::arg("overlapping"), nb::call_guard<Released>())
        .def_prop_ro("problem", &device::Watch::problem);
    nb::class_<device::Counting>(m, "Counting", "While it lives, launches have hardware counters read.")
        .def("__init__", &make_counting, nb::arg("counters"), nb::arg("launches"))
        .def_prop_ro("problem", &device::Counting::problem);
    m.attr("ranges_wanted") = device::ranges_wanted;
    m.def("push_range", &device::push_range, "Begins a span for a profiler that listens to NVTX.");
    m.def("pop_range", &device::pop_range, "Ends the last span.");
    m.def("known_counters", &device::known_counters, nb::arg("chip"), nb::arg("names"),
          "Which of the profiling library's counters a chip (\"GH100\") has; needs no GPU.");
    m.def("under_way", &under_way, nb::arg("mark"),
          "What the host's threads and devices are at: (\"compile\", \"copy\" or \"launch\", of what, since "
          "how many "
          "seconds, the share of the blocks begun or None), of launches those after `mark`.");
    m.def("launch_times", &launch_times, nb::arg("mark"),
          "(launches, of these not measured, seconds in which one ran, bytes copied) of what came after "
          "`mark`.");
    m.def("in_unit", &profile::in_unit, nb::arg("value"), nb::arg("unit"),
          "A number as people read it: in_unit(0.00123, \"s\") is \"1.23 ms\".");
    m.def("occupancy", &occupancy, nb::arg("architecture"), nb::arg("registers"), nb::arg("shared_bytes"),
          nb::arg("threads"),
          "(resident blocks, share of the warps, what limits it) on a multiprocessor; None where the "
          "architecture is not known.");
}

}  // namespace xcuda::python
