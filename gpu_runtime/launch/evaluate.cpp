#include "launch/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace xcuda::launch {
namespace {

using Value = std::optional<double>;

// Integers up to 2^53 are what shapes need; a double carries them and true division alike.
double floor_div(double a, double b) { return std::floor(a / b); }

struct Evaluator {
    const ir::Function& kernel;
    std::span<const Argument> arguments;

    const Argument* argument(ir::VarId id) const {
        const auto at = std::find(kernel.params.begin(), kernel.params.end(), id);
        const auto index = static_cast<std::size_t>(at - kernel.params.begin());
        return index < arguments.size() ? &arguments[index] : nullptr;
    }

    Value binary(const ir::Expr& e) const {
        const Value a = value(*e.args[0]);
        if (!a) return {};
        if (e.op == ir::Op::logic_and && *a == 0) return 0.0;
        if (e.op == ir::Op::logic_or && *a != 0) return 1.0;
        const Value b = value(*e.args[1]);
        if (!b) return {};
        const double x = *a, y = *b;
        using enum ir::Op;
        switch (e.op) {
            case add: return x + y;
            case sub: return x - y;
            case mul: return x * y;
            case truediv: return y == 0 ? Value{} : x / y;
            case floordiv: return y == 0 ? Value{} : floor_div(x, y);
            case mod: return y == 0 ? Value{} : x - y * floor_div(x, y);
            case pow: return std::pow(x, y);
            case shl: return y < 0 || y > 62 ? Value{} : std::ldexp(x, static_cast<int>(y));
            case shr: return y < 0 || y > 62 ? Value{} : std::floor(std::ldexp(x, -static_cast<int>(y)));
            case bit_and: return double(std::int64_t(x) & std::int64_t(y));
            case bit_or: return double(std::int64_t(x) | std::int64_t(y));
            case bit_xor: return double(std::int64_t(x) ^ std::int64_t(y));
            case lt: return x < y;
            case le: return x <= y;
            case gt: return x > y;
            case ge: return x >= y;
            case eq: return x == y;
            case ne: return x != y;
            case logic_and:
            case logic_or: return y != 0;
            default: return {};
        }
    }

    Value value(const ir::Expr& e) const {
        using enum ir::Op;
        switch (e.op) {
            case constant:
                return is_complex(e.type.dtype) ? std::nullopt : std::optional(ir::real_of(ir::number_of(e)));
            case var: {
                const Argument* a = argument(ir::var_of(e));
                return a ? number(*a) : Value{};
            }
            case dim: {
                const Argument* a = e.args[0]->op == var ? argument(ir::var_of(*e.args[0])) : nullptr;
                const int axis = std::get<ir::Axis>(e.payload).value;
                if (!a || !a->is_array || axis >= a->ndim) return {};
                return static_cast<double>(a->lengths[axis]);
            }
            case neg: {
                const Value a = value(*e.args[0]);
                return a ? Value(-*a) : a;
            }
            case bit_not: {
                const Value a = value(*e.args[0]);
                return a ? Value(-*a - 1) : a;
            }
            case logic_not: {
                const Value a = value(*e.args[0]);
                return a ? Value(*a == 0) : a;
            }
            case cast: {
                const Value a = value(*e.args[0]);
                if (!a) return a;
                return is_floating(e.type.dtype) ? *a : std::trunc(*a);
            }
            case select: {
                const Value c = value(*e.args[0]);
                return c ? value(*e.args[*c != 0 ? 1 : 2]) : c;
            }
            default: return e.args.size() == 2 ? binary(e) : Value{};
        }
    }
};

}  // namespace

std::optional<double> number(const Argument& a) {
    if (a.is_array) return {};
    switch (info(a.dtype).kind) {
        case DKind::boolean: return (a.bits & 0xff) != 0;
        case DKind::unsigned_int: return static_cast<double>(a.bits);
        case DKind::signed_int: {
            const int unused = 64 - 8 * static_cast<int>(info(a.dtype).size);
            return static_cast<double>(static_cast<std::int64_t>(a.bits << unused) >> unused);
        }
        case DKind::floating:
            if (a.dtype == DType::f64) return std::bit_cast<double>(a.bits);
            if (a.dtype == DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(a.bits));
            return {};
        case DKind::complex:
        case DKind::datetime:
        case DKind::timedelta: return {};
    }
    return {};
}

std::optional<std::int64_t> evaluate(const ir::Function& kernel, const ir::Expr& expr,
                                     std::span<const Argument> arguments) {
    const Value v = Evaluator{kernel, arguments}.value(expr);
    if (!v || !std::isfinite(*v) || std::abs(*v) > 9.0e15) return {};
    return static_cast<std::int64_t>(std::floor(*v));
}

}  // namespace xcuda::launch
