// What people ask of a kernel: its compiled versions and their texts, and starting one for an await.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "_runtime_ahead.hpp"
#include "_runtime_argument.hpp"
#include "_runtime_dtype.hpp"
#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "base/shown_file.hpp"
#include "frontend/check.hpp"
#include "frontend/functions.hpp"
#include "ir/print.hpp"
#include "launch/cache.hpp"
#include "passes/cpu.hpp"
#include "passes/cuda.hpp"
#include "python/gil.hpp"

namespace xcuda::python {

namespace {

constexpr std::pair<ir::Layout, const char*> layout_names[] = {{ir::Layout::contiguous, "contiguous"},
                                                               {ir::Layout::inner, "inner"},
                                                               {ir::Layout::strided, "strided"},
                                                               {ir::Layout::bytes, "bytes"}};

}  // namespace

KernelState& state_of(nb::handle kernel) {
    KernelState* state = kernel_state(kernel.ptr());
    if (!state) raise("TypeError", "a kernel is wanted here");
    return *state;
}

std::vector<launch::Argument> sized(const std::vector<std::int64_t>& elements) {
    std::vector<launch::Argument> out(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        out[i].is_array = elements[i] >= 0;
        out[i].ndim = 1;
        out[i].lengths[0] = elements[i];
    }
    return out;
}

launch::Signature signature_from(nb::handle types) {
    launch::Signature signature;
    for (nb::handle type : types) {
        const nb::object kind = type[0];
        const auto dtype = dtype_named(nb::cast<std::string>(nb::object(type[1])));
        if (nb::cast<std::string>(kind) == "scalar") {
            launch::Argument number;
            number.dtype = dtype;
            number.weak = nb::cast<bool>(nb::object(type[2]));
            if (nb::len(type) > 3) number.bits = INT64_MAX;  // as large as any: see types_from
            signature.push_back(launch::key(number));
            continue;
        }
        if (nb::cast<std::string>(kind) == "pointer") {  // an array of a length that nobody knows
            ir::Type whole = ir::array(dtype, 1);
            signature.push_back(launch::key(whole) | launch::wide_key);
            continue;
        }
        const auto name = nb::cast<std::string>(nb::object(type[3]));
        auto layout = ir::Layout::strided;
        for (const auto& [which, called] : layout_names)
            if (name == called) layout = which;
        const int ndim = nb::cast<int>(nb::object(type[2]));
        if (ndim < 0 || ndim > launch::max_ndim) raise("ValueError", "arrays have 0 to 8 dimensions");
        signature.push_back(launch::key(ir::array(dtype, ndim, layout)));
    }
    return signature;
}

namespace {

nb::dict about(const launch::Specialisation& s) {
    nb::dict out;
    const device::Attributes& a = s.facts->attributes;
    out["signature"] = s.facts->signature;
    out["device"] = s.facts->device;
    out["block"] =
        s.block ? nb::object(nb::make_tuple(s.block->x, s.block->y, s.block->z)) : nb::object(nb::none());
    out["source"] = s.source;
    out["seconds"] = s.seconds;
    out["lower_seconds"] = s.lowered->seconds;
    out["how"] = s.facts->how;
    out["text"] = s.text.kernel;
    out["full_text"] = s.text.source;
    out["entry"] = s.text.entry;
    out["warnings"] = s.facts->warnings;
    std::size_t constant_bytes = 0;
    for (const ir::Constant& c : s.lowered->module.constants) constant_bytes += c.bytes.size();
    out["constant_bytes"] = constant_bytes;
    if (a.registers) out["registers"] = *a.registers;
    if (a.local_bytes) out["local_bytes"] = *a.local_bytes;
    if (a.shared_bytes) out["shared_bytes"] = *a.shared_bytes;
    if (a.max_threads_per_block) out["max_threads_per_block"] = *a.max_threads_per_block;
    return out;
}

// ("array", dtype, ndim, layout, elements) of what a launch takes as an array, read as it does; None of all else.
nb::object array_type(nb::handle object) {
    if (!is_array_argument(object.ptr())) return nb::none();
    Arguments read;
    if (!read.read(object.ptr(), "argument")) return nb::none();
    const launch::Argument& array = read.values()[0];
    const auto* layout = std::find_if(std::begin(layout_names), std::end(layout_names),
                                      [&](const auto& row) { return row.first == array.layout; });
    return nb::make_tuple("array", std::string(info(array.dtype).name), static_cast<int>(array.ndim),
                          layout->second, array.elements());
}

frontend::Source source_from(const std::string& name, const std::string& file, const std::string& ast_json,
                             const std::string& names_json) {
    return {name, file, frontend::ast::from_json(ast_json, file, 1), names_json};
}

nb::object compile(nb::handle kernel, nb::handle types, nb::handle block) {
    KernelState& k = state_of(kernel);
    k.current_program();
    const auto program = k.program;
    const launch::Signature signature = signature_from(types);
    if (signature.size() != k.parameters.size())
        raise("TypeError", k.name + " takes " + std::to_string(k.parameters.size()) +
                               " arguments, the signature has " + std::to_string(signature.size()));
    device::Dim3 dims{256, 1, 1};
    if (!block.is_none())
        dims = {nb::cast<std::int64_t>(nb::object(block[0])), nb::cast<std::int64_t>(nb::object(block[1])),
                nb::cast<std::int64_t>(nb::object(block[2]))};
    std::shared_ptr<device::Device> device = device_for(k);  // ours: the current one may change meanwhile
    std::shared_ptr<const launch::Specialisation> made;
    bool refused_block = false;
    {
        Released released;
        const auto lowered =
            program->lower(signature, {}, program->key(launch::target_of(device->info()), {}));
        if (lowered->key) dims = lowered->program_block;
        if (lowered->fixed_block && !lowered->key && block.is_none() && device->info().kind == "cpu")
            refused_block = true;
        else
            made = program->specialise(lowered, device, dims);
    }
    if (refused_block)
        return nb::none();  // waits for its first launch: the block's shape is part of the text
    return about(*made);
}

struct Launched {
    std::shared_ptr<InFlight> work;
};

void bind_launched(nb::module_& module) {
    nb::class_<Launched>(module, "Launched")
        .def_prop_ro("done",
                     [](const Launched& l) {
                         if (!l.work->done())
                             l.work->device->finished(l.work->stream.get());  // marks it if it is
                         return l.work->done();
                     })
        .def_prop_ro("structured", [](const Launched& l) { return l.work->structured; })
        .def_prop_ro("stopped",  // by an interrupt that was told of
                     [](const Launched& l) {
                         const auto error = l.work->error();
                         return l.work->stopped && error && error->python_type == "KeyboardInterrupt";
                     })
        .def("tell", [](Launched& l) { raise_error_of(*l.work); })  // its error, once done
        .def("call_when_done", [](const Launched& l, nb::callable callback) {
            call_on_host(l.work->device, l.work->stream, callback);
        });
    module.def("begin", [](nb::handle callee, nb::tuple args, nb::dict kwargs) {
        KernelState& k = state_of(callee);
        std::vector<PyObject*> values;
        for (nb::handle a : args) values.push_back(a.ptr());
        const std::size_t count = values.size();
        nb::list names;
        for (auto [name, value] : kwargs) {
            names.append(name);
            values.push_back(value.ptr());
        }
        const nb::tuple keyword_names(names);
        static const Configuration automatic{};
        const Configuration* where = configuration_of(callee.ptr());
        auto work = launch_kernel(k, where ? *where : automatic, values.data(), count,
                                  kwargs.size() ? keyword_names.ptr() : nullptr, false);
        return Launched{std::move(work)};
    });
    // The parameters that the last launch may have written.
    module.def("written_by_last", [](nb::handle callee) {
        const KernelState& k = state_of(callee);
        std::vector<std::size_t> out;
        for (std::size_t i = 0; k.last && i < k.parameters.size(); ++i)
            if (k.last->lowered->writes(i)) out.push_back(i);
        return out;
    });
}

}  // namespace

void bind_kernel(nb::module_& module) {
    bind_kernel_types(module);
    bind_launched(module);
    module.def("specialisations", [](nb::handle kernel) {
        KernelState& k = state_of(kernel);
        wait_for_ahead(k);
        nb::list out;
        if (k.program)
            for (const auto& s : k.program->specialisations()) out.append(about(*s));
        return out;
    });
    module.def("last_launch", [](nb::handle kernel) -> nb::object {
        const KernelState& k = state_of(kernel);
        if (!k.last_shape || !k.last) return nb::none();
        nb::dict out;
        const device::Shape& s = *k.last_shape;
        out["signature"] = k.last->facts->signature;
        out["device"] = k.last->facts->device;
        out["grid"] = nb::make_tuple(s.grid.x, s.grid.y, s.grid.z);
        out["block"] = nb::make_tuple(s.block.x, s.block.y, s.block.z);
        out["dynamic_shared_bytes"] = s.dynamic_shared_bytes;
        out["automatic"] = k.last_automatic;
        out["launches"] = k.launches;
        return out;
    });
    module.def("check", [](const std::string& ast_json, const std::string& file) {
        frontend::check(*frontend::ast::from_json(ast_json, file, 1));
    });
    module.def("compile", &compile, nb::arg("kernel"), nb::arg("types"), nb::arg("block").none());
    module.def("show_file_as", show_file_as);
    module.def("shown_file", shown_file);
    module.def("ir_text", [](nb::handle kernel) {
        const KernelState& k = state_of(kernel);
        if (!k.last) return std::string();
        const launch::Lowered& lowered = *k.last->lowered;
        return lowered.text.empty() ? ir::to_string(lowered.module) : lowered.text;
    });
    module.def("assembly_text", [](nb::handle kernel, std::size_t version) {
        KernelState& k = state_of(kernel);
        if (!k.program) raise("RuntimeError", k.name + " has not been compiled yet");
        wait_for_ahead(k);
        const auto made = k.program->specialisations();
        if (version >= made.size()) raise("IndexError", k.name + " has no such version");
        const auto program = k.program;
        Released released;
        return program->assembly(*made[version]);
    });
    module.def("lower_text", [](const std::string& name, const std::string& file, const std::string& ast_json,
                                const std::string& names_json, nb::list types, bool checked) {
        const auto source = source_from(name, file, ast_json, names_json);
        return ir::to_string(frontend::lower(source, launch::types_of(signature_from(types)), checked));
    });
    module.def(
        "emit_text",
        [](const std::string& name, const std::string& file, const std::string& ast_json,
           const std::string& names_json, nb::list types, bool checked, const std::string& target,
           nb::handle block) {
            auto lowered = frontend::lower(source_from(name, file, ast_json, names_json),
                                           launch::types_of(signature_from(types)), checked);
            if (target != "cpu" && target != "cuda") raise("ValueError", "the target is cpu or cuda");
            if (target == "cuda")  // without a block, as a launch whose shape is ours
                return emit::emit(passes::for_cuda(std::move(lowered), {block.is_none(), {}, {}}),
                                  emit::Target::cuda)
                    .kernel;
            passes::CpuOptions options;
            options.checked = checked;
            if (!block.is_none()) {
                options.block_fixed = true;
                for (int i = 0; i < 3; ++i) options.block[i] = nb::cast<std::int64_t>(nb::object(block[i]));
            }
            return emit::emit(passes::for_cpu(std::move(lowered), options), emit::Target::cpu).kernel;
        },
        nb::arg("name"), nb::arg("file"), nb::arg("ast_json"), nb::arg("names_json"), nb::arg("types"),
        nb::arg("checked"), nb::arg("target"), nb::arg("block").none());
    module.def("array_type", &array_type);
    module.def("kernel_functions", [] {  // (name, spellings, numpy, doc) of each
        nb::list out;
        for (const auto& f : frontend::all_functions()) {
            std::vector<std::string> spellings(f.spellings.begin(), f.spellings.end());
            out.append(
                nb::make_tuple(std::string(f.name), spellings, std::string(f.numpy), std::string(f.doc)));
        }
        return out;
    });
    module.def("kernel_overloads", [] {  // ([dtype of each argument], dtype of the result) of each, as above
        nb::list out;
        for (const auto& f : frontend::all_functions()) {
            nb::list rows;
            for (int i = 0; i < f.overloads; ++i) {
                const auto& row = frontend::all_overloads()[f.first_overload + i];
                nb::list in;
                for (const DType d : row.in) in.append(std::string(info(d).name));
                rows.append(
                    nb::make_tuple(in, f.gives ? nb::cast(std::string(info(row.out).name)) : nb::none()));
            }
            out.append(rows);
        }
        return out;
    });
    module.def("kernel_accuracy", [] {  // {name: {device: {dtype: most ulp}}} of what gives floating numbers
        nb::dict out;
        for (const auto& f : frontend::all_functions()) {
            nb::dict cpu, cuda;
            for (const auto& o : frontend::all_overloads().subspan(static_cast<std::size_t>(f.first_overload),
                                                                   static_cast<std::size_t>(f.overloads))) {
                if (o.in.empty() || !is_floating(o.in[0]) || !is_floating(o.out)) continue;
                const std::string dtype(info(o.out).name);
                cpu[dtype.c_str()] = o.cpu_ulp;
                cuda[dtype.c_str()] = o.cuda_ulp;
            }
            if (nb::len(cpu) == 0) continue;
            nb::dict devices;
            devices["cpu"] = cpu;
            devices["cuda"] = cuda;
            out[std::string(f.name).c_str()] = devices;
        }
        return out;
    });
    module.def("cache_stats", [] {
        const launch::CacheStats s = launch::cache_stats();
        nb::dict out;
        out["kernels_in_memory"] = s.kernels_in_memory;
        out["memory_hits"] = s.memory_hits;
        out["disk_hits"] = s.disk_hits;
        out["compiled"] = s.compiled;
        out["compile_seconds"] = s.compile_seconds;
        out["folder"] = s.folder.string();
        out["files"] = s.files;
        out["bytes"] = s.bytes;
        out["bound"] = s.bound;
        out["disk_problem"] = s.disk_problem;
        return out;
    });
    module.def("force_copies", &force_copies);
    module.def("events_since", [](std::uint64_t mark) {  // [(kind, bytes)]
        static constexpr const char* kinds[] = {"launch",      "compile", "copy_in",  "copy_out",
                                                "copy_within", "fill",    "allocate", "release"};
        nb::list out;
        for (const launch::Event& e : launch::events_since(mark).events)
            out.append(nb::make_tuple(kinds[static_cast<int>(e.kind)], e.bytes));
        return out;
    });
    module.def("clear_cache", &launch::clear_cache);
}

}  // namespace xcuda::python
