#include "_runtime_tune.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "launch/evaluate.hpp"
#include "launch/event.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

template <class T>
std::optional<T> optional(nb::handle value) {
    if (value.is_none()) return std::nullopt;
    return nb::cast<T>(value);
}

std::array<std::int64_t, 3> three(nb::handle values) {
    std::array<std::int64_t, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) out[i] = nb::cast<std::int64_t>(nb::object(values[i]));
    return out;
}

launch::Argument read_one(nb::handle value, const std::string& name) {
    Arguments one;
    if (!one.read(value.ptr(), name)) raise("TypeError", "'" + name + "' is neither an array nor a number");
    return one.values()[0];
}

// Before its first call. fixed: [(parameter, axis or -1, value or length)]. likely: [(line from the kernel's own, whether
// the branch there is mostly taken)].
void tune(nb::handle kernel, const std::string& only_on, bool routed, bool adaptive, nb::handle block,
          nb::handle order, nb::handle elements, nb::handle rows, nb::list fixed, nb::list likely, int turns,
          int staged) {
    KernelState& k = state_of(kernel);
    k.only_on = only_on;
    k.routed = routed;
    launch::Tuning t;
    t.adaptive = adaptive;
    if (!block.is_none()) {
        const auto b = three(block);
        t.block = device::Dim3{b[0], b[1], b[2]};
    }
    if (!order.is_none()) {
        const auto o = three(order);
        t.order = {static_cast<int>(o[0]), static_cast<int>(o[1]), static_cast<int>(o[2])};
    }
    t.elements = optional<int>(elements);
    t.rows = optional<int>(rows);
    for (nb::handle entry : fixed) {
        launch::Fixed f;
        f.parameter = nb::cast<int>(nb::object(entry[0]));
        f.axis = nb::cast<int>(nb::object(entry[1]));
        f.bits =
            f.axis < 0
                ? read_one(nb::object(entry[2]), k.parameters[static_cast<std::size_t>(f.parameter)]).bits
                : nb::cast<std::uint64_t>(nb::object(entry[2]));
        t.fixed.push_back(f);
    }
    for (nb::handle entry : likely)
        t.likely.push_back({nb::cast<int>(nb::object(entry[0])), nb::cast<bool>(nb::object(entry[1]))});
    t.turns = turns;
    t.staged = staged;
    k.options.tuning = std::move(t);
    k.program.reset();
    k.last.reset();
    k.passed_by = nullptr;
    k.last_lowered.reset();
    k.steady = {};
}

// What a launch over these arguments may be laid out like.
nb::dict layout(nb::handle kernel, nb::tuple values) {
    KernelState& k = state_of(kernel);
    Arguments arguments;
    for (std::size_t i = 0; i < k.parameters.size(); ++i)
        if (!arguments.read(values[i].ptr(), k.parameters[i]))
            raise("TypeError", "'" + k.parameters[i] + "' is neither an array nor a number");
    k.current_program();
    const auto program = k.program;
    const launch::Signature signature = launch::signature(arguments.values());
    std::shared_ptr<const launch::Lowered> lowered;
    {
        Released released;
        lowered = program->lower(signature);
    }
    nb::dict out;
    nb::list domain;
    for (const ir::ExprP& length : lowered->domain) {
        const auto value = launch::evaluate(lowered->module.kernel(), *length, arguments.values());
        domain.append(value ? nb::object(nb::int_(*value)) : nb::object(nb::none()));
    }
    nb::list written;
    for (std::size_t i = 0; i < k.parameters.size(); ++i)
        if (lowered->writes(i)) written.append(i);
    out["signature"] = launch::to_string(signature);
    out["domain"] = domain;
    out["written"] = written;
    out["fixed_block"] = lowered->fixed_block;
    out["shared_bytes"] = lowered->shared_bytes;
    out["free"] = lowered->automatic.free;
    out["elements"] = lowered->automatic.elements;
    out["most_rows"] = lowered->automatic.most_rows;
    out["rows"] = lowered->automatic.rows;
    out["row_axis"] = lowered->automatic.row_axis;
    out["staged"] = passes::has_staging(lowered->module);
    out["loops"] = passes::innermost_loops(lowered->module);
    const auto& order = lowered->automatic.order;
    out["order"] = nb::make_tuple(order[0], order[1], order[2]);
    return out;
}

// Seconds of each launch that the log holds since `mark`; none where it was not measured.
nb::list launch_seconds(std::uint64_t mark) {
    nb::list out;
    for (const launch::Event& e : launch::events_since(mark).events) {
        if (e.kind != launch::Event::Kind::launch) continue;
        const bool known = e.timing && e.timing->done && e.timing->timed;
        out.append(known ? nb::object(nb::float_(e.timing->end - e.timing->begin)) : nb::object(nb::none()));
    }
    return out;
}

// How often each version was made from what: [(signature, what is constant in it)].
nb::list fixed_in(nb::handle kernel) {
    const KernelState& k = state_of(kernel);
    nb::list out;
    if (!k.program) return out;
    for (const auto& s : k.program->specialisations()) {
        nb::list fixed;
        for (const launch::Fixed& f : s->lowered->fixed)
            fixed.append(nb::make_tuple(k.parameters[static_cast<std::size_t>(f.parameter)], f.axis, f.bits));
        out.append(nb::make_tuple(s->facts->signature, fixed));
    }
    return out;
}

}  // namespace

void bind_tune(nb::module_& module) {
    module.def("tune", &tune, nb::arg("kernel"), nb::kw_only(), nb::arg("only_on") = "",
               nb::arg("routed") = false, nb::arg("adaptive") = false, nb::arg("block").none() = nb::none(),
               nb::arg("order").none() = nb::none(), nb::arg("elements").none() = nb::none(),
               nb::arg("rows").none() = nb::none(), nb::arg("fixed") = nb::list(),
               nb::arg("likely") = nb::list(), nb::arg("turns") = 0, nb::arg("staged") = 0);
    module.def("layout", &layout, nb::arg("kernel"), nb::arg("values"));
    module.def("launch_seconds", &launch_seconds, nb::arg("mark"));
    module.def("fixed_in", &fixed_in, nb::arg("kernel"));
}

}  // namespace xcuda::python
