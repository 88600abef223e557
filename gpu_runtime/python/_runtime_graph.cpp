#include "_runtime_graph.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "base/clock.hpp"
#include "device/timed_graph.hpp"
#include "launch/program.hpp"
#include "python/gil.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {

const launch::Bound* Graph::launch_of(const device::Device::Launch& replay) const {
    const auto node = static_cast<std::size_t>(replay.node);
    return replay.node >= 0 && node < launches.size() ? &launches[node] : nullptr;
}

std::optional<Error> Graph::error(const device::Device::Launch& replay) const {
    if (replay.fault.kind == static_cast<std::int32_t>(device::FaultKind::lost)) return device->lost_error();
    const launch::Bound* failed = launch_of(replay);
    if (!failed) return std::nullopt;
    launch::Started told;
    told.kernel = failed->kernel;
    told.event = failed->event;
    told.timing = std::make_shared<device::Device::Launch>();
    told.timing->fault = replay.fault;
    return told.error();
}

namespace {

void begin(Graph* self) {
    const auto& device = current_device();
    new (self) Graph{device, device->begin_capture(), nullptr, {}, {}, 0, {}, nullptr};
}

void end(Graph& g) {
    if (!g.capture) raise("RuntimeError", "the graph's capture has ended already");
    const auto capture = std::exchange(g.capture, nullptr);
    Released released;
    g.made = g.device->end_capture(*capture);
}

/// Starts it, with its launches in the log: each with its time where the device can tell them apart.
std::shared_ptr<device::Device::Launch> recorded_replay(const Graph& g, device::Stream* stream) {
    const double begin = now();
    const auto timed = std::dynamic_pointer_cast<device::TimedGraph>(g.made);
    const auto number = reinterpret_cast<std::uintptr_t>(stream);
    if (!timed) {
        auto whole = g.device->replay(g.made, stream);
        if (g.replay) launch::record_replay(g.replay, begin, number, whole);
        return whole;
    }
    std::vector<std::shared_ptr<device::Device::Launch>> each(g.launches.size());
    for (auto& one : each) one = make_recycled<device::Device::Launch>();
    const auto whole = timed->replay(stream, each);
    for (std::size_t i = 0; i < each.size(); ++i)
        launch::record_launch(g.launches[i].event, begin, number, std::move(each[i]));
    return whole;
}

void replay(const std::shared_ptr<Graph>& g, const Stream* given) {
    if (!g->made) raise("RuntimeError", "the graph is launched before its capture has ended");
    if (given && given->device != g->device)
        raise("ValueError", "the stream is one of " + given->device->info().name + ", the graph works on " +
                                g->device->info().name);
    const auto stream = given ? given->stream : stream_on(g->device);
    const bool runs_in_place = !stream && g->device->host_accessible();
    auto work = make_recycled<InFlight>();
    work->device = g->device;
    work->stream = stream;
    work->graph = g;
    work->keeps = g;
    work->site = LaunchSite::here();
    if (!g->replay && !g->launches.empty()) {
        launch::Event all{};
        all.kind = launch::Event::Kind::launch;
        for (const launch::Bound& bound : g->launches) all.each.push_back(bound.event);
        g->replay = std::make_shared<const launch::Event>(std::move(all));
    }
    {
        const Waiting waiting(runs_in_place);
        work->started.timing = recorded_replay(*g, stream.get());
    }
    // As with a launch: told at once only where it always can be.
    if (runs_in_place)
        raise_error_of(*work);
    else
        in_flight(work);
}

}  // namespace

void bind_graph(nb::module_& module) {
    nb::class_<Graph>(module, "GraphBase", nb::is_weak_referenceable())
        .def("__init__", &begin)
        .def("_end", &end)
        .def("_replay", &replay, nb::arg("stream").none())
        .def_prop_ro("device_label", [](const Graph& g) { return launch::device_label(g.device->info()); })
        .def_prop_ro("is_captured", [](const Graph& g) { return g.made != nullptr; })
        .def_prop_ro("launch_count", [](const Graph& g) { return g.launches.size(); })
        .def_prop_ro("copy_count", [](const Graph& g) { return g.copies; })
        .def_prop_ro("kernel_names", [](const Graph& g) {
            nb::list names;
            for (const launch::Bound& bound : g.launches) names.append(bound.kernel->facts->name);
            return names;
        });
}

}  // namespace xcuda::python
