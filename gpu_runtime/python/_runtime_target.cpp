#include "_runtime_target.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "base/settings.hpp"
#include "launch/target.hpp"
#include "math/cuda_library.hpp"
#include "profile/occupancy.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

constexpr std::int64_t usual_block = 256;

device::Dim3 block_from(nb::handle block) {
    if (block.is_none()) return {usual_block, 1, 1};
    return {nb::cast<std::int64_t>(nb::object(block[0])), nb::cast<std::int64_t>(nb::object(block[1])),
            nb::cast<std::int64_t>(nb::object(block[2]))};
}

std::string ptx_for(nb::handle kernel, nb::handle types, const std::string& target) {
    KernelState& k = state_of(kernel);
    k.current_program();
    const auto program = k.program;
    const launch::Signature signature = signature_from(types);
    Released released;
    return launch::ptx_for(*program, *program->lower(signature), target);
}

// `automatic`: as a launch that leaves the shape to us. `elements`: of each argument, which a tile kernel's plan goes by;
// empty: as for large arrays.
nb::dict compile_for(nb::handle kernel, nb::handle types, const std::string& target, nb::handle block,
                     bool automatic, const std::vector<std::int64_t>& elements) {
    KernelState& k = state_of(kernel);
    k.current_program();
    const auto program = k.program;
    launch::Signature signature = signature_from(types);
    if (k.options.door)  // as arrays mostly lie, and as the plan wants them
        for (launch::Key& key : signature) {
            ir::Type type = launch::type_of(key);
            type.aligned = type.is_array() && type.layout == ir::Layout::contiguous;
            key = launch::key(type);
        }
    if (signature.size() != k.parameters.size())
        raise("TypeError", k.name + " takes " + std::to_string(k.parameters.size()) +
                               " arguments, the signature has " + std::to_string(signature.size()));
    device::Dim3 threads = block_from(block);
    const bool given = !block.is_none();
    launch::Targeted made;
    {
        Released released;
        const auto lowered = program->lower(signature, {}, program->key(target, sized(elements)));
        if (lowered->key) threads = lowered->program_block;
        made = launch::compile_for(*program, *lowered, target, automatic,
                                   given ? std::optional(threads) : std::nullopt);
    }
    nb::dict out;
    const device::Attributes& a = made.image.attributes;
    out["signature"] = launch::to_string(signature);
    out["target"] = made.architecture;
    out["block"] = nb::make_tuple(threads.x, threads.y, threads.z);
    out["seconds"] = made.seconds;
    out["bytes"] = made.image.bytes.size();
    out["text"] = made.text.kernel;
    out["full_text"] = made.text.source;
    out["entry"] = made.text.entry;
    out["cubin"] = nb::bytes(reinterpret_cast<const char*>(made.image.bytes.data()), made.image.bytes.size());
    if (a.registers) out["registers"] = *a.registers;
    if (a.local_bytes) out["local_bytes"] = *a.local_bytes;
    if (a.shared_bytes) out["shared_bytes"] = *a.shared_bytes;
    if (const auto limits = device::describe_target(target)) {
        const auto occupancy = profile::occupancy(*limits, a, {{1, 1, 1}, threads, 0});
        if (occupancy && a.registers) {
            out["occupancy"] = occupancy->share;
            out["resident_blocks"] = occupancy->blocks;
            out["occupancy_limit"] = std::string(occupancy->limit);
        }
    }
    return out;
}

void learn_python_paths() {
    for (nb::handle path : nb::module_::import_("sys").attr("path"))
        if (nb::isinstance<nb::str>(path)) settings().python_paths.emplace_back(nb::cast<std::string>(path));
}

nb::list rows_of(const std::vector<device::Library>& libraries) {
    nb::list out;
    for (const device::Library& l : libraries) {
        nb::dict row;
        row["name"] = l.name;
        row["purpose"] = l.purpose;
        row["version"] = l.version;
        row["file"] = l.file;
        row["from"] = l.from;
        row["problem"] = l.problem;
        row["advice"] = l.advice;
        out.append(row);
    }
    return out;
}

}  // namespace

void bind_target(nb::module_& module) {
    learn_python_paths();
    module.def("compile_for", &compile_for, nb::arg("kernel"), nb::arg("types"), nb::arg("target"),
               nb::arg("block").none(), nb::arg("automatic") = false,
               nb::arg("elements") = std::vector<std::int64_t>());
    module.def("ptx_for", &ptx_for, nb::arg("kernel"), nb::arg("types"), nb::arg("target"));
    module.def("libraries",
               [] { return rows_of(device::libraries()); });  // those that devices need; opens them
    module.def("math_libraries",
               [] {  // those that mathematics needs on a GPU; opens them, which takes a while
#ifdef XCUDA_CUDA_DEVICE
                   return rows_of(math::libraries());
#else
        return nb::list();
#endif
               });
}

}  // namespace xcuda::python
