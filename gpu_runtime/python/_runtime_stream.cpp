#include "_runtime_stream.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "_runtime_graph.hpp"
#include "device/spilling.hpp"
#include "launch/program.hpp"
#include "python/gil.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {
namespace {

// Living as long as the process: another thread may look at them while it ends.
PyObject* stream_variable = nullptr;
PyObject* device_variable = nullptr;
constexpr std::size_t looked_at_from = 128;  // asking a GPU costs as much as some launches
std::vector<std::shared_ptr<InFlight>>& flying = *new std::vector<std::shared_ptr<InFlight>>;
std::vector<std::weak_ptr<device::Stream>>& streams = *new std::vector<std::weak_ptr<device::Stream>>;

struct PyDevice {
    std::shared_ptr<device::Device> device;
};

nb::object current(PyObject* variable) {
    PyObject* value = nullptr;
    if (PyContextVar_Get(variable, nullptr, &value) < 0) throw nb::python_error();
    return nb::steal(value);
}

// The GIL is the outermost lock: released before the device is waited for.
void wait_for(device::Device& device, device::Stream* stream) {
    try {
        const Waiting waiting;
        device.synchronize(stream);
    } catch (const Error& e) {
        if (e.python_type != "KeyboardInterrupt") throw;
        if (PyErr_CheckSignals() < 0) throw nb::python_error();
        throw;
    }
}

// Those that `goes` says it of, in their order.
template <class Goes>
std::vector<std::shared_ptr<InFlight>> take_from_flying(Goes goes) {
    std::vector<bool> which(flying.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < which.size(); ++i) count += which[i] = goes(*flying[i]);  // may throw
    std::vector<std::shared_ptr<InFlight>> taken, kept;
    taken.reserve(count);
    kept.reserve(flying.size() - count);
    for (std::size_t i = 0; i < which.size(); ++i) (which[i] ? taken : kept).push_back(std::move(flying[i]));
    flying.swap(kept);
    return taken;
}

bool on(const InFlight& work, const device::Device* device, const device::Stream* stream, bool whole_device) {
    return work.device.get() == device && (whole_device || work.stream.get() == stream);
}

}  // namespace

bool InFlight::done() const {
    if (started.timing && !started.timing->done.load(std::memory_order_acquire)) return false;
    return !copied || device->lost_by() != 0 || device->happened(*copied);
}

std::optional<Error> InFlight::error() const {
    if (explained) return *explained;
    return graph ? graph->error(*started.timing) : started.error();
}

void InFlight::explain() {
    if (!element) [[likely]]
        return;
    const auto reader = std::exchange(element, nullptr);
    if (!started.timing || started.timing->fault.kind == 0) return;
    const Released released;  // what waits in the stream may need it
    if (auto found = started.error(reader)) explained = std::make_shared<const Error>(std::move(*found));
}

std::string InFlight::kernel() const {
    if (!graph) return started.kernel ? started.kernel->facts->name : "";
    const launch::Bound* captured = started.timing ? graph->launch_of(*started.timing) : nullptr;
    return captured ? captured->kernel->facts->name : "a graph";
}

std::optional<Error> InFlight::untold() const {
    if (told || (started.timing && started.timing->fault.kind == 0)) return std::nullopt;
    auto found = error();
    if (found && stopped && found->python_type == "KeyboardInterrupt") return std::nullopt;
    return found;
}

void InFlight::show_printed() {
    if (!started.timing || !started.timing->printed) [[likely]]
        return;
    const std::string text = started.printed();
    started.timing->printed.reset();
    PyObject* out = PySys_GetObject("stdout");  // borrowed
    if (text.empty() || !out || out == Py_None) return;
    nb::borrow(out).attr("write")(
        nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
}

void InFlight::land() {
    show_printed();
    const auto last = std::exchange(finish, nullptr);
    const auto kept = std::exchange(keeps, nullptr);
    element = nullptr;
    if (last && !error()) last();
}

void in_flight(std::shared_ptr<InFlight> work) {
    // What is done and went well needs nobody to wait for it; looked at in passing, so that the list stays short, and
    // seldom while much is under way.
    static std::size_t look_at = looked_at_from;
    if (flying.size() >= look_at) {
        work->device->finished(work->stream.get());  // marks those that are done
        for (const auto& w : take_from_flying([](const InFlight& w) { return w.done() && !w.untold(); }))
            w->land();
        look_at = std::max(looked_at_from, 2 * flying.size());
    }
    flying.push_back(std::move(work));
}

// What an interrupt met: a wait does not say which of its kernels went on.
void tell_stopped(nb::python_error& raised, const InFlight& work) {
    const std::string name = work.kernel();
    if (name.empty()) return;
    std::string told = name + " was stopped";
    if (work.site.code.is_valid())
        told += ", launched at line " + std::to_string(work.site.line()) + " of " +
                nb::cast<std::string>(nb::module_::import_("xcuda.core._cells")
                                          .attr("name_cell")(work.site.code.attr("co_filename")));
    raised.value().attr("add_note")(told.c_str());
}

void stop_kernels() {
    device::interrupt_all();
    for (const auto& w : flying) w->stopped = true;
}

void raise_error_of(InFlight& work) {
    work.explain();
    const auto error = work.error();
    work.told = true;
    if (error && error->python_type == "DeviceLostError") throw *error;  // lost_launches() lands it
    std::erase_if(flying, [&work](const auto& w) { return w.get() == &work && w.use_count() > 1; });
    work.land();
    if (!error) return;
    if (error->python_type == "KeyboardInterrupt" && PyErr_CheckSignals() < 0) {
        nb::python_error raised;
        tell_stopped(raised, work);
        throw raised;
    }
    raise(*error, work.kernel().c_str(), &work.site);
}

void synchronize(const std::shared_ptr<device::Device>& device, const std::shared_ptr<device::Stream>& stream,
                 bool whole_device) {
    std::exception_ptr interrupted;
    try {
        wait_for(*device, stream.get());
        if (whole_device) {
            std::erase_if(streams, [](const auto& s) { return s.expired(); });
            const auto all = streams;  // the list may grow while the GIL is away
            for (const auto& weak : all)
                if (const auto s = weak.lock()) wait_for(*device, s.get());
            if (device::spilling.load(std::memory_order_relaxed)) [[unlikely]]
                if (auto* other_place = device::spilling_of(*device)) other_place->bring_back();
        }
    } catch (const Error& error) {
        if (error.python_type == "DeviceLostError") throw;  // lost_launches() lands what was under way
        interrupted = std::current_exception();
    } catch (nb::python_error&) {
        interrupted = std::current_exception();
    }
    const auto landed = take_from_flying(
        [&](const InFlight& w) { return on(w, device.get(), stream.get(), whole_device) && w.done(); });
    if (interrupted) {
        for (const auto& w : landed) w->show_printed();
        const auto cut_short = [&](const auto& w) {
            const auto error = w->error();
            return error && error->python_type == "KeyboardInterrupt";
        };
        const auto at = std::ranges::find_if(landed, cut_short);
        const auto under_way = std::ranges::find_if(
            flying, [&](const auto& w) { return on(*w, device.get(), stream.get(), whole_device); });
        const InFlight* met = at != landed.end()          ? at->get()
                              : under_way != flying.end() ? under_way->get()
                                                          : nullptr;
        // What was stopped may end a little later: this interrupt has told of it.
        for (const auto& w : flying)
            if (on(*w, device.get(), stream.get(), whole_device)) w->stopped = true;
        try {
            std::rethrow_exception(interrupted);
        } catch (nb::python_error& raised) {
            if (met) tell_stopped(raised, *met);
            throw;
        }
    }
    for (const auto& w : landed) {
        w->explain();
        w->land();
    }
    InFlight* first = nullptr;
    int others = 0;
    for (const auto& w : landed) {
        if (!w->untold()) continue;
        if (first)
            ++others;
        else
            first = w.get();
    }
    if (!first) return;
    if (others == 0) raise_error_of(*first);
    try {
        raise_error_of(*first);
    } catch (nb::python_error& e) {
        e.value().attr("add_note")((std::to_string(others) +
                                    (others == 1 ? " later launch failed too" : " later launches failed too"))
                                       .c_str());
        throw;
    }
}

std::shared_ptr<void> kept_object(nb::handle object) {
    if (!object.is_valid() || object.is_none()) return nullptr;
    return {object.inc_ref().ptr(), [](void* held) {
                if (!Py_IsInitialized()) return;
                const Held gil;
                Py_DECREF(static_cast<PyObject*>(held));
            }};
}

void call_on_host(const std::shared_ptr<device::Device>& device,
                  const std::shared_ptr<device::Stream>& stream, nb::callable callback) {
    PyObject* held = callback.release().ptr();
    Released released;
    device->call_on_host(stream.get(), [held] {
        if (!Py_IsInitialized()) return;
        Held gil;
        if (PyObject* result = PyObject_CallNoArgs(held))
            Py_DECREF(result);
        else
            PyErr_WriteUnraisable(held);
        Py_DECREF(held);
    });
}

const std::shared_ptr<device::Device>& current_device() {
    const nb::object value = current(device_variable);
    if (value.is_none()) {
        static const auto& chosen = *new std::shared_ptr<device::Device>(device::default_device());
        if (chosen->lost_by() == 0) [[likely]]
            return chosen;
        static const auto& instead = *new std::shared_ptr<device::Device>(device::default_device());
        return instead;
    }
    return nb::inst_ptr<PyDevice>(value)->device;
}

Stream* current_stream() {
    const nb::object value = current(stream_variable);
    return value.is_none() ? nullptr : nb::inst_ptr<Stream>(value);  // the context keeps it
}

std::shared_ptr<device::Stream> stream_on(const std::shared_ptr<device::Device>& device) {
    const Stream* s = current_stream();
    return s && s->device == device ? s->stream : nullptr;
}

namespace {

/// [(kernel, file, line, unguarded)] of what was under way on a device when it was lost; file is None where it is not
/// known. They are let go of.
nb::list lost_launches(const std::string& label) {
    std::vector<std::shared_ptr<InFlight>> lost;
    std::erase_if(flying, [&](const auto& w) {
        if (launch::device_label(w->device->info()) != label || w->device->lost_by() == 0 || !w->done())
            return false;
        lost.push_back(w);
        return true;
    });
    nb::list out;
    for (const auto& w : lost) {
        const auto error = w->error();
        w->told = true;
        w->land();
        if (!error || error->python_type != "DeviceLostError") continue;
        const std::string name = w->graph ? "a graph" : w->started.kernel->facts->name;
        const bool placed = w->site.code.is_valid();
        const auto unguarded = [](const auto& launch) { return launch.kernel->lowered->unguarded; };
        out.append(nb::make_tuple(
            name, placed ? w->site.code.attr("co_filename") : nb::object(nb::none()), w->site.line(),
            w->graph ? std::ranges::any_of(w->graph->launches, unguarded) : unguarded(w->started)));
    }
    return out;
}

void bind_device(nb::module_& module) {
    nb::class_<PyDevice>(module, "DeviceBase", nb::is_weak_referenceable())
        .def("__init__",
             [](PyDevice* self, const std::string& label) {
                 std::string names;
                 for (const auto& d : device::devices()) {
                     if (launch::device_label(d->info()) == label) {
                         new (self) PyDevice{d};
                         return;
                     }
                     names += (names.empty() ? "" : ", ") + launch::device_label(d->info());
                 }
                 raise("ValueError", "there is no device " + label + " here; there are: " + names);
             })
        .def_prop_ro("label", [](const PyDevice& d) { return launch::device_label(d.device->info()); })
        .def_prop_ro("kind", [](const PyDevice& d) { return d.device->info().kind; })
        .def_prop_ro("ordinal", [](const PyDevice& d) { return d.device->info().ordinal; })
        .def_prop_ro("name", [](const PyDevice& d) { return d.device->info().name; })
        .def_prop_ro("architecture", [](const PyDevice& d) { return d.device->info().architecture; })
        .def_prop_ro("toolchain", [](const PyDevice& d) { return d.device->toolchain(); })
        .def_prop_ro("lost_by", [](const PyDevice& d) { return d.device->lost_by(); })
        .def_prop_ro("attributes",
                     [](const PyDevice& d) {
                         const device::Info& i = d.device->info();
                         nb::dict out;
                         out["multiprocessors"] = i.multiprocessors;
                         out["warp_size"] = i.warp_size;
                         out["vector_bytes"] = i.vector_bytes;
                         out["memory_bytes"] = i.memory_bytes;
                         out["clock_hz"] =
                             i.clock_hz > 0 ? nb::object(nb::float_(i.clock_hz)) : nb::object(nb::none());
                         out["max_threads_per_block"] = i.limits.threads_per_block;
                         out["max_block"] =
                             nb::make_tuple(i.limits.block.x, i.limits.block.y, i.limits.block.z);
                         out["max_grid"] = nb::make_tuple(i.limits.grid.x, i.limits.grid.y, i.limits.grid.z);
                         out["max_shared_bytes_per_block"] =
                             std::max(i.limits.shared_bytes_per_block, i.limits.shared_bytes_per_block_optin);
                         return out;
                     })
        .def("memory",
             [](const PyDevice& d) {
                 const auto m = d.device->memory();
                 nb::dict out;
                 out["used"] = m.used;
                 out["high_water"] = m.high_water;
                 out["pooled"] = m.pooled;
                 out["total"] = m.total;
                 out["available"] = m.available;
                 out["limit"] = m.limit;
                 const auto* other_place = device::spilling_of(*d.device);
                 const auto there = other_place ? other_place->spilled() : device::Spilling::Figures{};
                 out["spill_limit"] = there.limit;
                 out["spilled"] = there.spilled;
                 return out;
             })
        .def("_trim",
             [](const PyDevice& d) {
                 Released released;
                 d.device->trim();
             })
        .def("_set_memory_limit",
             [](const PyDevice& d, std::int64_t bytes) { d.device->set_memory_limit(bytes); })
        .def("_set_spill_limit",
             [](const PyDevice& d, std::int64_t bytes) {
                 auto* other_place = device::spilling_of(*d.device);
                 if (!other_place)
                     wrong("ValueError", "the CPU device's arrays are in host memory already",
                           "arrays of a GPU can move there: cuda.Device(\"cuda:0\").spill_limit");
                 other_place->set_spill_limit(bytes);
             })
        .def("synchronize", [](const PyDevice& d) { synchronize(d.device, nullptr, true); });
    module.def("device_labels", [] {
        std::vector<std::string> labels;
        for (const auto& d : device::devices()) labels.push_back(launch::device_label(d->info()));
        return labels;
    });
    module.def("default_device_label", [] { return launch::device_label(device::default_device()->info()); });
    module.def("lost_launches", &lost_launches);
    module.def("current_device_label", [] { return launch::device_label(current_device()->info()); });
}

void bind_event(nb::module_& module) {
    nb::class_<Event>(module, "EventBase", nb::is_weak_referenceable())
        .def(
            "__init__",
            [](Event* self, bool timing) {
                const auto& device = current_device();
                new (self) Event{device, device->make_event(timing)};
            },
            nb::arg("timing") = true)
        .def(
            "_record",
            [](Event& e, const Stream* stream) {
                e.device->record(*e.event, stream ? stream->stream.get() : stream_on(e.device).get());
                e.recorded = true;
            },
            nb::arg("stream").none())
        .def("_synchronize",
             [](Event& e) {
                 if (!e.recorded) return;
                 const Waiting waiting;
                 e.device->synchronize(*e.event);
             })
        .def("_query", [](const Event& e) { return !e.recorded || e.device->happened(*e.event); })
        .def("_elapsed", [](const Event& from, const Event& to) {
            if (!from.recorded || !to.recorded)
                raise("ValueError", "both events must have been recorded: event.record(stream)");
            if (!from.device->happened(*from.event) || !to.device->happened(*to.event))
                raise("RuntimeError", "an event has not happened yet: synchronize it first");
            return from.device->seconds(*from.event, *to.event);
        });
}

}  // namespace

void bind_stream(nb::module_& module) {
    stream_variable = PyContextVar_New("xcuda_stream", Py_None);
    device_variable = PyContextVar_New("xcuda_device", Py_None);
    module.attr("current_stream") = nb::borrow(stream_variable);
    module.attr("current_device") = nb::borrow(device_variable);

    bind_device(module);
    bind_event(module);
    nb::class_<Stream>(module, "StreamBase", nb::is_weak_referenceable())
        .def(
            "__init__",
            [](Stream* self, int priority, bool is_default) {
                const auto& device = current_device();
                auto made = is_default ? nullptr : device->make_stream(priority);
                if (made) streams.push_back(made);
                new (self) Stream{device, std::move(made), nullptr};
            },
            nb::arg("priority") = 0, nb::arg("is_default") = false)
        .def(
            "__init__",
            [](Stream* self, std::uintptr_t handle, nb::object owner) {  // another library's
                auto device = device::device_of_stream(handle);
                if (!device || handle <= 2) device = current_device();
                auto adopted = device->adopt(handle, kept_object(owner));
                if (adopted) streams.push_back(adopted);
                new (self) Stream{std::move(device), std::move(adopted), nullptr};
            },
            nb::arg("handle"), nb::arg("owner").none())
        .def(
            "__init__",
            [](Stream* self, std::shared_ptr<Graph> graph) {  // a capture's
                new (self) Stream{graph->device, graph->capture, graph};
            },
            nb::arg("graph"))
        .def_prop_ro("device_label", [](const Stream& s) { return launch::device_label(s.device->info()); })
        .def_prop_ro("is_default", [](const Stream& s) { return s.stream == nullptr; })
        .def_prop_ro("_lost_by", [](const Stream& s) { return s.device->lost_by(); })
        .def("_expect_usable",
             [](const Stream& s) {
                 if (s.device->lost_by() != 0) throw s.device->lost_error();
             })
        .def_prop_ro("handle", [](const Stream& s) { return s.device->handle(s.stream.get()); })
        .def_prop_ro("is_capture", [](const Stream& s) { return s.graph != nullptr; })
        .def("_synchronize", [](const Stream& s) { synchronize(s.device, s.stream); })
        .def("_query", [](const Stream& s) { return s.device->finished(s.stream.get()); })
        .def("_wait", [](const Stream& s, Event& e) {
            if (e.recorded) s.device->wait(*e.event, s.stream.get());
        });
    module.def("in_flight_count", [] { return flying.size(); });
    module.def("stop_kernels", &stop_kernels);
    module.def(
        "call_on_host",
        [](const Stream* stream, nb::callable callback) {
            const auto device = stream ? stream->device : current_device();
            call_on_host(device, stream ? stream->stream : stream_on(device), callback);
        },
        nb::arg("stream").none(), nb::arg("callback"));
}

}  // namespace xcuda::python
