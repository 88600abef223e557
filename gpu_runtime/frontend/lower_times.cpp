// datetime64 and timedelta64: integers of a unit, with NumPy's rules. What is computed with them is computed by functions
// on int64; the IR knows them only as loaded, stored, chosen between and cast from and to int64.
#include <fmt/format.h>
#include <array>

#include "base/time_unit.hpp"
#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;
using ir::Type;

namespace {

const Type whole_type = ir::scalar(DType::i64);

enum class Operand { moment, span, whole, flag, real, other };

Operand operand_of(const Type& t) {
    if (is_datetime(t.dtype)) return Operand::moment;
    if (is_timedelta(t.dtype)) return Operand::span;
    if (is_integer(t.dtype)) return Operand::whole;
    if (t.dtype == DType::b1) return Operand::flag;
    return is_floating(t.dtype) ? Operand::real : Operand::other;
}

enum class Gives { moment, span, whole, real };

struct Rule {
    Op op;
    Operand a, b;
    Gives gives;
    const char* function;
};
using enum Operand;
// NumPy's table; a bool counts as a whole number but in division.
constexpr std::array rules{
    Rule{Op::add, moment, span, Gives::moment, "time_add"},
    Rule{Op::add, span, moment, Gives::moment, "time_add"},
    Rule{Op::add, moment, whole, Gives::moment, "time_add"},
    Rule{Op::add, whole, moment, Gives::moment, "time_add"},
    Rule{Op::add, span, span, Gives::span, "time_add"},
    Rule{Op::add, span, whole, Gives::span, "time_add"},
    Rule{Op::add, whole, span, Gives::span, "time_add"},
    Rule{Op::sub, moment, moment, Gives::span, "time_sub"},
    Rule{Op::sub, moment, span, Gives::moment, "time_sub"},
    Rule{Op::sub, moment, whole, Gives::moment, "time_sub"},
    Rule{Op::sub, span, span, Gives::span, "time_sub"},
    Rule{Op::sub, span, whole, Gives::span, "time_sub"},
    Rule{Op::sub, whole, span, Gives::span, "time_sub"},
    Rule{Op::mul, span, whole, Gives::span, "time_mul"},
    Rule{Op::mul, whole, span, Gives::span, "time_mul"},
    Rule{Op::mul, span, real, Gives::span, "time_mul_real"},
    Rule{Op::mul, real, span, Gives::span, "time_mul_real"},
    Rule{Op::truediv, span, whole, Gives::span, "time_div"},
    Rule{Op::truediv, span, real, Gives::span, "time_div_real"},
    Rule{Op::truediv, span, span, Gives::real, "time_ratio"},
    Rule{Op::floordiv, span, whole, Gives::span, "time_div"},  // NumPy cuts here, too
    Rule{Op::floordiv, span, real, Gives::span, "time_div_real"},
    Rule{Op::floordiv, span, span, Gives::whole, "time_floordiv"},
    Rule{Op::mod, span, span, Gives::span, "time_mod"},
};

struct OpText {
    Op op;
    const char* text;
};
constexpr std::array op_texts{OpText{Op::add, "+"},     OpText{Op::sub, "-"},       OpText{Op::mul, "*"},
                              OpText{Op::truediv, "/"}, OpText{Op::floordiv, "//"}, OpText{Op::mod, "%"},
                              OpText{Op::pow, "**"},    OpText{Op::shl, "<<"},      OpText{Op::shr, ">>"},
                              OpText{Op::bit_and, "&"}, OpText{Op::bit_or, "|"},    OpText{Op::bit_xor, "^"},
                              OpText{Op::lt, "<"},      OpText{Op::le, "<="},       OpText{Op::gt, ">"},
                              OpText{Op::ge, ">="},     OpText{Op::neg, "-"}};

const char* text_of(Op op) {
    for (const OpText& t : op_texts)
        if (t.op == op) return t.text;
    return "?";
}

std::string name_of(DType d) { return std::string(info(d).name); }

// Functions of the table that also take times, and what they lower to.
struct Twin {
    std::string_view name, time;
    bool spans_only = false;
};
constexpr std::array twins{
    Twin{"min", "time_min"},         Twin{"max", "time_max"},         Twin{"minimum", "time_minimum"},
    Twin{"maximum", "time_maximum"}, Twin{"fmin", "time_fmin"},       Twin{"fmax", "time_fmax"},
    Twin{"abs", "time_abs", true},   Twin{"sign", "time_sign", true},
};

}  // namespace

bool is_time_value(const ExprP& e) { return e->type.is_scalar() && is_time(e->type.dtype); }

ExprP time_bits(const ExprP& time) {
    if (is_constant(*time)) return ir::constant(ir::number_of(*time), whole_type, time->place);
    return ir::cast(time, whole_type);
}

ExprP time_of_bits(ExprP bits, DType dtype) { return ir::cast(std::move(bits), ir::scalar(dtype)); }

ExprP Lowering::time_apply(const char* name, std::vector<ExprP> args, const Place& place) {
    return table_apply(internal_function(name), name, std::move(args), place);
}

// A time's integer, from one unit to another.
ExprP Lowering::rescaled(ExprP bits, DType from, TimeUnit to, const Place& place) {
    const TimeUnit unit = unit_of(from);
    if (unit == to || unit == TimeUnit::generic) return bits;
    const auto by = [&](const char* name, std::int64_t n) {
        return time_apply(name, {bits, ir::constant(n, whole_type, place)}, place);
    };
    const auto refuse = [&](const std::string& why) {
        throw refused(place,
                      fmt::format("{} can't become {}: {}", name_of(from),
                                  name_of(is_datetime(from) ? datetime_of(to) : timedelta_of(to)), why),
                      "convert outside the kernel, or compute with np.int64(x)");
    };
    if (to == TimeUnit::generic) refuse("a unit can't be left out");
    if (is_calendar(unit) == is_calendar(to)) {
        const bool coarser = unit < to;
        const auto n = coarser ? units_in(unit, to) : units_in(to, unit);
        if (!n) refuse("one of them does not fit 64 bits");
        return by(coarser ? "time_mul" : "time_unscale", *n);
    }
    if (is_timedelta(from)) refuse("months and years have no fixed length");
    if (is_calendar(unit)) {
        const ExprP months = unit == TimeUnit::years ? by("time_mul", 12) : bits;
        return rescaled(time_apply("time_days_of_months", {months}, place), datetime_of(TimeUnit::days), to,
                        place);
    }
    const ExprP days = rescaled(bits, from, TimeUnit::days, place);
    return rescaled(time_apply("time_months_of_days", {days}, place), datetime_of(TimeUnit::months), to,
                    place);
}

// The integers of two operands in the finer unit of both; a whole number counts in the other's unit.
std::pair<ExprP, ExprP> Lowering::in_one_unit(const ExprP& a, const ExprP& b, TimeUnit unit,
                                              const Place& place) {
    const auto one = [&](const ExprP& e) {
        if (is_time_value(e)) return rescaled(time_bits(e), e->type.dtype, unit, place);
        return convert(e, whole_type);
    };
    return {one(a), one(b)};
}

ExprP Lowering::time_arithmetic(Op op, const ExprP& a, const ExprP& b, const Place& place) {
    const auto number_kind = [&](const ExprP& e) {
        const Operand o = operand_of(e->type);
        const bool counts = o == flag && (op == Op::add || op == Op::sub || op == Op::mul);
        return counts ? whole : o;
    };
    const Operand x = number_kind(a), y = number_kind(b);
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const Rule& r) { return r.op == op && r.a == x && r.b == y; });
    if (rule == rules.end())
        throw refused(
            place,
            fmt::format("{} between {} and {} has no meaning", text_of(op), spoken(a->type), spoken(b->type)),
            x == moment && y == moment ? "the difference of two is a timedelta64: a - b"
                                       : "convert one, as np.timedelta64(n, \"D\")");
    const TimeUnit unit = unit_of(promote(a->type.dtype, b->type.dtype));
    std::vector<ExprP> args;
    if (x == real || y == real) {
        args = {time_bits(x == real ? b : a), convert(x == real ? a : b, ir::scalar(DType::f64))};
    } else {
        auto [p, q] = in_one_unit(a, b, unit, place);
        args = {std::move(p), std::move(q)};
        if (x == whole && op == Op::mul) std::swap(args[0], args[1]);
    }
    ExprP result = time_apply(rule->function, std::move(args), place);
    if (rule->gives == Gives::whole || rule->gives == Gives::real) return result;
    return time_of_bits(std::move(result),
                        rule->gives == Gives::moment ? datetime_of(unit) : timedelta_of(unit));
}

ExprP Lowering::time_comparison(Op op, const ExprP& a, const ExprP& b, const Place& place) {
    const Operand x = operand_of(a->type), y = operand_of(b->type);
    const bool equality = op == Op::eq || op == Op::ne;
    const auto counts = [](Operand o) { return o == span || o == whole || o == flag; };
    if (!(x == moment && y == moment) && !(counts(x) && counts(y))) {
        if (equality && y != other && x != other)  // as NumPy: of two kinds, never equal
            return ir::constant(op == Op::ne, ir::scalar(DType::b1), place);
        throw refused(place, fmt::format("{} and {} have no order", spoken(a->type), spoken(b->type)),
                      "compare two of one kind");
    }
    const auto [p, q] = in_one_unit(a, b, unit_of(promote(a->type.dtype, b->type.dtype)), place);
    const auto test = [&](const char* name, const ExprP& first, const ExprP& second) {
        return time_apply(name, {first, second}, place);
    };
    switch (op) {
        case Op::lt: return test("time_lt", p, q);
        case Op::gt: return test("time_lt", q, p);
        case Op::le: return test("time_le", p, q);
        case Op::ge: return test("time_le", q, p);
        case Op::eq: return test("time_eq", p, q);
        default: return negate(Op::logic_not, test("time_eq", p, q), place);
    }
}

ExprP Lowering::convert_time(const ExprP& value, const Type& type) {
    const Operand from = operand_of(value->type), to = operand_of(type);
    const Place& place = value->place;
    if (from == to)
        return time_of_bits(rescaled(time_bits(value), value->type.dtype, unit_of(type.dtype), place),
                            type.dtype);
    if ((from == whole || from == flag) && to == span)
        return time_of_bits(convert(value, whole_type), type.dtype);
    const std::string wanted = name_of(type.dtype);
    throw refused(place, fmt::format("{} can't become {}", spoken(value->type), wanted),
                  to == moment              ? "write np.datetime64(n, \"D\")"
                  : to == span              ? "write np.timedelta64(n, \"D\")"
                  : is_integer(type.dtype)  ? "write np.int64(x)"
                  : type.dtype == DType::b1 ? "write bool(x)"
                                            : "divide by one: x / np.timedelta64(1, \"s\")");
}

ExprP Lowering::time_function(const KernelFunction& function, std::vector<ExprP> args, const Place& place) {
    const std::string name(function.name);
    const auto is_moment = [](const ExprP& e) { return operand_of(e->type) == moment; };
    const bool first_is_time = is_time_value(args[0]);
    if (args.size() == 1 && first_is_time) {
        const auto isnat = [&] { return time_apply("isnat", {time_bits(args[0])}, place); };
        if (name == "isnat" || name == "isnan") return isnat();
        if (name == "isfinite") return negate(Op::logic_not, isnat(), place);
        if (name == "isinf") return ir::constant(false, ir::scalar(DType::b1), place);
    }
    if (name == "clip" && args.size() == 3)
        return table_apply(
            *find_function("numpy.minimum"), "numpy.minimum",
            {table_apply(*find_function("numpy.maximum"), "numpy.maximum", {args[0], args[1]}, place),
             args[2]},
            place);
    const auto twin = std::find_if(twins.begin(), twins.end(), [&](const Twin& t) { return t.name == name; });
    const bool suits = twin != twins.end() && !(twin->spans_only && is_moment(args[0]));
    Type type = args[0]->type;
    for (const ExprP& a : args) type = ir::join(type, a->type);
    if (!suits) {
        std::string found;
        for (const ExprP& a : args) found += (found.empty() ? "" : " and ") + spoken(a->type);
        throw refused(place, fmt::format("{}() does not take {}", name, found),
                      "compute with np.int64(x), or with x / np.timedelta64(1, \"s\")");
    }
    type.weak = false;
    for (ExprP& a : args) a = time_bits(convert(a, type));
    ExprP result = time_apply(std::string(twin->time).c_str(), std::move(args), place);
    return result->type.dtype == DType::i64 ? time_of_bits(std::move(result), type.dtype) : result;
}

// np.timedelta64(n, "D"), np.datetime64(n, "D"), of a number, a time of another unit or "NaT".
Value Lowering::call_time(DType dtype, const Node& node) {
    const bool is_moment = is_datetime(dtype);
    const std::string name = is_moment ? "datetime64" : "timedelta64";
    const auto args = bind(node, name, {"value", "unit"}, 1);
    DType wanted = dtype;
    if (args[1]) {
        const Value unit = value(*args[1]);
        const auto named = unit.kind == Value::Kind::string ? dtype_from_name(name + "[" + unit.text + "]")
                                                            : std::optional<DType>();
        if (!named)
            throw refused(args[1]->place, fmt::format("{} is no unit of time", spoken(unit)),
                          "write one of \"Y\", \"M\", \"W\", \"D\", \"h\", \"m\", \"s\", \"ms\", \"us\", "
                          "\"ns\", \"ps\", "
                          "\"fs\", \"as\"");
        wanted = *named;
    }
    const Value v = value(*args[0]);
    const auto nat = [&](DType d) {
        return scalar_value(ir::constant(std::int64_t{INT64_MIN}, ir::scalar(d), node.place));
    };
    if (v.kind == Value::Kind::string) {
        if (v.text == "NaT" || v.text == "nat" || v.text.empty()) return nat(wanted);
        throw refused(args[0]->place, "a date can't be read from a string in a kernel",
                      "make it outside the kernel: T0 = np.datetime64(\"" + v.text + "\")");
    }
    const ExprP x = number(v, args[0]->place);
    if (x->type.is_none()) return scalar_value(x);
    if (is_time_value(x)) {
        if (!args[1] && unit_of(wanted) == TimeUnit::generic)
            wanted = is_moment ? datetime_of(unit_of(x->type.dtype)) : timedelta_of(unit_of(x->type.dtype));
        return scalar_value(convert(x, ir::scalar(wanted)));
    }
    if (!is_integer(x->type.dtype))
        throw refused(args[0]->place, fmt::format("{} needs an integer, found {}", name, spoken(x->type)),
                      "write int(x)");
    return scalar_value(time_of_bits(convert(x, whole_type), wanted));
}

}  // namespace xcuda::frontend
