// From a Python call to a started kernel.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "_runtime_check.hpp"
#include "_runtime_declared.hpp"
#include "_runtime_graph.hpp"
#include "_runtime_kernel.hpp"
#include "_runtime_wrong_call.hpp"
#include "launch/launch.hpp"
#include "launch/shape.hpp"
#include "python/gil.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {
namespace {

// What an absent name was captured as (xcuda.core.source's own mark).
PyObject* missing_mark() {
    static PyObject* mark =
        nb::object(nb::module_::import_("xcuda.core.source").attr("_MISSING")).release().ptr();
    return mark;
}

bool unchanged(const Capture& c) {
    PyObject* holder = c.holder.ptr();
    if (PyDict_CheckExact(holder)) {
        PyObject* now = PyDict_GetItemWithError(holder, c.name.ptr());  // borrowed
        if (!now && PyErr_Occurred()) throw nb::python_error();
        return (now ? now : missing_mark()) == c.value.ptr();
    }
    if (PyCell_Check(holder)) {
        PyObject* now = PyCell_GET(holder);  // borrowed
        return (now ? now : missing_mark()) == c.value.ptr();
    }
    PyObject* now = PyObject_GetAttr(holder, c.name.ptr());
    if (!now) PyErr_Clear();
    const bool same = (now ? now : missing_mark()) == c.value.ptr();
    Py_XDECREF(now);
    return same;
}

// Argument lists are kept for the next call: a launch then allocates nothing for them.
std::vector<std::unique_ptr<Arguments>>& spare = *new std::vector<std::unique_ptr<Arguments>>;

struct GiveBack {
    void operator()(Arguments* a) const {
        a->clear();
        if (spare.size() < 2048)  // as many as may be under way
            spare.emplace_back(a);
        else
            delete a;
    }
};

std::unique_ptr<Arguments, GiveBack> take_arguments() {
    if (spare.empty()) return std::unique_ptr<Arguments, GiveBack>(new Arguments);
    std::unique_ptr<Arguments, GiveBack> taken(spare.back().release());
    spare.pop_back();
    return taken;
}

[[noreturn]] void wrong_call(const KernelState& k, const std::string& message, std::string_view named = "") {
    throw wrong_call_error(k.name, k.parameters, message, named);
}

// Thrown where a kernel turns out to name device arrays outside itself: its calls go another way.
struct CarriesArrays : Error {
    explicit CarriesArrays(const std::string& kernel)
        : Error(Fault::user, "TypeError",
                kernel + " uses device arrays from outside, which are known when it is called", std::nullopt,
                "call it, or pass them as arguments") {}
};

// What a variant has of its kernel; constants belong to the kernel's own parameters.
void like(KernelState& variant, const KernelState& k) {
    variant.options = k.options;
    variant.options.tuning.fixed.clear();
    variant.only_on = k.only_on;
}

// Of every kernel's Steady: it is asked without the GIL.
std::mutex& steady_mutex = *new std::mutex;

bool copies_forced = false;  // see force_copies

// Positional values in place, keywords and defaults where they belong.
// Where one is neither array nor number, or the kernel is routed, `structured` gets them all instead.
void read_arguments(KernelState& k, Arguments& to, PyObject* const* values, std::size_t count,
                    PyObject* names, nb::object& structured) {
    const std::size_t wanted = k.parameters.size();
    const std::size_t named = names ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0;
    const auto read_all = [&](PyObject* const* all) {
        if (k.carries && !k.routed) [[unlikely]] {
            structured = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(wanted)));
            for (std::size_t j = 0; j < wanted; ++j)
                PyTuple_SET_ITEM(structured.ptr(), static_cast<Py_ssize_t>(j), Py_NewRef(all[j]));
            return;
        }
        for (std::size_t i = 0; i < wanted; ++i) {
            const bool fixed = i < k.fixed_parameters.size() && k.fixed_parameters[i];
            if (!k.routed && !fixed && to.read(all[i], k.parameters[i])) continue;
            to.clear();
            structured = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(wanted)));
            for (std::size_t j = 0; j < wanted; ++j)
                PyTuple_SET_ITEM(structured.ptr(), static_cast<Py_ssize_t>(j), Py_NewRef(all[j]));
            return;
        }
    };
    if (count == wanted && named == 0) return read_all(values);
    if (count > wanted)
        wrong_call(k,
                   fmt::format("takes {} argument{}; {} were given", wanted, wanted == 1 ? "" : "s", count));
    std::vector<PyObject*> by_place(values, values + count);
    by_place.resize(wanted, nullptr);
    for (std::size_t n = 0; n < named; ++n) {
        PyObject* name = PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(n));
        const auto text = nb::cast<std::string>(nb::handle(name));
        const auto at = std::find(k.parameters.begin(), k.parameters.end(), text);
        if (at == k.parameters.end()) wrong_call(k, fmt::format("has no parameter '{}'", text), text);
        PyObject*& slot = by_place[static_cast<std::size_t>(at - k.parameters.begin())];
        if (slot) wrong_call(k, fmt::format("was given '{}' twice", text));
        slot = values[count + n];
    }
    for (std::size_t i = 0; i < wanted; ++i) {
        PyObject*& value = by_place[i];
        if (!value) value = PyDict_GetItem(k.defaults.ptr(), k.parameter_names[i].ptr());
        if (!value) wrong_call(k, fmt::format("was called without '{}'", k.parameters[i]));
    }
    read_all(by_place.data());
}

void refuse_readonly(const KernelState& k, const launch::Lowered& lowered, const Arguments& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments.readonly(i) || !lowered.writes(i)) continue;
        const Place place = lowered.first_write(i);
        const std::string& name = k.parameters[i];
        const std::string why = arguments.why_readonly(i);
        raise(Error(Fault::user, "ValueError",
                    fmt::format("'{}' {}, and {} writes to it at line {} of {}", name,
                                why.empty() ? "is read-only" : "can't be written: " + why, k.name, place.line,
                                shown_file(place.file)),
                    place.known() ? std::optional<Place>(place) : std::nullopt,
                    fmt::format("pass a copy ({}), or an array that may be written",
                                arguments.is_copied(i) ? "numpy.array(" + name + ")" : name + ".copy()")),
              k.name.c_str());
    }
}

}  // namespace

bool force_copies(bool forced) { return std::exchange(copies_forced, forced); }

launch::Program& KernelState::current_program() {
    if (program && std::all_of(captures.begin(), captures.end(), unchanged)) return *program;
    last.reset();
    passed_by = nullptr;
    last_lowered.reset();
    steady = {};
    const nb::object captured = about.attr("capture")();
    if (nb::cast<bool>(nb::object(captured.attr("carries")))) {
        carries = true;
        throw CarriesArrays(name);
    }
    frontend::Source source;
    source.name = nb::cast<std::string>(nb::object(captured.attr("name")));
    source.file = nb::cast<std::string>(nb::object(captured.attr("file")));
    source.function = frontend::ast::from_json(nb::cast<std::string>(nb::object(captured.attr("ast_json"))),
                                               source.file, 1);
    source.names = nb::cast<std::string>(nb::object(captured.attr("names_json")));
    captures.clear();
    for (nb::handle entry : nb::object(captured.attr("captures")))
        captures.push_back({nb::object(entry[0]), nb::object(entry[1]), nb::object(entry[2])});
    program = std::make_shared<launch::Program>(std::move(source), options);
    return *program;
}

std::shared_ptr<const launch::Lowered> KernelState::lowered_for(std::span<const launch::Argument> arguments,
                                                                const device::Device* on) {
    launch::Program& now = current_program();
    const bool adaptive = options.tuning.adaptive && !options.door;
    launch::PlanKey key{"cpu"};
    if (options.door) [[unlikely]]
        key = now.key(on ? launch::target_of(on->info()) : "cpu", arguments);
    if (last_lowered && launch::matches(last_lowered->signature, arguments) &&
        (!options.door || last_lowered->key == key) &&
        (!adaptive || (last_lowered->fixed.empty() ? steady.settled(last_lowered->signature)
                                                   : launch::holds(last_lowered->fixed, arguments))))
        return last_lowered;
    const auto keep = program;  // another thread may capture anew while the GIL is away
    const launch::Signature signature = launch::signature(arguments);
    std::shared_ptr<const launch::Lowered> found;
    {
        Released released;
        found = now.lower(signature, {}, key);
        if (adaptive) {
            const std::lock_guard lock(steady_mutex);
            found = steady.choose(now, found, arguments);
        }
    }
    if (program == keep) last_lowered = found;
    return found;
}

std::shared_ptr<const launch::Specialisation> KernelState::specialised_for(
    const std::shared_ptr<const launch::Lowered>& lowered, const std::shared_ptr<device::Device>& device,
    const device::Shape& shape, bool automatic) {
    const bool cpu = device->info().kind == "cpu";
    automatic = automatic && !cpu;
    const bool long_grid = !cpu && launch::is_long(shape);
    if (last && last->lowered == lowered && last->device == device && last->automatic == automatic &&
        last->long_grid == long_grid && (!last->block || *last->block == shape.block))
        return last;
    const auto keep = program;
    std::shared_ptr<const launch::Specialisation> found;
    {
        Released released;
        found = keep->specialise(lowered, device, shape.block, automatic, long_grid);
    }
    last = found;
    return found;
}

namespace {

// A call with tuples, structs or constants: a kernel of its own, see xcuda/core/structured.py.
std::shared_ptr<InFlight> launch_variant(KernelState& k, const Configuration& where, const nb::object& values,
                                         bool wait) {
    const nb::object found = k.about.attr("variant")(values);
    const nb::object variant = nb::borrow(nb::object(found[0])), flat = nb::borrow(nb::object(found[1]));
    KernelState& state = *kernel_state(variant.ptr());
    if (!state.program) like(state, k);
    std::vector<PyObject*> leaves;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(flat.ptr()); ++i)
        leaves.push_back(PyTuple_GET_ITEM(flat.ptr(), i));
    auto work = launch_kernel(state, where, leaves.data(), leaves.size(), nullptr, wait);
    work->structured = true;
    k.last = state.last;
    k.last_shape = state.last_shape;
    k.last_automatic = state.last_automatic;
    ++k.launches;
    return work;
}

// The kernel that a routed one runs for these arguments, and how it is launched.
std::pair<nb::object, const Configuration*> route(KernelState& k, const Configuration& where,
                                                  const nb::object& values) {
    nb::object chosen = k.about.attr("route")(values, where.shape.has_value());
    const Configuration* configured = configuration_of(chosen.ptr());
    KernelState* state = kernel_state(chosen.ptr());
    if (!state || state->routed) raise("TypeError", k.name + ": a routed kernel chose no kernel");
    return {std::move(chosen), configured && !where.shape ? configured : &where};
}

std::shared_ptr<InFlight> launch_routed(KernelState& k, const Configuration& where, const nb::object& values,
                                        bool wait) {
    const auto [chosen, how] = route(k, where, values);
    KernelState& state = *kernel_state(chosen.ptr());
    auto work =
        launch_kernel(state, *how, PySequence_Fast_ITEMS(values.ptr()), k.parameters.size(), nullptr, wait);
    k.last = state.last;
    k.last_shape = state.last_shape;
    k.last_automatic = state.last_automatic;
    ++k.launches;
    return work;
}

// The device that a kernel is held to: of several GPUs the current one.
std::shared_ptr<device::Device> held_to(const KernelState& k, const std::shared_ptr<device::Device>& given,
                                        const std::shared_ptr<device::Device>& stream) {
    const auto fits = [&k](const std::shared_ptr<device::Device>& d) {
        return d && (d->info().kind == k.only_on || launch::device_label(d->info()) == k.only_on);
    };
    if (given && !fits(given))
        throw Error(Fault::user, "ValueError",
                    fmt::format("{} was compiled for {}, and its arrays live on {}", k.name,
                                k.only_on == "cpu" ? "the CPU device" : k.only_on,
                                launch::device_label(given->info())),
                    std::nullopt, "pass host arrays (x.copy_to_host()), or arrays of that device");
    if (given) return given;
    if (fits(stream)) return stream;
    if (auto current = current_device(); fits(current)) return current;
    for (const auto& d : device::devices())
        if (fits(d)) return d;
    throw Error(Fault::machine, "RuntimeError",
                fmt::format("{} was compiled for {}, and there is no such device here", k.name, k.only_on));
}

struct Destination {
    std::shared_ptr<device::Device> device;  // owns nothing: devices live as long as the process
    std::shared_ptr<device::Stream> stream;
    Graph* graph;  // null but for a capture
};

// Costs no count, which is shared by all threads.
std::shared_ptr<device::Device> unowned(const std::shared_ptr<device::Device>& device) {
    return {std::shared_ptr<void>(), device.get()};
}

// The device: the arrays', the stream's, the current one.
Destination destination(const KernelState& k, const Configuration& where, const Stream* stream,
                        const Arguments& arguments) {
    std::shared_ptr<device::Device> device = unowned(arguments.device());
    if (!k.only_on.empty())
        device = held_to(k, device, stream ? stream->device : nullptr);
    else if (!device)
        device = unowned(stream ? stream->device : current_device());
    if (!stream) return {std::move(device), nullptr, nullptr};
    if (stream->device == device) return {std::move(device), stream->stream, stream->graph.get()};
    if (where.stream.is_valid())
        throw Error(Fault::user, "ValueError",
                    fmt::format("{}: the stream is one of {}, the arrays live on {}", k.name,
                                stream->device->info().name, device->info().name));
    return {std::move(device), nullptr, nullptr};
}

std::pair<std::shared_ptr<const launch::Specialisation>, device::Shape> specialise(
    KernelState& k, const Configuration& where, const std::shared_ptr<device::Device>& device,
    Arguments& arguments) {
    const auto lowered = k.lowered_for(arguments.values(), device.get());
    refuse_readonly(k, *lowered, arguments);
    device::Shape shape;
    if (where.shape) {
        shape = *where.shape;
        if (lowered->key) shape.block = lowered->program_block;  // the grid is of programs
        if (lowered->module.together > 1) shape.grid.z *= lowered->module.together;
    } else {
        shape = launch::shape_for(*lowered, arguments.values(), device->info(), k.name);
        shape.dynamic_shared_bytes = where.dynamic_shared_bytes;
    }
    launch::check_shape(shape, lowered->shared_bytes, device->info(), k.name);
    if (const int most = k.options.most_threads; most > 0 && shape.block.count() > most)
        throw Error(Fault::user, "ValueError",
                    fmt::format("{}: a block of {} threads is larger than its launch_bounds allow, {} "
                                "(CUDA_ERROR_INVALID_VALUE)",
                                k.name, shape.block.count(), most));
    auto found = k.specialised_for(lowered, device, shape, !where.shape);
    const bool again = where.shape && found == k.last && found->lowered == k.last_lowered &&
                       !k.options.door && !k.options.tuning.adaptive;
    k.passed = again ? where.shape : std::nullopt;
    k.passed_by = again ? found.get() : nullptr;
    return {std::move(found), shape};
}

// What the last call of this shape was launched by, where this one is like it; else null.
std::shared_ptr<const launch::Specialisation> as_before(KernelState& k, const Configuration& where,
                                                        const device::Device* device, Arguments& arguments) {
    if (!where.shape || !k.program || !std::all_of(k.captures.begin(), k.captures.end(), unchanged))
        return nullptr;
    // From here on nothing of Python's runs, so that nobody changes the kernel's state meanwhile.
    const launch::Specialisation* last = k.last.get();
    if (!last || k.passed_by != last || last->lowered != k.last_lowered || last->device.get() != device ||
        !(*k.passed == *where.shape) || !launch::matches(last->lowered->signature, arguments.values()))
        return nullptr;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (arguments.readonly(i) && last->lowered->writes(i)) return nullptr;
    return k.last;
}

// The launch becomes a part of the graph that the stream captures.
void capture(const KernelState& k, Graph& graph,
             const std::shared_ptr<const launch::Specialisation>& specialised, const device::Shape& shape,
             bool automatic, decltype(take_arguments()) arguments) {
    for (std::size_t i = 0; i < arguments->size(); ++i)
        if (arguments->on_host(i))
            throw Error(
                Fault::user, "ValueError",
                fmt::format(
                    "'{}' lives in host memory, and {} is captured into a graph: its copies to and from "
                    "the device would not be a part of it",
                    k.parameters[i], k.name),
                std::nullopt,
                fmt::format("make a device array of it before: cuda.to_device({})", k.parameters[i]));
    const launch::Lowered& lowered = *specialised->lowered;
    if (lowered.prints || lowered.whole_grid)
        throw Error(Fault::user, "ValueError",
                    fmt::format("{} calls {}, which can't be a part of a graph", k.name,
                                lowered.prints ? "print()" : "this_grid().sync()"),
                    std::nullopt, "launch it outside the graph");
    if (!graph.capture)
        throw Error(Fault::user, "ValueError", "the graph's capture has ended", std::nullopt,
                    "launch on another stream, or capture anew with cuda.graph()");
    if (shape.grid.count() == 0) return;
    auto bound = launch::bind(specialised, shape, automatic, arguments->values());
    launch::start(bound, graph.capture.get());
    auto& replayed = graph.replayed[bound.event];
    if (!replayed) {
        auto event = *bound.event;
        event.replayed = true;
        replayed = std::make_shared<const launch::Event>(std::move(event));
    }
    bound.event = replayed;
    graph.launches.push_back(std::move(bound));
    graph.keeps.push_back(std::shared_ptr<Arguments>(std::move(arguments)));
}

}  // namespace

std::shared_ptr<device::Device> device_for(const KernelState& k) {
    return k.only_on.empty() ? current_device() : held_to(k, nullptr, nullptr);
}

namespace {

std::shared_ptr<InFlight> launch_once(KernelState& k, const Configuration& where, PyObject* const* values,
                                      std::size_t count, PyObject* keyword_names, bool wait) {
    const Stream* stream = where.stream.is_valid() ? nb::inst_ptr<Stream>(where.stream) : current_stream();
    auto arguments = take_arguments();
    if (stream) arguments->expect(stream->device, stream->stream.get());
    nb::object structured;
    read_arguments(k, *arguments, values, count, keyword_names, structured);
    if (structured.is_valid())
        return k.routed ? launch_routed(k, where, structured, wait)
                        : launch_variant(k, where, structured, wait);
    if (!k.declared.empty()) take_declared(k, *arguments);
    if (launch_hook && !(stream && stream->graph))
        [[unlikely]]  // a captured launch runs later, over what is there then
        ask_launch_hook(k, where, *arguments);

    const Destination to = destination(k, where, stream, *arguments);
    const auto& [device, on, graph] = to;
    device::Shape shape;
    std::shared_ptr<const launch::Specialisation> specialised = as_before(k, where, device.get(), *arguments);
    if (specialised) [[likely]]
        shape = *where.shape;
    else
        std::tie(specialised, shape) = specialise(k, where, device, *arguments);
    const launch::Lowered* const lowered = specialised->lowered.get();
    k.last_shape = shape;
    k.last_automatic = !where.shape;
    ++k.launches;

    // One that came while it compiled: once it runs, only the next one would stop it.
    if (PyErr_CheckSignals() < 0) throw nb::python_error();
    auto work = make_recycled<InFlight>();
    work->device = device;
    work->stream = on;
    const bool host = arguments->has_host_arrays();
    if (graph) [[unlikely]] {
        capture(k, *graph, specialised, shape, !where.shape, std::move(arguments));
        return work;
    }
    std::vector<bool> written;
    if (host) {
        for (std::size_t i = 0; i < arguments->size(); ++i) written.push_back(lowered->writes(i));
    }
    const bool runs_in_place = !on && device->host_accessible();
    const bool stage = host && (copies_forced || !device->host_accessible()) && shape.grid.count() > 0;
    if (stage) arguments->stage(device, on);
    arguments->used_on(on);
    if (arguments->has_foreign_streams()) arguments->wait_for_others(*device, on.get());
    {
        const Waiting waiting(runs_in_place);
        work->started =
            launch::start(std::move(specialised), shape, !where.shape, arguments->values(), on.get());
    }
    if (!work->started.timing) return work;
    if (arguments->has_foreign_streams()) arguments->let_others_wait(*device, on.get());
    if (stage) arguments->unstage(written, on);
    if (stage && on) {  // a stream's copies may still be under way when the kernel is over
        work->copied = device->make_event(false);
        device->record(*work->copied, on.get());
    }
    if (host) work->finish = [arguments = arguments.get(), written] { arguments->write_back(written); };
    if (wait && host)  // its fault is told before anybody else comes to its arrays
        work->element = launch::reader_of(*lowered, arguments->values(), *device, on.get());
    if (arguments->to_be_kept()) work->keeps = std::shared_ptr<Arguments>(std::move(arguments));
    // Told at the call only where it always can be: elsewhere it is the next wait that tells, however fast the work was.
    const auto interrupted = [&work] {
        const auto error = work->error();
        return error && error->python_type == "KeyboardInterrupt";
    };
    if (runs_in_place && work->done() && !stage && (wait || interrupted())) {
        raise_error_of(*work);
    } else if (wait && host) {
        in_flight(work);
        synchronize(device, on);
    } else {
        work->site = LaunchSite::here();
        in_flight(work);
    }
    return work;
}

}  // namespace

std::shared_ptr<InFlight> launch_kernel(KernelState& k, const Configuration& where, PyObject* const* values,
                                        std::size_t count, PyObject* keyword_names, bool wait) {
    try {
        return launch_once(k, where, values, count, keyword_names, wait);
    } catch (const CarriesArrays&) {
        return launch_once(k, where, values, count, keyword_names, wait);
    }
}

BoundLaunch bind_launch(const nb::object& kernel, const Configuration& where,
                        const std::vector<PyObject*>& values) {
    KernelState& k = *kernel_state(kernel.ptr());
    const Stream* stream = where.stream.is_valid() ? nb::inst_ptr<Stream>(where.stream) : current_stream();
    auto arguments = std::make_shared<Arguments>();
    if (stream) arguments->expect(stream->device, stream->stream.get());
    nb::object structured;
    read_arguments(k, *arguments, values.data(), values.size(), nullptr, structured);
    if (structured.is_valid() && k.routed) {  // each call is routed anew
        const auto [chosen, how] = route(k, where, structured);
        const nb::object inner = configuration_of(chosen.ptr()) ? nb::object(chosen.attr("kernel")) : chosen;
        BoundLaunch made = bind_launch(inner, *how, values);
        made.kernel = kernel;
        made.plain = false;
        return made;
    }
    if (structured.is_valid()) {  // see launch_variant
        const nb::object found = k.about.attr("variant")(structured);
        const nb::object flat = nb::borrow(nb::object(found[1]));
        if (KernelState& state = *kernel_state(nb::object(found[0]).ptr()); !state.program) like(state, k);
        std::vector<PyObject*> leaves;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(flat.ptr()); ++i)
            leaves.push_back(PyTuple_GET_ITEM(flat.ptr(), i));
        return bind_launch(nb::object(found[0]), where, leaves);
    }
    if (!k.declared.empty()) take_declared(k, *arguments);
    const Destination to = destination(k, where, stream, *arguments);
    const auto [specialised, shape] = specialise(k, where, to.device, *arguments);
    const bool plain = arguments->stay_in_place() && !arguments->has_foreign_streams() &&
                       (!arguments->has_host_arrays() || (to.device->host_accessible() && !copies_forced));
    BoundLaunch made{kernel,
                     k.program,
                     to.device,
                     launch::bind(specialised, shape, !where.shape, arguments->values()),
                     std::move(arguments),
                     {},
                     plain};
    for (PyObject* value : values) made.values.push_back(nb::borrow(value));
    return made;
}

void launch_bound(BoundLaunch& b, const Configuration& where) {
    KernelState& k = *kernel_state(b.kernel.ptr());
    const Stream* stream = where.stream.is_valid() ? nb::inst_ptr<Stream>(where.stream) : current_stream();
    if (!b.plain || launch_hook || (stream && (stream->device != b.device || stream->graph)) ||
        &k.current_program() != b.program.get()) [[unlikely]] {
        std::vector<PyObject*> values;
        for (const nb::object& value : b.values) values.push_back(value.ptr());
        launch_kernel(k, where, values.data(), values.size(), nullptr, true);
        if (b.plain && k.program != b.program) b = bind_launch(b.kernel, where, values);  // a global changed
        return;
    }
    const std::shared_ptr<device::Stream> on = stream ? stream->stream : nullptr;
    k.last_shape = b.bound.shape;
    k.last_automatic = b.bound.event->automatic_shape;
    ++k.launches;
    auto work = make_recycled<InFlight>();
    work->device = unowned(b.device);
    work->stream = on;
    if (on) b.arguments->used_on(on);
    const bool runs_in_place = !on && b.device->host_accessible();
    {
        const Waiting waiting(runs_in_place);
        work->started = launch::start(b.bound, on.get());
    }
    if (!work->started.timing) return;
    const bool host = b.arguments->has_host_arrays();
    if (b.arguments->to_be_kept()) work->keeps = b.arguments;
    const bool over = runs_in_place && work->done();
    if (host && !(over && work->started.timing->fault.kind == 0))
        work->element =
            launch::reader_of(*b.bound.kernel->lowered, b.arguments->values(), *b.device, on.get());
    if (over) return raise_error_of(*work);
    if (!host) work->site = LaunchSite::here();
    in_flight(std::move(work));
    if (host) synchronize(b.device, on);
}

}  // namespace xcuda::python
