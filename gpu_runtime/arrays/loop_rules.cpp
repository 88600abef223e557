#include "arrays/loop_rules.hpp"

#include <algorithm>
#include <array>

#include "frontend/function_table.hpp"
#include "frontend/functions.hpp"

namespace xcuda::arrays {
namespace {

using ir::ExprP;
using ir::Op;
using Args = std::span<const ExprP>;
using DTypes = std::span<const DType>;

DType computed(DType d) { return is_half(d) ? DType::f32 : d; }
ir::Type number(DType d) { return ir::scalar(d); }
// Half precision comes from float32 and goes to it, as NumPy has it; what is wider is rounded once.
ExprP as(const ExprP& e, DType d) {
    const DType from = e->type.dtype;
    if (from == d) return e;
    const bool once =
        d == DType::bf16 ? from == DType::f64 || is_integer(from) : d == DType::f16 && from == DType::f64;
    const bool direct = !is_half(from) && (!is_half(d) || once);
    const ExprP near = direct ? e : ir::cast(e, number(DType::f32));
    return ir::cast(near, number(d));
}
ExprP op(Op o, DType d, std::vector<ExprP> args) { return ir::make(o, number(d), std::move(args)); }
ExprP truth(const ExprP& e) { return cast_as_numpy(e, DType::b1); }

ExprP whole(std::int64_t v, DType d) {
    if (d == DType::b1) return ir::constant(v != 0, number(d));
    if (is_integer(d)) return ir::constant(v, number(d));
    if (is_complex(d)) return ir::constant(std::complex<double>(static_cast<double>(v)), number(d));
    return ir::constant(static_cast<double>(v), number(d));
}

ExprP internal(std::string_view name, std::vector<ExprP> args, DType out) {
    const frontend::KernelFunction& f = frontend::internal_function(name);
    for (int i = 0; i < f.overloads; ++i) {
        const frontend::Overload& o = frontend::overload({f.first_overload + i});
        const bool fits = o.out == out && o.in.size() == args.size() &&
                          std::equal(o.in.begin(), o.in.end(), args.begin(),
                                     [](DType d, const ExprP& a) { return a->type.dtype == d; });
        if (!fits) continue;
        auto node = std::make_shared<ir::Expr>(*ir::make(Op::call, number(out), std::move(args)));
        node->payload = ir::OverloadId{f.first_overload + i};
        return node;
    }
    throw bug("no overload of " + std::string(name));
}

bool same(DTypes in, DType out) {
    return std::all_of(in.begin(), in.end(), [&](DType d) { return d == out; });
}
bool number_of_any_kind(DTypes in, DType out) { return same(in, out) && out != DType::b1; }
bool real_number(DTypes in, DType out) { return number_of_any_kind(in, out) && !is_complex(out); }
bool inexact(DTypes in, DType out) { return same(in, out) && (is_floating(out) || is_complex(out)); }
bool floats(DTypes in, DType out) { return same(in, out) && is_floating(out); }
bool integers(DTypes in, DType out) { return same(in, out) && is_integer(out); }
bool complexes(DTypes in, DType out) { return same(in, out) && is_complex(out); }
bool bools(DTypes in, DType out) { return same(in, out) && out == DType::b1; }
bool compared(DTypes in, DType out) { return out == DType::b1 && in[0] == in[1] && !is_complex(in[0]); }
bool equated(DTypes in, DType out) { return out == DType::b1 && in[0] == in[1]; }
bool complex_order(DTypes in, DType out) { return out == DType::b1 && in[0] == in[1] && is_complex(in[0]); }
bool mixed(DTypes in, DType out) {
    return out == DType::b1 &&
           ((in[0] == DType::i64 && in[1] == DType::u64) || (in[0] == DType::u64 && in[1] == DType::i64));
}
bool float_to_i32(DTypes in, DType out) { return is_floating(in[0]) && out == DType::i32; }
bool to_bool(DTypes, DType out) { return out == DType::b1; }
bool exact_to_bool(DTypes in, DType out) {
    return out == DType::b1 && (is_integer(in[0]) || in[0] == DType::b1);
}
bool chosen(DTypes in, DType out) { return in[0] == DType::b1 && in[1] == out && in[2] == out; }

template <Op o>
ExprP arithmetic(const Loop& loop, Args a) {
    const DType d = computed(loop.out);
    std::vector<ExprP> args;
    for (const ExprP& e : a) args.push_back(as(e, d));
    return as(op(o, d, std::move(args)), loop.out);
}

template <Op o>
ExprP comparison(const Loop& loop, Args a) {
    DType d = computed(loop.in[0]);
    if (d == DType::b1) d = DType::u8;
    return op(o, DType::b1, {as(a[0], d), as(a[1], d)});
}

// Complex numbers compare by their real parts, then by the imaginary ones.
template <Op strict, Op last>
ExprP lexical(const Loop& loop, Args a) {
    const DType p = part_of(loop.in[0]);
    const ExprP re0 = internal("real", {a[0]}, p), re1 = internal("real", {a[1]}, p);
    const ExprP im0 = internal("imag", {a[0]}, p), im1 = internal("imag", {a[1]}, p);
    const DType b = DType::b1;
    const ExprP defined = op(Op::logic_and, b, {op(Op::eq, b, {im0, im0}), op(Op::eq, b, {im1, im1})});
    const ExprP first = op(Op::logic_and, b, {op(strict, b, {re0, re1}), defined});
    return op(Op::logic_or, b,
              {first, op(Op::logic_and, b, {op(Op::eq, b, {re0, re1}), op(last, b, {im0, im1})})});
}

ExprP mixed_order(const Loop& loop, Args a) {
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"less", "lt_mixed"},          {"less_equal", "le_mixed"}, {"greater", "gt_mixed"},
        {"greater_equal", "ge_mixed"}, {"equal", "eq_mixed"},      {"not_equal", "ne_mixed"}};
    for (const auto& [name, function] : names)
        if (name == loop.name) return internal(function, {a[0], a[1]}, DType::b1);
    throw bug("no mixed comparison " + loop.name);
}

template <Op o>
ExprP logic(const Loop&, Args a) {
    return op(o, DType::b1, {truth(a[0]), truth(a[1])});
}
ExprP logic_xor(const Loop&, Args a) {
    return op(Op::ne, DType::b1, {as(truth(a[0]), DType::u8), as(truth(a[1]), DType::u8)});
}
ExprP logic_not(const Loop&, Args a) { return op(Op::logic_not, DType::b1, {truth(a[0])}); }

ExprP itself(const Loop& loop, Args a) { return as(a[0], loop.out); }

ExprP chosen_of(const Loop& loop, Args a) { return op(Op::select, loop.out, {truth(a[0]), a[1], a[2]}); }

ExprP complex_power(const Loop& loop, Args a) { return internal("complex_pow", {a[0], a[1]}, loop.out); }

template <bool value>
ExprP always(const Loop&, Args) {
    return ir::constant(value, number(DType::b1));
}

// C's remainder: the sign is the dividend's.
ExprP c_remainder(const Loop& loop, Args a) {
    const DType d = loop.out, b = DType::b1;
    const ExprP r = op(Op::mod, d, {a[0], a[1]});
    if (!is_signed(d)) return r;
    const ExprP zero = whole(0, d);
    const ExprP differ = op(
        Op::ne, b, {as(op(Op::lt, b, {a[0], zero}), DType::u8), as(op(Op::lt, b, {a[1], zero}), DType::u8)});
    const ExprP off = op(Op::logic_and, b, {op(Op::ne, b, {r, zero}), differ});
    return op(Op::select, d, {off, op(Op::sub, d, {r, a[1]}), r});
}

ExprP heaviside(const Loop& loop, Args a) {
    const DType d = computed(loop.out), b = DType::b1;
    const ExprP x = as(a[0], d), zero = whole(0, d);
    const ExprP side = op(Op::select, d, {op(Op::lt, b, {x, zero}), zero, whole(1, d)});
    const ExprP known = op(Op::select, d, {op(Op::eq, b, {x, zero}), as(a[1], d), side});
    return as(op(Op::select, d, {op(Op::ne, b, {x, x}), x, known}), loop.out);
}

ExprP exponent(const Loop& loop, Args a) {
    return internal("frexp_exponent", {as(a[0], computed(loop.in[0]))}, loop.out);
}

ExprP float_power(const Loop& loop, Args a) {
    return is_complex(loop.out) ? complex_power(loop, a) : op(Op::pow, loop.out, {a[0], a[1]});
}

template <bool least>
ExprP complex_extreme(const Loop& loop, Args a) {
    const Loop order{0, "", {loop.out, loop.out}, DType::b1, 1, {}, nullptr};
    const ExprP before = least ? lexical<Op::lt, Op::le>(order, a) : lexical<Op::gt, Op::ge>(order, a);
    const ExprP nan = internal("isnan", {a[0]}, DType::b1);
    return op(Op::select, loop.out, {op(Op::logic_or, DType::b1, {before, nan}), a[0], a[1]});
}

constexpr std::array rules{
    Rule{"add", "+", 1, number_of_any_kind, arithmetic<Op::add>},
    Rule{"add", "|", 1, bools, logic<Op::logic_or>},
    Rule{"subtract", "-", 1, number_of_any_kind, arithmetic<Op::sub>},
    Rule{"multiply", "*", 1, number_of_any_kind, arithmetic<Op::mul>},
    Rule{"multiply", "&", 1, bools, logic<Op::logic_and>},
    Rule{"divide", "/", 4, inexact, arithmetic<Op::truediv>},
    Rule{"floor_divide", "//", 8, real_number, arithmetic<Op::floordiv>},
    Rule{"remainder", "%", 8, real_number, arithmetic<Op::mod>},
    Rule{"fmod", "", 8, integers, c_remainder},
    Rule{"power", "**", 12, real_number, arithmetic<Op::pow>},
    Rule{"power", "**", 20, complexes, complex_power},
    Rule{"float_power", "**", 20, inexact, float_power},
    Rule{"negative", "", 1, number_of_any_kind, arithmetic<Op::neg>},
    Rule{"positive", "", 0, number_of_any_kind, itself},
    Rule{"conjugate", "", 0, real_number, itself},
    Rule{"invert", "", 1, integers, arithmetic<Op::bit_not>},
    Rule{"invert", "", 1, bools, logic_not},
    Rule{"bitwise_and", "&", 1, integers, arithmetic<Op::bit_and>},
    Rule{"bitwise_and", "&", 1, bools, logic<Op::logic_and>},
    Rule{"bitwise_or", "|", 1, integers, arithmetic<Op::bit_or>},
    Rule{"bitwise_or", "|", 1, bools, logic<Op::logic_or>},
    Rule{"bitwise_xor", "^", 1, integers, arithmetic<Op::bit_xor>},
    Rule{"bitwise_xor", "^", 1, bools, logic_xor},
    Rule{"left_shift", "<<", 1, integers, arithmetic<Op::shl>},
    Rule{"right_shift", ">>", 1, integers, arithmetic<Op::shr>},
    Rule{"less", "<", 1, compared, comparison<Op::lt>},
    Rule{"less_equal", "<=", 1, compared, comparison<Op::le>},
    Rule{"greater", ">", 1, compared, comparison<Op::gt>},
    Rule{"greater_equal", ">=", 1, compared, comparison<Op::ge>},
    Rule{"equal", "==", 1, equated, comparison<Op::eq>},
    Rule{"not_equal", "!=", 1, equated, comparison<Op::ne>},
    Rule{"less", "<", 4, complex_order, lexical<Op::lt, Op::lt>},
    Rule{"less_equal", "<=", 4, complex_order, lexical<Op::lt, Op::le>},
    Rule{"greater", ">", 4, complex_order, lexical<Op::gt, Op::gt>},
    Rule{"greater_equal", ">=", 4, complex_order, lexical<Op::gt, Op::ge>},
    Rule{"less", "<", 2, mixed, mixed_order},
    Rule{"less_equal", "<=", 2, mixed, mixed_order},
    Rule{"greater", ">", 2, mixed, mixed_order},
    Rule{"greater_equal", ">=", 2, mixed, mixed_order},
    Rule{"equal", "==", 2, mixed, mixed_order},
    Rule{"not_equal", "!=", 2, mixed, mixed_order},
    Rule{"logical_and", "", 1, to_bool, logic<Op::logic_and>},
    Rule{"logical_or", "", 1, to_bool, logic<Op::logic_or>},
    Rule{"logical_xor", "", 1, to_bool, logic_xor},
    Rule{"logical_not", "", 1, to_bool, logic_not},
    Rule{"isnan", "", 0, exact_to_bool, always<false>},
    Rule{"isinf", "", 0, exact_to_bool, always<false>},
    Rule{"isfinite", "", 0, exact_to_bool, always<true>},
    Rule{"frexp_exponent", "", 12, float_to_i32, exponent},
    Rule{"heaviside", "", 3, floats, heaviside},
    Rule{"maximum", "", 4, complexes, complex_extreme<false>},
    Rule{"minimum", "", 4, complexes, complex_extreme<true>},
    Rule{"where", "", 1, chosen, chosen_of},
};

}  // namespace

ExprP cast_as_numpy(const ExprP& number, DType to) {
    const DType from = number->type.dtype;
    if (!is_complex(from) || is_complex(to)) return as(number, to);
    if (to == DType::b1) return op(Op::ne, DType::b1, {number, whole(0, from)});
    return as(internal("real", {number}, part_of(from)), to);
}

const Rule* rule_for(std::string_view name, DTypes in, DType out) {
    for (const Rule& r : rules)
        if (r.name == name && r.takes(in, out)) return &r;
    return nullptr;
}

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const Rule& r : rules) names.emplace_back(r.name);
    return names;
}

}  // namespace xcuda::arrays
