#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "emit/arguments.hpp"
#include "emit/names.hpp"
#include "emit/prelude.hpp"
#include "emit/shadowed.hpp"
#include "emit/writer.hpp"
#include "ir/walk.hpp"

namespace xcuda::emit {

using namespace ir;

Writer::Writer(const Module& m, const Function& f, Target t, Needs& n)
    : module(m),
      function(f),
      target(t),
      needs(n),
      names(variable_names(f)) {}

std::string entry_name(const Module& module) { return identifier(module.kernel().name) + "_kernel"; }

namespace {

std::string_view element_type(const Type& t) { return info(t.dtype).cpp; }

// The constants that a function of the module reads, as words: every element type is then written alike.
std::string constant_arrays(const Module& module, bool cpu) {
    if (module.constants.empty()) return {};
    std::set<int> read;
    const auto look = [&](const Function& f) {
        each_expr(f.body, [&](const Expr& e) {
            if (e.op == Op::var && f.vars[var_of(e)].role == Var::Role::constant)
                read.insert(f.vars[var_of(e)].constant);
        });
    };
    for (const Function& f : module.functions) look(f);
    for (const auto* f : {&module.tiles, &module.fiber})
        if (*f) look(**f);
    std::string out;
    for (const int i : read) {
        const Constant& c = module.constants[static_cast<std::size_t>(i)];
        const std::size_t word = std::min<std::size_t>(info(c.type.dtype).size, 8);
        const std::string name = constant_name(i);
        out += fmt::format("{} u{} {}_words[] = {{",
                           cpu ? "alignas(64) static" : "static __constant__ __align__(16)", 8 * word, name);
        for (std::size_t at = 0; at < c.bytes.size(); at += word) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, c.bytes.data() + at, word);
            out += fmt::format("{}0x{:x}{}", at ? "," : "", bits, word == 8 ? "ull" : "u");
        }
        if (c.bytes.empty()) out += "0";
        out += fmt::format("}};\n#define {0} (({1}*){0}_words)\n", name, element_type(c.type));
    }
    return out;
}

std::string argument_struct(const Module& module) {
    const Function& f = module.kernel();
    const std::vector<std::string> names = variable_names(f);
    std::string out = fmt::format("struct {}_arguments {{\n", entry_name(module));
    for (const VarId p : f.params) {
        const Type& t = f.vars[p].type;
        const std::string& name = names[p];
        if (!t.is_array())
            out += t.dtype == DType::c128 ? fmt::format("    f64 {}[2];\n", name)  // at any multiple of 8
                                          : fmt::format("    alignas(8) {} {};\n", element_type(t), name);
        else if (t.ndim == 0)
            out += fmt::format("    {}* {};\n", element_type(t), name);
        else
            out += fmt::format("    {}* {}; i64 {}_n[{}], {}_s[{}];\n", element_type(t), name, name, t.ndim,
                               name, t.ndim);
    }
    if (f.params.empty()) out += "    i64 nothing;\n";
    const ArgumentLayout layout = argument_layout(module);
    std::size_t end = layout.maps.empty() ? 0 : argument_bytes(f);
    for (std::size_t i = 0; i < layout.maps.size(); ++i) {
        if (layout.maps[i].offset > end)
            out += fmt::format("    i64 xc_gap{}[{}];\n", i, (layout.maps[i].offset - end) / 8);
        out += fmt::format("    xc_tensor_map map{};\n", i);
        end = layout.maps[i].offset + MapSlot::bytes;
    }
    return out + "};\n";
}

// Arguments as locals: kernels then read them from registers, whatever they write to memory.
void unpack(Writer& w, const char* from) {
    for (const VarId p : w.function.params) {
        const Type& t = w.function.vars[p].type;
        const std::string& name = w.name(p);
        if (!t.is_array()) {
            w.line(t.dtype == DType::c128 ? fmt::format("c128 {0}({1}{0}[0], {1}{0}[1]);", name, from)
                                          : fmt::format("{} {} = {}{};", element_type(t), name, from, name));
            continue;
        }
        w.line(fmt::format("{}* const {} = {}{};", element_type(t), name, from, name));
        const std::vector<std::int64_t>& known = w.function.vars[p].lengths;
        for (int d = 0; d < t.ndim; ++d) {
            const auto axis = static_cast<std::size_t>(d);
            const std::string given = axis < known.size() && known[axis] >= 0
                                          ? std::to_string(known[axis])
                                          : fmt::format("{}{}_n[{}]", from, name, d);
            w.line(fmt::format("const i64 {} = {};", length_name(name, d), given));
        }
        if (t.layout == Layout::contiguous) continue;
        for (int d = 0; d < t.ndim; ++d)
            w.line(fmt::format("const i64 {} = {}{}_s[{}];", stride_name(name, d), from, name, d));
    }
}

std::vector<bool> mentioned(const Function& f) {
    std::vector<bool> used(f.vars.size(), false);
    each_expr(f.body, [&](const Expr& e) {
        if (e.op == Op::var) used[var_of(e)] = true;
        const bool masked = (e.op == Op::load && access_of(e).masked);
        if (masked) used[f.tail] = true;
    });
    each_stmt(f.body, [&](const Stmt& s) {
        if (s.var >= 0) used[s.var] = true;
    });
    for (const ExprP& e : f.where)
        each_expr(e, [&](const Expr& n) {
            if (n.op == Op::var) used[var_of(n)] = true;
        });
    for (const VarId p : f.params) used[p] = false;
    for (const VarId v : {f.begin, f.end})
        if (v >= 0) used[v] = false;
    return used;
}

std::int64_t elements(const Type& t) {
    std::int64_t n = t.extents.empty() ? 0 : 1;
    for (const std::int64_t e : t.extents) n *= e;
    return n;
}

std::int64_t shared_size(const Var& v) {
    const std::int64_t room = v.alignment > 16 ? v.alignment : 0;  // to move to a multiple of it
    return (elements(v.type) * static_cast<std::int64_t>(info(v.type.dtype).size) + 63) / 64 * 64 + room;
}

// A place in shared memory, moved up to the alignment that the user asks for.
std::string aligned_up(const std::string& at, int alignment) {
    return alignment > 16 ? fmt::format("(((u64)({}) + {}) & ~(u64){})", at, alignment - 1, alignment - 1)
                          : at;
}

std::int64_t static_shared_bytes(const Function& f) {
    std::int64_t bytes = 0;
    for (const Var& v : f.vars)
        if (v.role == Var::Role::shared) bytes += shared_size(v);
    return bytes;
}

constexpr std::int64_t most_declared = 48 * 1024;  // of static shared memory, on every GPU

/// Bytes of the kernel's shared arrays where they are laid out in dynamic shared memory, before the launch's own; else 0.
std::int64_t moved_shared_bytes(const Module& module) {
    std::int64_t all = 0;
    for (const Function& f : module.functions) all += static_shared_bytes(f);
    return all > most_declared ? static_shared_bytes(module.kernel()) : 0;
}

// `worker_shared`: shared arrays lie in the worker's memory, for all fibers of a block; else on its stack. On CUDA
// `static_bytes` are those that are laid out in dynamic shared memory.
void declare_array(Writer& w, VarId id, bool worker_shared, std::int64_t& offset, std::int64_t static_bytes) {
    const Var& v = w.function.vars[id];
    const std::string& name = w.name(id);
    const auto element = element_type(v.type);
    const bool dynamic = v.role == Var::Role::shared && v.type.extents.empty();
    if (!w.cpu()) {
        const bool shared = v.role == Var::Role::shared;
        const std::string after =
            static_bytes > 0 ? fmt::format(" + {}", dynamic ? static_bytes : offset) : "";
        if (shared && (dynamic || static_bytes > 0)) {
            w.line("extern __shared__ __align__(16) unsigned char xc_dynamic_shared[];");
            const std::string at = after.empty() ? "xc_dynamic_shared" : "(xc_dynamic_shared" + after + ")";
            w.line(fmt::format("{0}* const {1} = ({0}*){2};", element, name, aligned_up(at, v.alignment)));
            if (!dynamic) offset += shared_size(v);
        }
        if (dynamic) {
            const std::string left = static_bytes > 0
                                         ? fmt::format("(xc_dynamic_shared_bytes() - {})", static_bytes)
                                         : "xc_dynamic_shared_bytes()";
            w.line(fmt::format("const i64 {} = {} / (i64)sizeof({});", length_name(name, 0), left, element));
        } else if (!shared || static_bytes == 0) {
            const std::string aligned = v.alignment > 0 ? fmt::format("__align__({}) ", v.alignment)
                                        : shared        ? "__align__(16) "
                                                        : "";
            w.line(fmt::format("{}{}{} {}[{}];", shared ? "__shared__ " : "", aligned, element, name,
                               elements(v.type)));
        }
        return;
    }
    if (dynamic) {
        w.line(fmt::format("{0}* const {1} = ({0}*)(W->shared + {2});", element, name, static_bytes));
        w.line(fmt::format("const i64 {} = L->dynamic_shared_bytes / (i64)sizeof({});", length_name(name, 0),
                           element));
    } else if (v.role == Var::Role::shared && worker_shared) {
        const std::string at = aligned_up(fmt::format("(W->shared + {})", offset), v.alignment);
        w.line(fmt::format("{0}* const {1} = ({0}*){2};", element, name, at));
        offset += shared_size(v);
    } else {
        w.line(fmt::format("alignas({}) {} {}[{}];", std::max(64, v.alignment), element, name,
                           elements(v.type)));
    }
}

bool polls(const Body& body) {
    bool found = false;
    each_stmt(body, [&](const Stmt& s) { found |= s.kind == Stmt::Kind::poll; });
    return found;
}

void declare_locals(Writer& w, bool worker_shared, std::int64_t static_bytes,
                    const std::vector<VarId>& declared = {}) {
    std::vector<bool> used = mentioned(w.function);
    for (const VarId v : declared) used[v] = false;
    std::int64_t offset = 0;
    if (!w.cpu() && polls(w.function.body)) w.line("i32 xc_turns = XC_TURNS;");
    for (std::size_t i = 0; i < used.size(); ++i) {
        const Var& v = w.function.vars[i];
        const auto id = static_cast<VarId>(i);
        if (v.role == Var::Role::constant) continue;
        if (v.type.is_array()) {
            const bool shared_slot = v.role == Var::Role::shared && worker_shared;
            if (used[i] || shared_slot) declare_array(w, id, worker_shared, offset, static_bytes);
            if (used[i]) declare_set(w, id);
        } else if (used[i]) {
            // A vector starts as zeros: a masked assignment keeps its other lanes.
            w.line(fmt::format("{} {}{};", w.type(v.type), w.name(id),
                               v.type.lanes > 1 || v.maybe_unbound ? " = {}" : ""));
        }
    }
}

void here(Writer& w) {
    std::string text = "#define XC_HERE W, L";
    if (w.function.where.empty()) text += ", 0, 0, 0, 0, 0, 0";
    for (const ExprP& e : w.function.where) text += ", " + w.expr(*e);
    w.out += text + "\n";
}

std::string device_function(const Module& module, std::size_t index, Target target, Needs& needs,
                            bool prototype) {
    const Function& f = module.functions[index];
    Writer w(module, f, target, needs);
    std::string head = fmt::format("XC_DEVICE {} xc_fn_{}_{}(XC_HERE_PARAMETERS",
                                   f.result.is_none() ? "void" : std::string(element_type(f.result)),
                                   identifier(f.name), index);
    for (const VarId p : f.params) {
        const Type& t = f.vars[p].type;
        const std::string& name = w.name(p);
        if (!t.is_array()) {
            head += fmt::format(", {} {}", element_type(t), name);
            continue;
        }
        head += fmt::format(", {}* {}", element_type(t), name);
        for (int d = 0; d < t.ndim; ++d) head += ", i64 " + length_name(name, d);
        for (int d = 0; d < t.ndim; ++d) head += ", i64 " + stride_name(name, d);
    }
    head += ")";
    if (prototype) return head + ";\n";
    if (f.foreign) {
        std::string passed;
        for (const VarId p : f.params) passed += ", " + w.name(p);
        const std::string result(f.result.is_none() ? "" : element_type(f.result));
        std::string body;
        if (f.foreign->gives_status && f.result.is_none())
            body = fmt::format("xc_foreign({}, 0{});", f.foreign->symbol, passed);
        else if (f.foreign->gives_status)
            body = fmt::format("{} r; xc_foreign({}, &r{}); return r;", result, f.foreign->symbol, passed);
        else
            body = fmt::format("{}xc_foreign({}{}){};", f.result.is_none() ? "" : "return (" + result + ")",
                               f.foreign->symbol, passed, "");
        return head + " { " + body + " }\n";
    }
    w.out += head + " {\n";
    declare_locals(w, true, 0);
    w.body(f.body);
    if (!f.result.is_none())
        w.line(fmt::format("return {}();", element_type(f.result)));  // every path has returned
    return w.out + "}\n";
}

std::string arguments_of(const std::string& entry) {
    return fmt::format("    const {0}_arguments& xc_args = *(const {0}_arguments*)P;\n", entry);
}

// Of a watched kernel: where a thread's shared and local arrays lie.
void watch_arrays(Writer& w) {
    const char* how = w.needs.shadow ? "shadow" : "watch";
    w.line(fmt::format("xc_{}_begin({}, XC_HERE);", how, w.name(*w.module.trace)));
    const std::vector<bool> used = mentioned(w.function);
    for (std::size_t i = 0; i < used.size(); ++i) {
        const Var& v = w.function.vars[i];
        const bool own = v.role == Var::Role::shared || (v.role == Var::Role::local_array && !w.needs.shadow);
        if (!used[i] || !own) continue;
        const std::string& name = w.name(static_cast<VarId>(i));
        const std::string count =
            v.type.extents.empty() ? length_name(name, 0) : std::to_string(elements(v.type));
        w.line(fmt::format("xc_{}lies({}, {}, (u64)({}) * sizeof({}), XC_HERE);",
                           w.needs.shadow ? "shadow_" : "", i, name, count, element_type(v.type)));
    }
}

std::string cpu_fiber(const Module& module, Needs& needs, std::int64_t static_bytes) {
    const std::string entry = entry_name(module);
    Writer fiber(module, *module.fiber, Target::cpu, needs);
    std::string head =
        fmt::format("static void {}_thread(const xc_launch* L, const void* P, xc_worker* W", entry);
    std::vector<VarId> coordinates;  // parameters of the C++ function
    for (const ExprP& e : module.fiber->where) {
        coordinates.push_back(var_of(*e));
        head += ", i64 " + fiber.name(coordinates.back());
    }
    here(fiber);
    fiber.out += head + ") {\n" + arguments_of(entry);
    unpack(fiber, "xc_args.");
    declare_locals(fiber, true, static_bytes, coordinates);
    if (needs.watched)
        watch_arrays(fiber);
    else if (module.trace)
        fiber.line(fmt::format("if (!xc_trace_begin({}, XC_HERE)) return;", fiber.name(*module.trace)));
    fiber.body(module.fiber->body);
    if (needs.shadow) fiber.line("xc_shadow_end(XC_HERE);");
    return fiber.out + "}\n#undef XC_HERE\n";
}

// A kernel that the device runs over boxes of threads.
std::string cpu_box_function(const Module& module, const Function& f, const std::string& head, Needs& needs) {
    Writer w(module, f, Target::cpu, needs);
    here(w);
    w.out += head +
             "(const xc_launch* L, const void* P, xc_worker* W, const i64* xc_low, const i64* xc_high) {\n" +
             arguments_of(entry_name(module));
    unpack(w, "xc_args.");
    std::vector<VarId> bounds;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        for (const VarId v : {f.low[axis], f.high[axis]}) bounds.push_back(v);
        w.line(fmt::format("const i64 {} = xc_low[{}], {} = xc_high[{}];", w.name(f.low[axis]), axis,
                           w.name(f.high[axis]), axis));
    }
    declare_locals(w, false, 0, bounds);
    w.body(f.body);
    return w.out + "}\n#undef XC_HERE\n";
}

std::string cpu_domain(const Module& module, Needs& needs) {
    const BoxWork& work = *module.boxes;
    Writer w(module, module.kernel(), Target::cpu, needs);
    const std::string entry = entry_name(module);
    w.out = fmt::format("extern \"C\" const xc_cut {}_cut = {{{}, {}, {}, {}}};\n", entry, work.vector_axis,
                        work.width, work.rows, static_cast<std::int64_t>(work.weight));
    w.out += fmt::format(
        "extern \"C\" void {}_domain(const xc_launch* L, const void* P, i64* xc_low, i64* xc_high) {{\n{}",
        entry, arguments_of(entry));
    unpack(w, "xc_args.");
    for (std::size_t axis = 0; axis < 3; ++axis) {
        w.line(fmt::format("xc_low[{}] = {};", axis, w.expr(*work.low[axis])));
        w.line(fmt::format("xc_high[{}] = {};", axis, w.expr(*work.high[axis])));
    }
    return w.out + "}\n";
}

std::string cpu_kernel(const Module& module, Needs& needs) {
    const std::string entry = entry_name(module);
    const std::int64_t static_bytes = module.fiber ? static_shared_bytes(*module.fiber) : 0;
    std::string out = fmt::format("extern \"C\" const i64 {}_shared_bytes = {};\n", entry, static_bytes);
    if (module.boxes) {
        out += cpu_domain(module, needs);
        if (module.tiles)
            out += cpu_box_function(module, *module.tiles, "extern \"C\" bool " + entry + "_tiles", needs);
        const char* rare = module.tiles ? "XC_COLD " : "";
        return out + cpu_box_function(module, module.kernel(),
                                      fmt::format("extern \"C\" {}void {}", rare, entry), needs);
    }
    if (module.fiber) out += cpu_fiber(module, needs, static_bytes);
    if (module.whole_grid || (needs.watched && !needs.shadow))
        out +=
            fmt::format("extern \"C\" i64 {}_units(const xc_launch*, const void*) {{ return 1; }}\n", entry);
    const Function& f = module.kernel();
    Writer w(module, f, Target::cpu, needs);
    here(w);
    w.out += fmt::format(
        "extern \"C\" void {}(const xc_launch* L, const void* P, xc_worker* W, i64 {}, i64 {}) {{\n{}", entry,
        w.name(f.begin), w.name(f.end), arguments_of(entry));
    unpack(w, "xc_args.");
    declare_locals(w, false, 0);
    w.body(f.body);
    return out + w.out + "}\n#undef XC_HERE\n";
}

std::string cuda_kernel(const Module& module, Needs& needs) {
    Writer w(module, module.kernel(), Target::cuda, needs);
    const std::string entry = entry_name(module);
    std::string bounds;
    if (module.most_threads > 0) {
        bounds = fmt::format("__launch_bounds__({}", module.most_threads);
        if (module.least_blocks > 0) bounds += fmt::format(", {}", module.least_blocks);
        if (module.most_cluster > 0) bounds += fmt::format(", {}", module.most_cluster);
        bounds += ") ";
    }
    if (module.together > 1) bounds += fmt::format("__cluster_dims__(1, 1, {}) ", module.together);
    w.out = fmt::format(
        "#define XC_HERE F\nextern \"C\" __global__ {1}void {0}({2}const {0}_arguments xc_args, xc_fault* F) "
        "{{\n",
        entry, bounds, module.maps.empty() ? "" : "__grid_constant__ ");
    unpack(w, "xc_args.");
    declare_locals(w, false, moved_shared_bytes(module));
    if (needs.shadow) watch_arrays(w);
    w.body(module.kernel().body);
    if (needs.shadow) w.line("xc_shadow_end(XC_HERE);");
    return w.out + "}\n#undef XC_HERE\n";
}

// "f32x16": its element and its lanes.
std::string vector_typedef(const std::string& name, bool cpu) {
    const auto x = name.find('x');
    std::string element = name.substr(0, x);
    if (element == "b1") element = "i8";  // a mask's lane is 0 or -1
    if (!cpu) return fmt::format("typedef xc_vec<{}, {}> {};\n", element, name.substr(x + 1), name);
    return fmt::format("typedef {} {} __attribute__((ext_vector_type({})));\n", element, name,
                       name.substr(x + 1));
}

std::string quoted_path(const std::string& path) {
    std::string out;
    for (const char c : path) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out;
}

bool mentions(const std::string& text, std::span<const std::string_view> marks) {
    return std::any_of(marks.begin(), marks.end(),
                       [&](std::string_view mark) { return text.find(mark) != std::string::npos; });
}

}  // namespace

namespace {

Text emit_with(const Module& module, Target target, Needs& needs) {
    std::string functions, prototypes;
    for (std::size_t i = 1; i < module.functions.size(); ++i) {
        prototypes += device_function(module, i, target, needs, true);
        functions += device_function(module, i, target, needs, false);
    }
    const bool cpu = target == Target::cpu;
    const std::string kernel = cpu ? cpu_kernel(module, needs) : cuda_kernel(module, needs);
    Text text;
    text.entry = entry_name(module);
    if (!cpu) text.moved_shared_bytes = moved_shared_bytes(module);
    if (!cpu && needs.shadow) text.kernel = "#define blockIdx xc_permuted()\n";
    for (const std::string& name : needs.vector_types) text.kernel += vector_typedef(name, cpu);
    for (const std::string& declaration : needs.declarations) text.kernel += declaration + "\n";
    text.kernel += constant_arrays(module, cpu) + argument_struct(module) + prototypes;
    if (!functions.empty())
        text.kernel += cpu ? "#define XC_HERE W, L, xc_thread_x, xc_thread_y, xc_thread_z, xc_block_x, "
                             "xc_block_y, xc_block_z\n" +
                                 functions + "#undef XC_HERE\n"
                           : "#define XC_HERE F\n" + functions + "#undef XC_HERE\n";
    text.kernel += kernel;
    // The user's own CUDA C++ comes first: it then knows none of our names and macros.
    if (!cpu)
        for (const CudaSource& s : module.sources)
            text.source += fmt::format("#line 1 \"{}\"\n{}\n", quoted_path(s.name), s.text);
    if (!text.source.empty()) text.source += fmt::format("#line 1 \"{}\"\n", text.entry);
    text.source += std::string(cpu ? prelude_cpu() : prelude_cuda()) + std::string(prelude_math());
    for (const PreludePart& part : prelude_parts())
        if (mentions(text.kernel, part.marks)) text.source += part.text;
    text.source += text.kernel;
    return text;
}

}  // namespace

Text emit(const Module& module, Target target) {
    Needs needs;
    return emit_with(module, target, needs);
}

Text emit_shadow(const Module& module, Target target, WatchedPoints& points) {
    Needs needs;
    needs.watched = &points;
    needs.shadow = true;
    return emit_with(module, target, needs);
}

Text emit_watched(const Module& module, WatchedPoints& points) {
    Needs needs;
    needs.watched = &points;
    return emit_with(module, Target::cpu, needs);
}

}  // namespace xcuda::emit
