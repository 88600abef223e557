#include "_runtime_check.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "_runtime_argument.hpp"
#include "_runtime_kernel.hpp"
#include "launch/crash.hpp"
#include "launch/launch.hpp"
#include "launch/listened.hpp"
#include "launch/shadow.hpp"
#include "profile/check/accesses.hpp"
#include "profile/check/check.hpp"
#include "profile/check/steps.hpp"
#include "python/gil.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {
namespace {

nb::tuple lengths(const device::Dim3& d) { return nb::make_tuple(d.x, d.y, d.z); }

// What was run, and how it ended.
template <class Made>
void add_run(nb::dict& out, const Made& made) {
    out["cut"] = made.cut;
    out["grid"] = lengths(made.shape.grid);
    out["block"] = lengths(made.shape.block);
    out["fault"] = made.fault ? nb::object(nb::make_tuple(made.fault->python_type, made.fault->what()))
                              : nb::object(nb::none());
}

// A launch over host arrays, read as a kernel with its checks would see it; nothing for a kernel that is not of threads.
struct Call {
    KernelState& kernel;
    Arguments arguments;
    std::shared_ptr<const launch::Lowered> lowered;
    device::Shape shape;

    Call(nb::handle callee, const nb::tuple& values) : kernel(*kernel_state(callee.ptr())) {
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
            if (!arguments.read(values[i].ptr(), kernel.parameters[i]))
                throw Error(Fault::user, "TypeError",
                            "'" + kernel.parameters[i] + "' is neither an array nor a number");
        kernel.current_program();
        const auto program = kernel.program;
        if (program->options().door) return;  // tiles: its threads are the compiler's
        launch::Options safe = program->options();
        safe.checked = true;
        launch::Program checked(program->source(), safe);
        const launch::Signature signature = launch::signature(arguments.values());
        const Configuration* where = configuration_of(callee.ptr());
        const auto device = device_for(kernel);
        const Released released;
        lowered = checked.lower(signature);
        shape = where && where->shape
                    ? *where->shape
                    : launch::written_shape_for(*lowered, arguments.values(), device->info(), kernel.name);
    }
};

std::shared_ptr<device::Device> first_of(const char* kind) {
    for (const auto& d : device::devices())
        if (d->info().kind == kind) return d;
    return nullptr;
}

// Where a launch is checked by shadow memory; null: by a watcher on the CPU device. `on`: "cpu", "gpu", "" for the CPU device
// where there is one, "shadow" for the GPU's form on the CPU device.
std::shared_ptr<device::Device> shadow_device(const std::string& on, KernelState& kernel) {
    const auto cpu = first_of("cpu");
    if (on == "shadow") return launch::listening_device("checked");
    if (on == "cpu" || (on.empty() && cpu)) return nullptr;
    const auto its = device_for(kernel);
    const auto gpu = its->info().kind != "cpu" ? its : first_of("cuda");
    if (!gpu)
        throw Error(Fault::user, "RuntimeError", "there is no GPU here to check kernels on", std::nullopt,
                    "leave on='gpu' away: they are then checked on the CPU device");
    return gpu;
}

// A Kernel or a Configured one, and a value for each of its parameters; host arrays are written to. None for a kernel
// that is not of threads.
nb::object check_launch(nb::handle callee, nb::tuple values, int orders, std::uint64_t seed,
                        std::int64_t most_steps, bool finite, std::vector<bool> unset,
                        const std::string& on) {
    Call call(callee, values);
    if (!call.lowered) return nb::none();
    const auto shadow = shadow_device(on, call.kernel);
    profile::check::Options options{orders, seed, most_steps, finite, std::move(unset), shadow};
    profile::check::Checked made;
    {
        const Waiting waiting;
        made = profile::check::check(*call.lowered, call.kernel.parameters, call.arguments.values(),
                                     call.shape, options);
    }
    nb::list findings;
    for (const profile::check::Finding& f : made.findings) {
        nb::dict row;
        row["rule"] = std::string(f.rule);
        row["file"] = f.place.file;
        row["line"] = f.place.line;
        row["other_line"] = f.other.line;
        row["evidence"] = f.evidence;
        row["advice"] = f.advice;
        row["subject"] = f.subject;
        row["count"] = f.count;
        findings.append(row);
    }
    nb::dict out;
    out["grid"] = lengths(made.shape.grid);
    out["block"] = lengths(made.shape.block);
    out["findings"] = findings;
    out["notes"] = made.notes;
    out["steps"] = made.steps;
    out["orders"] = made.orders;
    out["device"] =
        shadow && shadow->info().kind != "cpu" ? launch::device_label(shadow->info()) : "the CPU device";
    out["cut"] = made.cut;
    out["fault"] = made.fault ? nb::object(nb::str(made.fault->what())) : nb::object(nb::none());
    return out;
}

// The form of a kernel that is checked on a GPU, compiled for an architecture ("sm_90"); None for a kernel that is not of
// threads.
nb::object check_compile_for(nb::handle callee, nb::tuple values, const std::string& target) {
    Call call(callee, values);
    if (!call.lowered) return nb::none();
    emit::Text text;
    device::Image image;
    {
        Released released;
        text = launch::shadow_text(*call.lowered);
        image = device::compile_for(target, {text.source, text.entry, "verbose"});
    }
    nb::dict out;
    out["text"] = text.kernel;
    out["full_text"] = text.source;
    out["entry"] = text.entry;
    out["bytes"] = image.bytes.size();
    out["registers"] = image.attributes.registers.value_or(-1);
    out["local_bytes"] = image.attributes.local_bytes.value_or(-1);
    return out;
}

// The steps of one thread; block -1: only who comes to a breakpoint() first. None for a kernel that is not of threads.
nb::object follow_thread(nb::handle callee, nb::tuple values, std::int64_t block, std::uint32_t thread,
                         std::size_t most) {
    Call call(callee, values);
    if (!call.lowered) return nb::none();
    profile::check::Steps made;
    {
        const Waiting waiting;
        made =
            profile::check::follow(*call.lowered, call.arguments.values(), call.shape, block, thread, most);
    }
    nb::list points, variables, events;
    for (const passes::Step& p : made.points)
        points.append(nb::make_tuple(p.place.file, p.place.line, p.breakpoint));
    for (const ir::Var& v : made.variables)
        variables.append(nb::make_tuple(v.name, std::string(info(v.type.dtype).name)));
    for (const profile::check::StepEvent& e : made.events)
        events.append(nb::make_tuple(static_cast<int>(e.what) - static_cast<int>(launch::Watcher::What::step),
                                     e.id, nb::bytes(reinterpret_cast<const char*>(e.bits.data()), 16)));
    nb::dict out;
    out["points"] = points;
    out["variables"] = variables;
    out["events"] = events;
    add_run(out, made);
    out["at_breakpoint"] =
        made.at_breakpoint ? nb::object(nb::make_tuple(made.at_breakpoint->first, made.at_breakpoint->second))
                           : nb::object(nb::none());
    return out;
}

// Which thread touches which element; block -1: all of them. None for a kernel that is not of threads. An access is
// (0 read, 1 write, 2 atomic; block, thread, array, element in C order, line, barriers passed).
nb::object thread_accesses(nb::handle callee, nb::tuple values, std::int64_t block, std::size_t most,
                           bool to_the_end) {
    Call call(callee, values);
    if (!call.lowered) return nb::none();
    profile::check::Accesses made;
    {
        const Waiting waiting;
        made = profile::check::accesses(*call.lowered, call.arguments.values(), call.shape, block, most,
                                        to_the_end);
    }
    nb::list arrays, touches;
    for (const profile::check::TouchedArray& a : made.arrays)
        arrays.append(nb::make_tuple(a.name, a.shared, nb::tuple(nb::cast(a.extents))));
    for (const profile::check::Touch& t : made.touches)
        touches.append(
            nb::make_tuple(static_cast<int>(t.what), t.block, t.thread, t.array, t.element, t.line, t.phase));
    nb::dict out;
    out["arrays"] = arrays;
    out["touches"] = touches;
    add_run(out, made);
    return out;
}

// The grid and block that a launch over these arguments has.
nb::tuple launch_shape(nb::handle callee, nb::tuple values) {
    Call call(callee, values);
    return nb::make_tuple(lengths(call.shape.grid), lengths(call.shape.block));
}

}  // namespace

PyObject* launch_hook = nullptr;

void ask_launch_hook(KernelState& kernel, const Configuration& where, const Arguments& arguments) {
    const nb::object hook = nb::borrow(launch_hook);
    nb::list values;
    for (std::size_t i = 0; i < arguments.size(); ++i) values.append(arguments.object(i));
    hook(callee_of(kernel, where), nb::tuple(values));
}

void bind_check(nb::module_& module) {
    module.def("check_launch", &check_launch, nb::arg("kernel"), nb::arg("values"), nb::arg("orders"),
               nb::arg("seed"), nb::arg("most_steps"), nb::arg("finite"), nb::arg("unset"),
               nb::arg("on") = "");
    module.def("check_compile_for", &check_compile_for, nb::arg("kernel"), nb::arg("values"),
               nb::arg("target"));
    module.def("follow_thread", &follow_thread, nb::arg("kernel"), nb::arg("values"), nb::arg("block"),
               nb::arg("thread"), nb::arg("most"));
    module.def("thread_accesses", &thread_accesses, nb::arg("kernel"), nb::arg("values"), nb::arg("block"),
               nb::arg("most"), nb::arg("to_the_end"));
    module.def("launch_shape", &launch_shape, nb::arg("kernel"), nb::arg("values"));
    // Gives the hook that was set before.
    module.def(
        "set_launch_hook",
        [](nb::object hook) {
            const nb::object before = launch_hook ? nb::steal(launch_hook) : nb::object(nb::none());
            launch_hook = hook.is_none() ? nullptr : hook.release().ptr();
            return before;
        },
        nb::arg("hook").none());
    module.def("write_crashes_to", &launch::write_crashes_to, nb::arg("path"));
    module.def("check_rules", [] {
        nb::list out;
        for (const profile::check::Rule& r : profile::check::rules())
            out.append(nb::make_tuple(std::string(r.name), std::string(r.about)));
        return out;
    });
    module.def("unset_pattern", [] {
        const auto bytes = profile::check::unset_pattern();
        return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
}

}  // namespace xcuda::python
