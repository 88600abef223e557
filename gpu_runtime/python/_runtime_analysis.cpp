#include "_runtime_analysis.hpp"

#include <nanobind/stl/string.h>

#include <optional>

#include "_runtime_argument.hpp"
#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "profile/analysis/advise.hpp"
#include "profile/analysis/branches.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

nb::tuple lengths(const device::Dim3& d) { return nb::make_tuple(d.x, d.y, d.z); }

// A Kernel or a Configured one, and a value for each of its parameters; host arrays are written to.
nb::dict analyze(nb::handle callee, nb::tuple values, const std::string& architecture, int multiprocessors,
                 bool real_grid) {
    KernelState& k = *kernel_state(callee.ptr());
    Arguments arguments;
    for (std::size_t i = 0; i < k.parameters.size(); ++i) arguments.read(values[i].ptr(), k.parameters[i]);
    std::optional<device::Shape> shape;
    if (const Configuration* where = configuration_of(callee.ptr())) shape = where->shape;
    const auto lowered = k.lowered_for(arguments.values());
    const auto program = k.program;
    profile::analysis::Advised made;
    {
        Released released;
        made = profile::analysis::advise(*program, *lowered, arguments.values(), shape, k.name,
                                         {architecture, multiprocessors, real_grid});
    }
    nb::list findings;
    for (const profile::analysis::Finding& f : made.findings) {
        nb::dict row;
        row["rule"] = std::string(f.rule);
        row["file"] = f.place.file;
        row["line"] = f.place.line;
        row["evidence"] = f.evidence;
        row["advice"] = f.advice;
        row["subject"] = f.subject;
        row["other_line"] = f.other_line;
        row["gain"] = f.gain ? nb::object(nb::float_(*f.gain)) : nb::object(nb::none());
        findings.append(row);
    }
    nb::dict out;
    out["grid"] = lengths(made.shape.grid);
    out["block"] = lengths(made.shape.block);
    out["automatic"] = made.automatic;
    out["blocks"] = made.blocks.size();
    out["records"] = made.records;
    out["cut"] = made.cut;
    out["not_compiled"] = made.not_compiled;
    out["cubin"] = nb::bytes(reinterpret_cast<const char*>(made.image.bytes.data()), made.image.bytes.size());
    out["findings"] = findings;
    return out;
}

// [{"line", "from_kernel" (lines, of its own ones), "threads", "taken" and "divergent" as shares}] of the branches of a launch; host arrays are written to.
nb::list trace_branches(nb::handle callee, nb::tuple values) {
    KernelState& k = state_of(callee);
    Arguments arguments;
    for (std::size_t i = 0; i < k.parameters.size(); ++i) arguments.read(values[i].ptr(), k.parameters[i]);
    std::optional<device::Shape> shape;
    if (const Configuration* where = configuration_of(callee.ptr())) shape = where->shape;
    k.current_program();
    const auto program = k.program;
    const launch::Signature signature = launch::signature(arguments.values());
    std::vector<profile::analysis::BranchCount> counts;
    Place kernel;
    {
        Released released;
        const auto lowered = program->lower(signature);
        kernel = lowered->module.kernel().place;
        counts = profile::analysis::count_branches(*program, *lowered, arguments.values(), shape, k.name);
    }
    nb::list out;
    for (const auto& c : counts) {
        nb::dict row;
        row["line"] = c.place.line;
        if (c.place.file == kernel.file) row["from_kernel"] = c.place.line - kernel.line;
        row["threads"] = c.threads;
        row["taken"] = static_cast<double>(c.taken) / static_cast<double>(c.threads);
        row["divergent"] = static_cast<double>(c.divergent) / static_cast<double>(c.warps);
        out.append(row);
    }
    return out;
}

}  // namespace

void bind_analysis(nb::module_& module) {
    module.def("analyze", &analyze, nb::arg("kernel"), nb::arg("values"), nb::arg("architecture"),
               nb::arg("multiprocessors"), nb::arg("real_grid"));
    module.def("trace_branches", &trace_branches, nb::arg("kernel"), nb::arg("values"));
    module.def("analysis_rules", [] {
        nb::list out;
        for (const profile::analysis::Rule& r : profile::analysis::rules())
            out.append(nb::make_tuple(std::string(r.name), std::string(r.about)));
        return out;
    });
}

}  // namespace xcuda::python
