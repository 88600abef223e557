// Operators on numbers: NumPy's types, Python's meaning, literals folded exactly.
#include <array>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;
using ir::Type;

namespace {

const Type weak_int = ir::scalar(DType::i64, true);
const Type weak_float = ir::scalar(DType::f64, true);

struct OperatorName {
    const char* ast;
    Op op;
    const char* text;
};
constexpr std::array operators{
    OperatorName{"Add", Op::add, "+"},
    OperatorName{"Sub", Op::sub, "-"},
    OperatorName{"Mult", Op::mul, "*"},
    OperatorName{"Div", Op::truediv, "/"},
    OperatorName{"FloorDiv", Op::floordiv, "//"},
    OperatorName{"Mod", Op::mod, "%"},
    OperatorName{"Pow", Op::pow, "**"},
    OperatorName{"LShift", Op::shl, "<<"},
    OperatorName{"RShift", Op::shr, ">>"},
    OperatorName{"BitAnd", Op::bit_and, "&"},
    OperatorName{"BitOr", Op::bit_or, "|"},
    OperatorName{"BitXor", Op::bit_xor, "^"},
    OperatorName{"Lt", Op::lt, "<"},
    OperatorName{"LtE", Op::le, "<="},
    OperatorName{"Gt", Op::gt, ">"},
    OperatorName{"GtE", Op::ge, ">="},
    OperatorName{"Eq", Op::eq, "=="},
    OperatorName{"NotEq", Op::ne, "!="},
};

const char* symbol(Op op) {
    for (const OperatorName& o : operators)
        if (o.op == op) return o.text;
    return "?";
}

bool unknown(const ExprP& e) { return e->type.is_none(); }
ExprP unknown_value(const Place& place) { return ir::make(Op::constant, Type{}, {}, place); }

ExprP retyped(const ExprP& e, const Type& type) {
    ir::Expr copy = *e;
    copy.type = type;
    return std::make_shared<const ir::Expr>(std::move(copy));
}

ExprP literal_of(const ir::Number& n, const Place& place) {
    const DType d = std::holds_alternative<bool>(n)                   ? DType::b1
                    : is_integral(n)                                  ? DType::i64
                    : std::holds_alternative<std::complex<double>>(n) ? DType::c128
                                                                      : DType::f64;
    return ir::constant(n, ir::scalar(d, true), place);
}

bool weak_literal(const ExprP& e) { return is_constant(*e) && e->type.weak; }
bool is_bits(Op op) { return op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor; }
bool is_shift(Op op) { return op == Op::shl || op == Op::shr; }
bool integral(DType d) { return is_integer(d) || d == DType::b1; }

std::string plain(const ir::Number& n) {
    if (const auto* u = std::get_if<std::uint64_t>(&n)) return std::to_string(*u);
    if (const auto* i = std::get_if<std::int64_t>(&n)) return std::to_string(*i);
    if (const auto* b = std::get_if<bool>(&n)) return *b ? "True" : "False";
    return std::to_string(as_double(n));
}

// A complex number becomes another complex one, or a bool by its truth; nothing drops its imaginary part.
void expect_no_loss(const ExprP& value, DType to) {
    if (!is_complex(value->type.dtype) || is_complex(to)) return;
    throw refused(value->place, spoken(value->type) + " can't become " + std::string(info(to).name),
                  "write z.real, or abs(z)");
}

}  // namespace

// Half precision (float16, bfloat16) lives in memory and variables; what is computed with it is computed in float32 and
// rounded each time, as NumPy and ml_dtypes do. The IR has no other operation on it than casts from and to float32, from
// float64, and from integers to bfloat16.
ir::ExprP recast(ExprP value, const Type& type) {
    const DType from = value->type.dtype, to = type.dtype;
    const bool weak = value->type.weak;
    if (is_complex(to) && !is_complex(from) && from != part_of(to))
        value = recast(std::move(value), ir::scalar(part_of(to), weak));
    const bool at_once = (from == DType::f64 && (to == DType::f16 || is_float8(to))) ||
                         (to == DType::bf16 && (from == DType::f64 || is_integer(from)));
    const bool to_half = is_half(to) && from != DType::f32 && from != to && !at_once;
    const bool from_half = is_half(from) && to != DType::f32 && to != from;
    if (to_half || from_half) value = ir::cast(std::move(value), ir::scalar(DType::f32, weak));
    const Place place = value->place;
    return ir::make(Op::cast, type, {std::move(value)}, place);
}

bool is_constant(const ir::Expr& e) { return e.op == Op::constant && !e.type.is_none(); }

std::optional<Op> Lowering::operator_named(const std::string& ast_name) {
    for (const OperatorName& o : operators)
        if (ast_name == o.ast) return o.op;
    return std::nullopt;
}

ExprP Lowering::convert(ExprP value, const Type& type) {
    if (unknown(value) || type.is_none()) return value;
    if (value->type.dtype != type.dtype && (is_time(value->type.dtype) || is_time(type.dtype)))
        return convert_time(value, type);
    expect_no_loss(value, type.dtype);
    if (is_constant(*value)) {
        const ir::Number& n = ir::number_of(*value);
        const bool whole = is_integral(n) && !std::holds_alternative<bool>(n);
        if (value->type.weak && whole && is_integer(type.dtype) && !fits(n, type.dtype)) {
            const std::string name(info(type.dtype).name);
            throw refused(value->place, plain(n) + " does not fit " + name,
                          "use a wider type, as np.int64(x)");
        }
        return ir::constant(to_dtype(n, type.dtype), type, value->place);
    }
    if (value->type.dtype == type.dtype) return value;
    return recast(std::move(value), type);
}

ExprP Lowering::truth(ExprP value) {
    if (unknown(value) || value->type.dtype == DType::b1) return value;
    if (is_time_value(value)) value = time_bits(value);
    if (is_constant(*value))
        return ir::constant(truthy(ir::number_of(*value)), ir::scalar(DType::b1, true), value->place);
    const Place place = value->place;
    if (const bool weak = value->type.weak; is_half(value->type.dtype))
        value = convert(std::move(value), ir::scalar(DType::f32, weak));
    ExprP zero = ir::constant(to_dtype(std::int64_t{0}, value->type.dtype), value->type, place);
    return ir::make(Op::ne, ir::scalar(DType::b1, true), {std::move(value), std::move(zero)}, place);
}

ExprP Lowering::arithmetic(Op op, ExprP a, ExprP b, const Place& place) {
    if (unknown(a) || unknown(b)) return unknown_value(place);
    if (is_time_value(a) || is_time_value(b)) return time_arithmetic(op, a, b, place);
    if (weak_literal(a) && weak_literal(b)) {
        const Folded folded = fold(op, ir::number_of(*a), ir::number_of(*b));
        if (folded.result == Folded::Result::done) return literal_of(folded.number, place);
        if (folded.result == Folded::Result::too_big)
            throw refused(place, "this integer does not fit 64 bits", "write a float, as 2.0**64");
    }
    Type type = ir::join(a->type, b->type);
    if (is_half(type.dtype)) {
        const Type& half = type;
        const Type full = ir::scalar(DType::f32);
        a = convert(convert(std::move(a), half), full);
        b = convert(convert(std::move(b), half), full);
        return convert(arithmetic(op, std::move(a), std::move(b), place), half);
    }
    if (is_complex(type.dtype) && (op == Op::floordiv || op == Op::mod))
        throw refused(place,
                      std::string(symbol(op)) + " has no meaning for complex numbers, found " +
                          spoken(a->type) + " and " + spoken(b->type),
                      "work on z.real and z.imag");
    if (op == Op::pow) return power(std::move(a), std::move(b), place);
    if (type.dtype == DType::b1 && !is_bits(op)) {
        if (!type.weak && op == Op::sub)
            throw refused(place, "bools can't be subtracted", "write a ^ b or a != b");
        if (!type.weak && (op == Op::add || op == Op::mul))
            op = op == Op::add ? Op::bit_or : Op::bit_and;  // as NumPy has it for its bools
        else
            type = type.weak ? weak_int : ir::scalar(DType::i8);
    }
    if ((is_bits(op) || is_shift(op)) && !integral(type.dtype)) {
        const bool mixed = integral(a->type.dtype) && integral(b->type.dtype);
        throw refused(
            place,
            std::string(symbol(op)) + " needs integers, found " + spoken(a->type) + " and " + spoken(b->type),
            mixed ? "convert one: np.uint64(x) or np.int64(x)" : "write int(...)");
    }
    if (op == Op::truediv && !is_floating(type.dtype) && !is_complex(type.dtype))
        type = ir::scalar(DType::f64, type.weak);
    a = convert(std::move(a), type);
    b = convert(std::move(b), type);
    if (is_constant(*a) && is_constant(*b) &&
        is_integer(type.dtype)) {  // NumPy scalars: folded, wrapping around
        const Folded folded = fold(op, ir::number_of(*a), ir::number_of(*b));
        if (folded.result == Folded::Result::done)
            return ir::constant(to_dtype(folded.number, type.dtype), type, place);
    }
    if (op == Op::floordiv || op == Op::mod) return divide(op, std::move(a), std::move(b), type, place);

    // threadIdx + blockIdx * blockDim in any order is the thread's place in the grid, and blockDim * gridDim its size.
    using Kind = ir::Coord::Kind;
    if (op == Op::add && type.dtype == DType::i64) {
        for (const auto& [thread, product] : {std::pair{a, b}, std::pair{b, a}}) {
            const auto t = coord_of(*thread);
            if (!t || t->kind != Kind::thread || product->op != Op::mul) continue;
            const auto x = coord_of(*product->args[0]), y = coord_of(*product->args[1]);
            if (!x || !y || x->axis != t->axis || y->axis != t->axis) continue;
            const bool right = (x->kind == Kind::block && y->kind == Kind::block_dim) ||
                               (x->kind == Kind::block_dim && y->kind == Kind::block);
            if (right) return ir::coord(Kind::global, t->axis, place);
        }
    }
    if (op == Op::mul && type.dtype == DType::i64) {
        const auto x = coord_of(*a), y = coord_of(*b);
        const bool size = x && y && x->axis == y->axis &&
                          ((x->kind == Kind::block_dim && y->kind == Kind::grid_dim) ||
                           (x->kind == Kind::grid_dim && y->kind == Kind::block_dim));
        if (size) return ir::coord(Kind::grid_size, x->axis, place);
    }
    return ir::make(op, type, {std::move(a), std::move(b)}, place);
}

ExprP Lowering::divide(Op op, ExprP a, ExprP b, Type type, const Place& place) {
    ir::Expr node = *ir::make(op, type, {a, b}, place);
    const bool never_zero = is_constant(*b) && truthy(ir::number_of(*b));
    if (unit.checked && is_integer(type.dtype) && !never_zero) {
        ir::Access access;
        access.checked = 1;
        access.site = unit.site({ir::Site::Kind::zero_division, place, symbol(op), "", 0, -1, {}});
        node.payload = access;
    }
    return std::make_shared<const ir::Expr>(std::move(node));
}

ExprP Lowering::whole_power(ExprP a, std::int64_t n, const Place& place) {
    const Type type = a->type;
    if (n == 0) {
        evaluated(scalar_value(a));
        return ir::constant(to_dtype(std::int64_t{1}, type.dtype), type, place);
    }
    if (n == 1) return a;
    if (n == 2 && a->op == Op::var) return ir::make(Op::mul, type, {a, a}, place);
    const auto apply = [&](const char* name, std::vector<ExprP> args) {
        return table_apply(internal_function(name), name, std::move(args), place);
    };
    if (n == 2) return apply("square", {a});
    if (n == 3) return apply("cube", {a});
    if (n == 4) return apply("square", {apply("square", {a})});
    return apply("pow_int", {a, ir::int_constant(n, place)});
}

ExprP Lowering::complex_power(ExprP a, ExprP b, const Place& place) {
    if (is_constant(*b)) {
        const std::complex<double> n = as_complex(ir::number_of(*b));
        for (const int whole : {0, 1, 2, 3, 4})
            if (n == static_cast<double>(whole)) return whole_power(std::move(a), whole, place);
        if (n == 0.5) return table_apply(*find_function("numpy.sqrt"), "numpy.sqrt", {std::move(a)}, place);
    }
    return table_apply(internal_function("complex_pow"), "complex_pow", {std::move(a), std::move(b)}, place);
}

ExprP Lowering::power(ExprP a, ExprP b, const Place& place) {
    Type type = ir::join(a->type, b->type);
    if (type.dtype == DType::b1) type = type.weak ? weak_int : ir::scalar(DType::i8);
    const bool real = is_floating(type.dtype);
    if (is_complex(type.dtype)) return complex_power(convert(a, type), convert(b, type), place);
    if (weak_literal(b)) {
        const ir::Number& n = ir::number_of(*b);
        const double exponent = as_double(n);
        const bool whole = exponent == static_cast<double>(static_cast<std::int64_t>(exponent)) &&
                           std::abs(exponent) <= 64 && (is_integral(n) || exponent == 2.0 || exponent == 1.0);
        if (whole && exponent >= 0)
            return whole_power(convert(a, type), static_cast<std::int64_t>(exponent), place);
        if (whole && !real && !type.weak)
            throw refused(place,
                          "integers of dtype " + std::string(info(type.dtype).name) +
                              " have no negative powers (NumPy raises ValueError)",
                          "write float(x) ** " + plain(n));
        if (whole) {
            if (!real) type = weak_float;
            ExprP divisor = whole_power(convert(a, type), -static_cast<std::int64_t>(exponent), place);
            return ir::make(Op::truediv, type, {ir::constant(1.0, type, place), divisor}, place);
        }
        if (real && exponent == 0.5)
            return table_apply(*find_function("numpy.sqrt"), "numpy.sqrt", {convert(a, type)}, place);
    }
    a = convert(a, type);
    b = convert(b, type);
    if (!real && is_signed(type.dtype) && !nonnegative(*b)) {
        if (!repeatable(*b)) b = spill(b);
        ExprP zero = ir::constant(std::int64_t{0}, b->type, place);
        ir::Body body, *outside = out;
        out = &body;
        fault({ir::Site::Kind::raised,
               place,
               "ValueError",
               "Integers to negative integer powers are not allowed.",
               0,
               -1,
               {}});
        out = outside;
        emit(ir::branch(ir::make(Op::lt, ir::scalar(DType::b1, true), {b, zero}, place), std::move(body), {},
                        place));
    }
    return ir::make(Op::pow, type, {a, b}, place);
}

ExprP Lowering::comparison(Op op, ExprP a, ExprP b, const Place& place) {
    if (unknown(a) || unknown(b)) return unknown_value(place);
    if (is_time_value(a) || is_time_value(b)) return time_comparison(op, a, b, place);
    const Type result = ir::scalar(DType::b1, a->type.weak && b->type.weak);
    if (weak_literal(a) && weak_literal(b)) {
        const Folded folded = fold(op, ir::number_of(*a), ir::number_of(*b));
        if (folded.result == Folded::Result::done) return literal_of(folded.number, place);
    }
    if (!integral(a->type.dtype) || !integral(b->type.dtype)) {
        Type type = ir::join(a->type, b->type);
        if (is_complex(type.dtype) && op < Op::eq)
            throw refused(place,
                          std::string("complex numbers have no order: ") + symbol(op) + " between " +
                              spoken(a->type) + " and " + spoken(b->type),
                          "compare abs(z), or z.real");
        ExprP x = convert(a, type), y = convert(b, type);
        if (is_half(type.dtype)) {
            type.dtype = DType::f32;
            x = convert(x, type), y = convert(y, type);
        }
        return ir::make(op, result, {x, y}, place);
    }
    // Integers are compared exactly: a literal takes the other's type only where it fits, nothing goes through float.
    const auto dtype_beside = [](const ExprP& e, const ExprP& other) {
        if (!weak_literal(e)) return e->type.dtype;
        const ir::Number& n = ir::number_of(*e);
        if (is_integer(other->type.dtype) && fits(n, other->type.dtype)) return other->type.dtype;
        return fits(n, DType::i64) ? DType::i64 : DType::u64;
    };
    const DType x = dtype_beside(a, b), y = dtype_beside(b, a);
    const DType common = promote(x, y);
    if (integral(common)) {
        const Type type = ir::scalar(common, result.weak);
        return ir::make(op, result, {convert(a, type), convert(b, type)}, place);
    }
    const auto widen = [&](const ExprP& e, DType d) {
        return convert(e, ir::scalar(d == DType::u64 ? DType::u64 : DType::i64));
    };
    static constexpr const char* names[] = {"lt_mixed", "le_mixed", "gt_mixed",
                                            "ge_mixed", "eq_mixed", "ne_mixed"};
    const char* name = names[static_cast<int>(op) - static_cast<int>(Op::lt)];
    return table_apply(internal_function(name), name, {widen(a, x), widen(b, y)}, place);
}

ExprP Lowering::negate(Op op, ExprP a, const Place& place) {
    if (unknown(a)) return a;
    if (op == Op::logic_not) {
        a = truth(std::move(a));
        if (is_constant(*a)) return literal_of(!truthy(ir::number_of(*a)), place);
        return ir::make(Op::logic_not, ir::scalar(DType::b1, true), {std::move(a)}, place);
    }
    if (weak_literal(a)) {
        const Folded folded = fold(op, ir::number_of(*a));
        if (folded.result == Folded::Result::done) return literal_of(folded.number, place);
    }
    if (is_time_value(a) && op == Op::neg) {
        const DType dtype = a->type.dtype;
        if (is_datetime(dtype))
            throw refused(place, "a " + std::string(info(dtype).name) + " has no negative",
                          "subtract two: a - b is a timedelta64");
        return ir::cast(time_apply("time_neg", {time_bits(a)}, place), ir::scalar(dtype));
    }
    if (op == Op::bit_not && !integral(a->type.dtype))
        throw refused(place, "~ needs an integer, found " + spoken(a->type), "write int(...)");
    if (a->type.dtype == DType::b1) {
        if (a->type.weak)
            a = convert(std::move(a), weak_int);
        else if (op == Op::bit_not)
            return ir::make(Op::logic_not, Type(a->type), {a}, place);
        else
            throw refused(place, "a bool has no negative", "write not x");
    }
    const Type type = a->type;
    if (is_half(type.dtype))
        return convert(negate(op, convert(std::move(a), ir::scalar(DType::f32, type.weak)), place), type);
    return ir::make(op, type, {std::move(a)}, place);
}

Value Lowering::tuple_arithmetic(Op op, const Value& a, const Value& b, const Place& place) {
    if (a.only_fields || b.only_fields) {
        const Value& object = a.only_fields ? a : b;
        throw refused(place,
                      std::string(symbol(op)) + " between " + (a.only_fields ? a.text : spoken(a)) + " and " +
                          (b.only_fields ? b.text : spoken(b)) +
                          " has no meaning in a kernel: a dataclass is no number",
                      "write a method, and call it: def plus(self, other): return " + object.text + "(...)");
    }
    if (op == Op::add && a.is_tuple() && b.is_tuple()) {
        std::vector<Value> items = a.items;
        items.insert(items.end(), b.items.begin(), b.items.end());
        return tuple_value(std::move(items));
    }
    const Value& tuple = a.is_tuple() ? a : b;
    const auto count = constant_int(a.is_tuple() ? b : a);
    if (op == Op::mul && count && *count <= 64) {
        std::vector<Value> items;
        for (std::int64_t i = 0; i < *count; ++i)
            items.insert(items.end(), tuple.items.begin(), tuple.items.end());
        return tuple_value(std::move(items));
    }
    throw refused(place,
                  std::string(symbol(op)) + " between " + spoken(a) + " and " + spoken(b) + " has no meaning",
                  "name the items: t[0], t[1]");
}

ExprP Lowering::python_cast(DType dtype, bool weak, ExprP value, const Place& place) {
    if (unknown(value)) return value;
    if (is_time_value(value)) {
        if (dtype == DType::b1) return convert(truth(value), ir::scalar(dtype, weak));
        if (weak)
            throw refused(place,
                          spoken(value->type) + " is no number: " + (is_floating(dtype) ? "float" : "int") +
                              "() does not take it",
                          "write np.int64(x)");
        value = time_bits(value);
    }
    expect_no_loss(value, dtype);
    const Type type = ir::scalar(dtype, weak);
    if (is_constant(*value)) {
        const ir::Number& n = ir::number_of(*value);
        if (!weak) return convert(std::move(value), type);
        return literal_of(to_dtype(n, dtype), place);
    }
    if (value->type.dtype == dtype) return retyped(value, type);
    return recast(std::move(value), type);
}

}  // namespace xcuda::frontend
