#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "emit/apart.hpp"
#include "emit/integers.hpp"
#include "emit/names.hpp"
#include "emit/shadowed.hpp"
#include "emit/writer.hpp"
#include "frontend/functions.hpp"
#include "passes/build.hpp"

namespace xcuda::emit {

using namespace ir;

std::string length_name(const std::string& array, int axis) { return array + "_n" + std::to_string(axis); }
std::string stride_name(const std::string& array, int axis) { return array + "_s" + std::to_string(axis); }

std::string Writer::type(const Type& t) {
    std::string text(info(t.dtype).cpp);
    if (t.lanes == 1) return text;
    text += "x" + std::to_string(t.lanes);
    needs.vector_types.insert(text);
    return text;
}

namespace {

struct Infix {
    Op op;
    const char* text;
};
constexpr std::array infix_table{
    Infix{Op::add, "+"},     Infix{Op::sub, "-"},    Infix{Op::mul, "*"},     Infix{Op::truediv, "/"},
    Infix{Op::bit_and, "&"}, Infix{Op::bit_or, "|"}, Infix{Op::bit_xor, "^"}, Infix{Op::lt, "<"},
    Infix{Op::le, "<="},     Infix{Op::gt, ">"},     Infix{Op::ge, ">="},     Infix{Op::eq, "=="},
    Infix{Op::ne, "!="},
};

struct Named {
    Op op;
    const char* text;
};
constexpr std::array named_table{
    Named{Op::floordiv, "xc_floordiv"}, Named{Op::mod, "xc_mod"}, Named{Op::pow, "xc_pow"},
    Named{Op::shl, "xc_shl"},           Named{Op::shr, "xc_shr"},
};

const char* infix(Op op) {
    for (const Infix& row : infix_table)
        if (row.op == op) return row.text;
    return nullptr;
}

const char* named(Op op) {
    for (const Named& row : named_table)
        if (row.op == op) return row.text;
    return nullptr;
}

bool compares(Op op) { return op >= Op::lt && op <= Op::ne; }

std::string real(double v, DType dtype) {
    if (is_half(dtype)) return fmt::format("(({}){})", info(dtype).cpp, real(v, DType::f32));
    if (std::isnan(v)) return dtype == DType::f32 ? "XC_NAN32" : "XC_NAN64";
    if (std::isinf(v))
        return std::string(v < 0 ? "(-" : "(") + (dtype == DType::f32 ? "XC_INF32)" : "XC_INF64)");
    char buffer[64];
    const auto end = dtype == DType::f32
                         ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v)).ptr
                         : std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
    std::string text(buffer, end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    if (dtype == DType::f32) text += "f";
    return std::signbit(v) ? "(" + text + ")" : text;
}

std::string integer(std::int64_t v, DType dtype) {
    if (v == INT64_MIN) return "(-9223372036854775807ll - 1)";
    std::string text = std::to_string(v);
    constexpr std::int64_t small = 32767;  // products of two such are ints as well
    if (dtype == DType::i64 && (v > small || v < -small)) text += "ll";
    if (v < 0) text = "(" + text + ")";
    const bool as_it_is = dtype == DType::i64 || (dtype == DType::i32 && v > INT32_MIN && v <= INT32_MAX);
    return as_it_is ? text : fmt::format("({}){}", info(dtype).cpp, text);
}

std::string number(const Number& n, DType dtype) {
    if (is_complex(dtype)) {
        const auto* z = std::get_if<std::complex<double>>(&n);
        const DType part = part_of(dtype);
        return fmt::format("{}({}, {})", info(dtype).cpp, real(z ? z->real() : real_of(n), part),
                           real(z ? z->imag() : 0.0, part));
    }
    if (const auto* b = std::get_if<bool>(&n)) {
        if (dtype == DType::b1) return *b ? "true" : "false";
        return is_floating(dtype) ? real(*b, dtype) : integer(*b, dtype);
    }
    if (const auto* i = std::get_if<std::int64_t>(&n)) {
        if (dtype == DType::b1) return *i ? "true" : "false";
        if (is_floating(dtype)) return real(static_cast<double>(*i), dtype);
        if (dtype == DType::u64) return fmt::format("{}ull", static_cast<std::uint64_t>(*i));
        return integer(*i, dtype);
    }
    if (const auto* u = std::get_if<std::uint64_t>(&n)) {
        if (is_floating(dtype)) return real(static_cast<double>(*u), dtype);
        return fmt::format("({}){}ull", info(dtype).cpp, *u);
    }
    return real(std::get<double>(n), dtype);
}

std::string substitute(std::string_view text, const std::vector<std::string>& args) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9')
            out += args[static_cast<std::size_t>(text[++i] - '0')];
        else
            out += text[i];
    }
    return out;
}

// Lane by lane: what has no vector form.
std::string each_lane(Writer& w, const Type& result, const std::vector<const Type*>& types,
                      const std::string& scalar_text, const std::vector<std::string>& args) {
    std::string params, passed;
    for (std::size_t a = 0; a < args.size(); ++a) {
        params += fmt::format("{}{} xc_{}", a ? ", " : "", info(types[a]->dtype).cpp, a);
        passed += ", " + args[a];
    }
    const std::string body =
        result.dtype == DType::b1 ? fmt::format("(i8)-(i8)({})", scalar_text) : scalar_text;
    return fmt::format("xc_each<{}>([]({}) {{ return {}; }}{})", w.type(result), params, body, passed);
}

std::vector<std::string> lane_names(const std::vector<const Type*>& types) {
    std::vector<std::string> names;
    for (std::size_t a = 0; a < types.size(); ++a)  // a mask's lane is 0 or -1
        names.push_back(types[a]->dtype == DType::b1 ? fmt::format("(xc_{} != 0)", a)
                                                     : fmt::format("xc_{}", a));
    return names;
}

std::vector<const Type*> types_of(const Expr& e) {
    std::vector<const Type*> types;
    for (const ExprP& a : e.args) types.push_back(&a->type);
    return types;
}

std::string libmvec(Writer& w, const Expr& e, std::string_view base, const std::vector<std::string>& args) {
    const std::size_t bytes = info(e.type.dtype).size * static_cast<std::size_t>(e.type.lanes);
    const char isa = bytes == 64 ? 'e' : bytes == 32 ? 'd' : bytes == 16 ? 'b' : 0;
    if (!isa) return {};
    const std::string symbol =
        fmt::format("_ZGV{}N{}{}_{}", isa, e.type.lanes, std::string(args.size(), 'v'), base);
    const std::string t = w.type(e.type);
    std::string params, passed;
    for (std::size_t a = 0; a < args.size(); ++a) {
        params += (a ? ", " : "") + t;
        passed += (a ? ", " : "") + args[a];
    }
    w.needs.declarations.insert(fmt::format("extern \"C\" {} {}({}) noexcept;", t, symbol, params));
    return fmt::format("{}({})", symbol, passed);
}

std::string call(Writer& w, const Expr& e) {
    const frontend::Overload& row = frontend::overload(std::get<OverloadId>(e.payload));
    std::vector<std::string> args;
    for (const ExprP& a : e.args) args.push_back(w.expr(*a));
    const std::string_view text = w.cpu() ? row.cpu : row.cuda;
    if (e.type.lanes == 1) return substitute(text, args);
    constexpr std::string_view twin = "libmvec:";
    if (row.cpu_vector.starts_with(twin)) {
        if (std::string found = libmvec(w, e, row.cpu_vector.substr(twin.size()), args); !found.empty())
            return found;
    } else if (!row.cpu_vector.empty()) {
        return substitute(row.cpu_vector, args);
    }
    const auto types = types_of(e);
    return each_lane(w, e.type, types, substitute(text, lane_names(types)), args);
}

std::string vector_cast(Writer& w, const Expr& e) {
    const Type& from = e.args[0]->type;
    const std::string to = w.type(e.type), x = w.expr(*e.args[0]);
    if (from.dtype == e.type.dtype) return x;
    if (e.type.dtype == DType::b1) return fmt::format("__builtin_convertvector({} != 0, {})", x, to);
    if (from.dtype == DType::b1) return fmt::format("__builtin_convertvector({} & (i8)1, {})", x, to);
    const bool to_half = from.dtype == DType::f64 && e.type.dtype == DType::f16;
    if (to_half || (is_floating(from.dtype) &&
                    is_integer(e.type.dtype)))  // out of range as NumPy, which convertvector is not
        return each_lane(w, e.type, {&from}, fmt::format("xc_cast<{}>(xc_0)", info(e.type.dtype).cpp), {x});
    return fmt::format("__builtin_convertvector({}, {})", x, to);
}

std::string ramp(Writer& w, const Expr& e) {
    std::string steps;
    for (int l = 0; l < e.type.lanes; ++l) steps += fmt::format("{}{}", l ? ", " : "", l);
    const std::string t = w.type(e.type);
    return fmt::format("(({}){} + {}{{{}}})", t, w.expr(*e.args[0]), t, steps);
}

std::string vector_binary(Writer& w, const Expr& e, const std::string& a, const std::string& b) {
    if (compares(e.op))
        return fmt::format("__builtin_convertvector({} {} {}, {})", a, infix(e.op), b, w.type(e.type));
    if (const char* op = infix(e.op)) return fmt::format("({} {} {})", a, op, b);
    if (e.op == Op::shl || e.op == Op::shr)
        return fmt::format("{}({}, {})", e.op == Op::shl ? "xc_vshl" : "xc_vshr", a, b);
    const auto types = types_of(e);
    const auto names = lane_names(types);
    return each_lane(w, e.type, types, fmt::format("{}({}, {})", named(e.op), names[0], names[1]), {a, b});
}

// narrow: its low 32 bits, on CUDA.
std::string coordinate(Writer& w, const Coord& c, bool narrow = false) {
    static constexpr const char* axes[] = {"x", "y", "z"};
    const char* axis = axes[w.cpu() ? c.axis : w.module.hardware_axis[static_cast<std::size_t>(c.axis)]];
    if (w.cpu()) {
        switch (c.kind) {
            case Coord::Kind::block_dim: return fmt::format("L->block[{}]", c.axis);
            case Coord::Kind::grid_dim: return fmt::format("L->grid[{}]", c.axis);
            case Coord::Kind::grid_size: return fmt::format("(L->grid[{0}] * L->block[{0}])", c.axis);
            case Coord::Kind::thread: return fmt::format("xc_thread_{}", axis);  // in device functions
            case Coord::Kind::block: return fmt::format("xc_block_{}", axis);
            case Coord::Kind::global:
                return fmt::format("(xc_block_{0} * L->block[{1}] + xc_thread_{0})", axis, c.axis);
        }
    }
    const char* type = narrow ? "i32" : "i64";
    switch (c.kind) {
        case Coord::Kind::block_dim: return fmt::format("({})blockDim.{}", type, axis);
        case Coord::Kind::grid_dim: return fmt::format("({})gridDim.{}", type, axis);
        case Coord::Kind::thread: return fmt::format("({})threadIdx.{}", type, axis);
        case Coord::Kind::block: return fmt::format("({})blockIdx.{}", type, axis);
        case Coord::Kind::grid_size:
            return narrow ? fmt::format("(i32)(gridDim.{0} * blockDim.{0})", axis)
                          : fmt::format("((i64)gridDim.{0} * blockDim.{0})", axis);
        case Coord::Kind::global:
            return narrow ? fmt::format("(i32)(blockIdx.{0} * blockDim.{0} + threadIdx.{0})", axis)
                          : fmt::format("((i64)blockIdx.{0} * blockDim.{0} + threadIdx.{0})", axis);
    }
    return {};
}

std::string length(Writer& w, const Expr& array, int axis) {
    const Type& t = array.type;
    const std::string& name = w.name(var_of(array));
    if (axis >= t.ndim) return stride_name(name, axis - t.ndim);
    if (t.space != Space::global && !t.extents.empty())
        return std::to_string(t.extents[static_cast<std::size_t>(axis)]);
    return length_name(name, axis);
}

struct AtomicName {
    Atomic::Kind kind;
    const char* text;
};
constexpr std::array atomic_names{
    AtomicName{Atomic::Kind::add, "<xc_op_add>"},       AtomicName{Atomic::Kind::sub, "<xc_op_sub>"},
    AtomicName{Atomic::Kind::max, "<xc_op_max>"},       AtomicName{Atomic::Kind::min, "<xc_op_min>"},
    AtomicName{Atomic::Kind::exch, "<xc_op_exch>"},     AtomicName{Atomic::Kind::cas, "_cas"},
    AtomicName{Atomic::Kind::bit_and, "<xc_op_and>"},   AtomicName{Atomic::Kind::bit_or, "<xc_op_or>"},
    AtomicName{Atomic::Kind::bit_xor, "<xc_op_xor>"},   AtomicName{Atomic::Kind::inc, "<xc_op_inc>"},
    AtomicName{Atomic::Kind::dec, "<xc_op_dec>"},       AtomicName{Atomic::Kind::nanmax, "<xc_op_nanmax>"},
    AtomicName{Atomic::Kind::nanmin, "<xc_op_nanmin>"},
};

// Part by part: the sum is whole, a reader may see half of it.
const char* complex_atomic(Atomic::Kind kind) {
    return kind == Atomic::Kind::sub ? "xc_atomic_sub_complex" : "xc_atomic_add_complex";
}

std::string atomic(Writer& w, const Expr& e) {
    const Atomic& a = std::get<Atomic>(e.payload);
    const Type& array = e.args[0]->type;
    if (a.kind == Atomic::Kind::address) {
        const auto touch = w.needs.shadow ? Writer::Touch::none : Writer::Touch::atomic;
        const std::string at = w.element(*e.args[0], e.args.data() + 1, a.access, touch);
        return array.layout == Layout::bytes ? "(u64)(" + at + ")" : "(u64)(&" + at + ")";
    }
    const bool local = array.space == Space::local, complex = is_complex(e.type.dtype);
    static constexpr const char* parts[] = {"", ".re", ".im"};
    std::string values;
    for (std::size_t i = 1 + static_cast<std::size_t>(array.ndim); i < e.args.size(); ++i)
        values +=
            fmt::format(", ({}){}", w.type(e.type), w.expr(*e.args[i]));  // told: a literal's C++ type is int
    for (const AtomicName& row : atomic_names)
        if (row.kind == a.kind)
            return fmt::format("{}(&{}{}{})",
                               complex && !local ? complex_atomic(a.kind)
                                                 : (local ? "xc_local" : "xc_atomic") + std::string(row.text),
                               w.element(*e.args[0], e.args.data() + 1, a.access, Writer::Touch::atomic),
                               parts[static_cast<int>(a.part)], values);
    return {};
}

std::string load(Writer& w, const Expr& e) {
    const Access& access = access_of(e);
    const std::string at = w.element(*e.args[0], e.args.data() + 1, access, Writer::Touch::read);
    if (e.args[0]->type.layout == Layout::bytes) return fmt::format("xc_get<{}>({})", w.type(e.type), at);
    if (e.type.lanes == 1) return w.hinted(access.hint, at, nullptr);
    const Expr& stride = *e.args.back();
    const bool contiguous = stride.op == Op::constant && std::get<std::int64_t>(number_of(stride)) == 1;
    const bool mask = e.type.dtype == DType::b1;
    const std::string pointer = (mask ? "(const i8*)&" : "&") + at;
    std::string tail;
    if (access.masked) tail = ", " + w.name(w.function.tail);
    const char* how = access.masked ? "_n" : w.cpu() || access.aligned ? "" : "_unaligned";
    std::string text = contiguous ? fmt::format("xc_vload{}<{}>({}{})", how, w.type(e.type), pointer, tail)
                                  : fmt::format("xc_vgather{}<{}>({}, {}{})", access.masked ? "_n" : "",
                                                w.type(e.type), pointer, w.expr(stride), tail);
    if (mask && !w.cpu())
        return fmt::format("xc_each<{}>([](i8 xc_0) {{ return (i8)-xc_0; }}, {})", w.type(e.type), text);
    return mask ? "(-" + text + ")" : text;
}

std::string bound(Writer& w, const Expr& e) {
    const Access& access = access_of(e);
    const std::string index = w.expr(*e.args[0]);
    if (!access.checked && !access.wrap) return index;
    const std::string length = w.expr(*e.args[1]);
    if (!access.checked) return fmt::format("xc_wrap({}, {})", index, length);
    return fmt::format("{}({}, {}, {}, {}, XC_HERE)", access.wrap ? "xc_index" : "xc_index_nowrap", index,
                       length, access.site, std::countr_zero(access.checked));
}

std::string print(Writer& w, const Expr& e) {
    std::string text = fmt::format("xc_print({}, XC_HERE", access_of(e).site);
    for (const ExprP& a : e.args) text += fmt::format(", ({}){}", w.type(a->type), w.expr(*a));
    return text + ")";
}

// In elements; a contiguous array has no variables for them.
std::string stride(Writer& w, const Expr& array, const std::string& name, int axis) {
    if (array.type.layout != Layout::contiguous) return stride_name(name, axis);
    std::string product = "1";
    for (int d = axis + 1; d < array.type.ndim; ++d) product += " * " + length(w, array, d);
    return product;
}

std::string invoke(Writer& w, const Expr& e) {
    const Function& callee =
        w.module.functions[static_cast<std::size_t>(std::get<FunctionId>(e.payload).value)];
    std::string text =
        fmt::format("xc_fn_{}_{}(XC_HERE", identifier(callee.name), std::get<FunctionId>(e.payload).value);
    for (const ExprP& a : e.args) {
        if (!a->type.is_array()) {
            text += ", " + w.expr(*a);
            continue;
        }
        const std::string& name = w.name(var_of(*a));
        text += ", " + name;
        for (int d = 0; d < a->type.ndim; ++d) text += ", " + length(w, *a, d);
        for (int d = 0; d < a->type.ndim; ++d)
            text += ", " + (a->type.space == Space::global ? stride(w, *a, name, d) : "0");
    }
    return text + ")";
}

}  // namespace

std::string Writer::hinted(CacheHint hint, const std::string& at, const std::string* value) const {
    static constexpr const char* words[] = {"", "ca", "cg", "cs", "lu", "cv", "wb", "wt"};
    if (cpu() || hint == CacheHint::none) return value ? fmt::format("{} = {}", at, *value) : at;
    const char* word = words[static_cast<int>(hint)];
    return value ? fmt::format("xc_st_{}(&{}, {})", word, at, *value)
                 : fmt::format("xc_ld_{}(&{})", word, at);
}

std::string Writer::element(const Expr& array, const ExprP* indices, const Access& access, Touch touch) {
    const Type& t = array.type;
    const std::string& name = this->name(var_of(array));
    std::string offset;
    for (int d = 0; d < t.ndim; ++d) {
        std::string index = expr(*indices[d]);
        const bool checked = access.checked >> d & 1, wraps = access.wrap >> d & 1;
        const std::string n = length(*this, array, d);
        const bool in_32_bits = !cpu() && module.narrow_index;  // every array allows it
        const bool is_int = in_32_bits && indices[d]->type.dtype == DType::i32;
        const auto narrow = [&](const std::string& text) {
            return in_32_bits ? "(i32)(" + text + ")" : text;
        };
        const std::string limit = is_int && t.extents.empty() ? "(i32)" + n : n;
        if (checked)
            index = fmt::format("{}({}, {}, {}, {}, XC_HERE)", wraps ? "xc_index" : "xc_index_nowrap", index,
                                limit, access.site, d);
        else if (wraps)
            index = fmt::format("xc_wrap({}, {})", index, limit);
        if (!is_int) index = narrow(index);
        const bool plain = !unit_stride(t.layout) || (t.layout == Layout::inner && d + 1 < t.ndim);
        if (plain) {
            offset += fmt::format("{}{} * {}", d ? " + " : "", index, narrow(stride_name(name, d)));
        } else if (t.layout == Layout::inner) {
            offset += (d ? " + " : "") + index;
        } else {
            offset = d ? fmt::format("({}) * {} + {}", offset, narrow(n), index) : index;
        }
    }
    if (!t.ndim) offset = "0";
    const bool bytes = t.layout == Layout::bytes;
    std::string at =
        bytes ? fmt::format("((u8*){} + ({}))", name, offset) : fmt::format("{}[{}]", name, offset);
    if (!module.trace || t.space == Space::constant || (t.space == Space::local && !needs.watched)) return at;
    static constexpr const char* words[] = {"XC_READ", "XC_WRITE", "XC_ATOMIC"};
    if (touch == Touch::none) return at;
    if (needs.shadow) return shadowed(*this, array, at, words[static_cast<int>(touch)], access.site);
    return fmt::format("{}({}, {}, {}, XC_HERE)", bytes ? "xc_touched_at" : "xc_touched", at,
                       words[static_cast<int>(touch)], access.site);
}

namespace {

// A floating operation of finite numbers may give inf or nan: of a watched kernel it is looked at.
bool is_watched(const Type& t) {
    return t.is_scalar() && t.lanes == 1 &&
           (t.dtype == DType::f16 || t.dtype == DType::f32 || t.dtype == DType::f64);
}

bool may_lose_finiteness(const Expr& e) {
    if (!is_watched(e.type)) return false;
    const bool arithmetic = (e.op >= Op::add && e.op <= Op::pow) || e.op == Op::cast || e.op == Op::call;
    if (!arithmetic || effect_of(e) != Effect::none || e.args.empty()) return false;
    bool any = false;
    for (const ExprP& a : e.args) {
        if (!is_watched(a->type) && !is_integer(a->type.dtype) && a->type.dtype != DType::b1) return false;
        if (a->type.lanes > 1) return false;
        any |= is_watched(a->type);
    }
    return any && !(e.op == Op::cast && info(e.type.dtype).size >= info(e.args[0]->type.dtype).size);
}

std::string operation_name(const Expr& e) {
    if (e.op == Op::cast) return std::string(info(e.type.dtype).name);
    if (e.op == Op::call) return std::string(frontend::function_of(std::get<OverloadId>(e.payload)).name);
    if (const char* op = infix(e.op)) return op;
    return e.op == Op::floordiv ? "//" : e.op == Op::mod ? "%" : "**";
}

std::string watched_operation(Writer& w, const Expr& e) {
    const int n = w.counter++;
    // NVRTC knows no ({ ... }).
    std::string text = w.cpu() ? "({ " : "[&]() { ", tested = "true", shown;
    std::vector<std::string> names;
    for (const ExprP& a : e.args) {
        names.push_back(fmt::format("xc_a{}_{}", n, names.size()));
        text += fmt::format("const {} {} = {}; ", w.type(a->type), names.back(), w.expr(*a));
        if (is_floating(a->type.dtype)) tested += fmt::format(" && xc_is_finite({})", names.back());
        if (names.size() <= 2 && !is_complex(a->type.dtype))
            shown += fmt::format(", xc_cast<f64>({})", names.back());
    }
    for (std::size_t i = std::min<std::size_t>(names.size(), 2); i < 2; ++i) shown += ", 0";
    const std::string t = w.type(e.type);
    std::string made;
    if (e.op == Op::cast)
        made = fmt::format("xc_cast<{}>({})", t, names[0]);
    else if (e.op == Op::call)
        made = substitute(w.cpu() ? frontend::overload(std::get<OverloadId>(e.payload)).cpu
                                  : frontend::overload(std::get<OverloadId>(e.payload)).cuda,
                          names);
    else if (const char* op = infix(e.op))
        made = fmt::format("({} {} {})", names[0], op, names[1]);
    else
        made = fmt::format("{}<{}>({}, {})", named(e.op), t, names[0], names[1]);
    w.needs.watched->operations.push_back(
        {e.place.known() ? e.place : w.last_line, operation_name(e), static_cast<int>(names.size())});
    return text +
           fmt::format(
               "const {} xc_r{} = {}; if (!xc_is_finite(xc_r{}) && {}) xc_born({}, xc_cast<f64>(xc_r{}){}, "
               "XC_HERE); {}xc_r{}; {}",
               t, n, made, n, tested, w.needs.watched->operations.size() - 1, n, shown,
               w.cpu() ? "" : "return ", n, w.cpu() ? "})" : "}()");
}

// CUDA has no vector arithmetic: each operation lane by lane, which costs nothing; loads and stores are vectors.
std::string cuda_vector(Writer& w, const Expr& e) {
    std::vector<std::string> args;
    for (const ExprP& a : e.args) args.push_back(w.expr(*a));
    const auto types = types_of(e);
    const auto n = lane_names(types);
    const auto lanes = [&](const std::string& text) { return each_lane(w, e.type, types, text, args); };
    switch (e.op) {
        case Op::ramp: return fmt::format("xc_ramp<{}>({})", w.type(e.type), args[0]);
        case Op::splat:
            return e.type.dtype == DType::b1
                       ? fmt::format("xc_splat<{}>((i8)-(i8)({}))", w.type(e.type), args[0])
                       : fmt::format("xc_splat<{}>({})", w.type(e.type), args[0]);
        case Op::neg: return lanes(as_computed(w, e, "(-" + n[0] + ")"));
        case Op::bit_not: return lanes(as_computed(w, e, "(~" + n[0] + ")"));
        case Op::logic_not: return lanes("(!" + n[0] + ")");
        case Op::logic_and: return lanes(fmt::format("({} && {})", n[0], n[1]));
        case Op::logic_or: return lanes(fmt::format("({} || {})", n[0], n[1]));
        case Op::cast: return lanes(fmt::format("xc_cast<{}>({})", info(e.type.dtype).cpp, n[0]));
        case Op::select:
            if (e.args[0]->type.lanes == 1) return fmt::format("({} ? {} : {})", args[0], args[1], args[2]);
            return lanes(fmt::format("({} ? {} : {})", n[0], n[1], n[2]));
        case Op::call: {
            const std::string_view text = frontend::overload(std::get<OverloadId>(e.payload)).cuda;
            if (text.starts_with("xc_e_")) return substitute(text, args);  // of numbers and vectors alike
            return lanes(substitute(text, n));
        }
        default: break;
    }
    const std::string x = low_bits(w, e, n[0]);
    if (const char* op = infix(e.op))
        return lanes(compares(e.op) ? fmt::format("({} {} {})", n[0], op, n[1])
                                    : as_computed(w, e, fmt::format("({} {} {})", x, op, n[1])));
    return lanes(fmt::format("{}<{}>({}, {})", named(e.op), info(e.type.dtype).cpp, x, n[1]));
}

}  // namespace

std::string Writer::expr(const Expr& e) {
    const bool vector = e.type.lanes > 1;
    if (needs.watched && may_lose_finiteness(e)) return watched_operation(*this, e);
    if (vector && !cpu() && e.op != Op::var && e.op != Op::load) return cuda_vector(*this, e);
    switch (e.op) {
        case Op::constant: return number(number_of(e), e.type.dtype);
        case Op::var: return name(var_of(e));
        case Op::dim: return length(*this, *e.args[0], std::get<Axis>(e.payload).value);
        case Op::coord: return coordinate(*this, coord_of(e));
        case Op::load: return load(*this, e);
        case Op::atomic: return atomic(*this, e);
        case Op::invoke: return invoke(*this, e);
        case Op::call: return call(*this, e);
        case Op::ramp: return ramp(*this, e);
        case Op::bound: return bound(*this, e);
        case Op::print: return print(*this, e);
        case Op::address: return "&" + element(*e.args[0], e.args.data() + 1, access_of(e), Touch::write);
        case Op::apart: return apart(*this, e);
        case Op::splat: {
            const std::string x = expr(*e.args[0]);
            if (e.type.dtype == DType::b1) return fmt::format("(({})(i8)-(i8)({}))", type(e.type), x);
            return fmt::format("(({})({}))", type(e.type), x);
        }
        case Op::cast:
            if (vector) return vector_cast(*this, e);
            if (e.type.dtype == e.args[0]->type.dtype) return expr(*e.args[0]);
            if (!cpu() && e.type.dtype == DType::i32 && e.args[0]->op == Op::coord)
                return coordinate(*this, coord_of(*e.args[0]), true);
            if (!cpu() && e.type.dtype == DType::i32 && e.args[0]->type.dtype == DType::i64 &&
                (e.args[0]->op == Op::dim || e.args[0]->op == Op::var))
                return "(i32)" + expr(*e.args[0]);
            return fmt::format("xc_cast<{}>({})", type(e.type), expr(*e.args[0]));
        case Op::neg: return as_computed(*this, e, fmt::format("(-{})", expr(*e.args[0])));
        case Op::bit_not: return as_computed(*this, e, fmt::format("(~{})", expr(*e.args[0])));
        case Op::logic_not: return (vector ? "(~" : "(!") + expr(*e.args[0]) + ")";
        case Op::logic_and:
            if (std::string text = vector ? "" : as_within(*this, *e.args[0], *e.args[1]); !text.empty())
                return text;
            if (!vector && e.args[0]->op == Op::logic_and)  // (a and b) and c
                if (std::string text = as_within(*this, *e.args[0]->args[1], *e.args[1]); !text.empty())
                    return fmt::format("({} && {})", expr(*e.args[0]->args[0]), text);
            return fmt::format("({} {} {})", expr(*e.args[0]), vector ? "&" : "&&", expr(*e.args[1]));
        case Op::logic_or:
            return fmt::format("({} {} {})", expr(*e.args[0]), vector ? "|" : "||", expr(*e.args[1]));
        case Op::select: {
            if (std::string text = vector ? "" : as_wrapped(*this, e); !text.empty()) return text;
            const std::string c = expr(*e.args[0]), yes = expr(*e.args[1]), no = expr(*e.args[2]);
            if (e.args[0]->type.lanes > 1)
                return e.type.dtype == DType::b1 ? fmt::format("(({0} & {1}) | (~{0} & {2}))", c, yes, no)
                                                 : fmt::format("xc_select({}, {}, {})", c, yes, no);
            return fmt::format("({} ? {} : {})", c, yes, no);
        }
        default: break;
    }
    const std::string a = low_bits(*this, e, expr(*e.args[0])), b = expr(*e.args[1]);
    if (vector) return vector_binary(*this, e, a, b);
    if (const char* op = infix(e.op)) {
        if (e.type.dtype == DType::b1 && !compares(e.op)) return fmt::format("(b1)({} {} {})", a, op, b);
        return as_computed(*this, e, fmt::format("({} {} {})", a, op, b));
    }
    if (const std::string text = by_power_of_two(e, a); !text.empty()) return as_computed(*this, e, text);
    if (e.op == Op::floordiv || e.op == Op::mod)
        if (const std::string text = by_constant(*this, e, a); !text.empty()) return text;
    const bool site = (e.op == Op::floordiv || e.op == Op::mod) &&
                      std::holds_alternative<Access>(e.payload) && access_of(e).checked;
    const std::string t = type(e.type);  // told: a literal's C++ type is int
    if (site)
        return fmt::format("{}<{}>({}, xc_nonzero<{}>({}, {}, XC_HERE))", named(e.op), t, a, t, b,
                           access_of(e).site);
    return fmt::format("{}<{}>({}, {})", named(e.op), t, a, b);
}

}  // namespace xcuda::emit
