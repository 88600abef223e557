#include "passes/narrow.hpp"

#include <algorithm>
#include <optional>

#include "frontend/functions.hpp"
#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/low_bits.hpp"
#include "passes/ranges.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

const Type i32 = scalar(DType::i32), u32 = scalar(DType::u32);

bool is_wide(const Type& t) {
    return t.is_scalar() && t.lanes == 1 && (t.dtype == DType::i64 || t.dtype == DType::u64);
}

bool carries_low_bits(Op op) {
    return op == Op::add || op == Op::sub || op == Op::mul || op == Op::neg || op == Op::bit_not ||
           op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor;
}

// The number in another integer type, its low bits where that is narrower.
ExprP converted(const ExprP& e, const Type& type) {
    const auto* v = e->op == Op::constant ? std::get_if<std::int64_t>(&number_of(*e)) : nullptr;
    if (!v || !is_integer(e->type.dtype)) return cast(e, type);
    if (type.dtype == DType::i32)
        return constant(std::int64_t{static_cast<std::int32_t>(*v)}, type, e->place);
    if (type.dtype == DType::u32)
        return constant(std::int64_t{static_cast<std::uint32_t>(*v)}, type, e->place);
    return cast(e, type);
}

// The overload of the same function for int32.
std::optional<OverloadId> for_int32(OverloadId id) {
    const frontend::KernelFunction& function = frontend::function_of(id);
    const std::size_t count = frontend::overload(id).in.size();
    for (int o = function.first_overload; o < function.first_overload + function.overloads; ++o) {
        const frontend::Overload& row = frontend::overload({o});
        const bool fits = std::all_of(row.in.begin(), row.in.end(), [](DType d) { return d == DType::i32; });
        if (row.in.size() == count && fits && row.out == DType::i32) return OverloadId{o};
    }
    return std::nullopt;
}

struct Narrower {
    Function& f;
    Ranges& ranges;
    bool narrow_arrays;
    std::vector<Type> types;  // of the variables, as they will be

    bool fits(const ExprP& e) const {
        if (!e->type.is_scalar() || e->type.lanes != 1 || !is_discrete(e->type.dtype) || !ranges.reached())
            return false;
        return ranges.of(e).within(int32_numbers);
    }
    bool fits_unsigned(const ExprP& e) const {
        return is_wide(e->type) && ranges.reached() && ranges.of(e).within(numbers_of(DType::u32));
    }
    bool divides_unsigned(const ExprP& e) const {
        return (e->op == Op::floordiv || e->op == Op::mod) && fits_unsigned(e->args[0]) &&
               fits_unsigned(e->args[1]);
    }

    // Emitted as a shift or a mask: no cheaper without a sign.
    static bool shifts(const ExprP& e) {
        const std::int64_t by = integer_of(e->args[1]).value_or(0);
        return by > 0 && (by & (by - 1)) == 0;
    }

    ExprP variable(const ExprP& e) const {
        return var(var_of(*e), types[static_cast<std::size_t>(var_of(*e))], e->place);
    }

    ExprP make_like(const Expr& e, Type type, std::vector<ExprP> args) const {
        auto node = std::make_shared<Expr>(e);
        node->type = std::move(type);
        node->args = std::move(args);
        return node;
    }

    template <class Change>
    ExprP chosen(const ExprP& e, const Type& type, Change change) {
        std::vector<ExprP> args{wide(e->args[0]), nullptr, nullptr};
        for (const bool holds : {true, false})
            ranges.under(e->args[0], holds, [&] { args[holds ? 1 : 2] = change(e->args[holds ? 1 : 2]); });
        return make_like(*e, type, std::move(args));
    }

    /// The same number as an int32, where it fits; its low bits where nothing is known.
    ExprP exact(const ExprP& e) {
        if (!is_wide(e->type)) return converted(wide(e), i32);
        if (!fits(e)) return converted(low(e), i32);
        const auto both_fit = [&] {
            return std::all_of(e->args.begin(), e->args.end(), [&](const ExprP& a) { return fits(a); });
        };
        switch (e->op) {
            case Op::constant: return constant(static_cast<std::int64_t>(ranges.of(e).low), i32, e->place);
            case Op::var: return converted(variable(e), i32);
            case Op::coord:
            case Op::dim: return converted(e, i32);
            case Op::cast:
                if (is_discrete(e->args[0]->type.dtype) && fits(e->args[0])) return exact(e->args[0]);
                break;
            case Op::select: return chosen(e, i32, [&](const ExprP& side) { return exact(side); });
            case Op::call: {
                const auto same_function = for_int32(std::get<OverloadId>(e->payload));
                if (!same_function || !both_fit()) break;
                auto node = std::make_shared<Expr>(*e);
                node->type = i32;
                for (ExprP& a : node->args) a = exact(a);
                node->payload = *same_function;
                return node;
            }
            case Op::floordiv:
            case Op::mod:
                if (divides_unsigned(e) && !(both_fit() && shifts(e)))
                    return converted(low_of_operation(e), i32);
                if (!both_fit()) break;
                return make_like(*e, i32, {exact(e->args[0]), exact(e->args[1])});
            case Op::shl:
                if (!both_fit() || !ranges.of(e->args[1]).within({0, 31})) break;
                return make_like(*e, i32, {exact(e->args[0]), exact(e->args[1])});
            case Op::shr:
                if (!both_fit()) break;
                return make_like(*e, i32, {exact(e->args[0]), exact(e->args[1])});
            default: {
                if (!carries_low_bits(e->op)) break;
                if (!both_fit()) return converted(low_of_operation(e), i32);
                std::vector<ExprP> args;
                for (const ExprP& a : e->args) args.push_back(exact(a));
                return make_like(*e, i32, std::move(args));
            }
        }
        return converted(kept(e), i32);
    }

    ExprP low_of_operation(const ExprP& e) {
        std::vector<ExprP> args;
        for (const ExprP& a : e->args) args.push_back(low(a));
        return make_like(*e, u32, std::move(args));
    }

    /// The number's lowest 32 bits. Unsigned, whose arithmetic wraps in C++ too.
    ExprP low(const ExprP& e) {
        if (!is_wide(e->type)) return converted(wide(e), u32);
        if (fits(e)) return converted(exact(e), u32);
        if (carries_low_bits(e->op)) return low_of_operation(e);
        switch (e->op) {
            case Op::constant: {
                const Interval v = ranges.reached() ? ranges.of(e) : only(0);
                return constant(static_cast<std::int64_t>(static_cast<std::uint32_t>(v.low)), u32, e->place);
            }
            case Op::var: return converted(variable(e), u32);
            case Op::cast:
                if (is_integer(e->args[0]->type.dtype)) return low(e->args[0]);
                break;
            case Op::select: return chosen(e, u32, [&](const ExprP& side) { return low(side); });
            case Op::shl:
                if (const auto by = integer_of(e->args[1]); by && *by >= 0 && *by < 32)
                    return make_like(*e, u32, {low(e->args[0]), constant(*by, u32)});
                break;
            default: break;
        }
        return converted(kept(e), u32);
    }

    ExprP index(const ExprP& e, bool as_it_is) {
        if (!is_wide(e->type)) return wide(e);
        if (fits(e)) return exact(e);
        return as_it_is && narrow_arrays ? converted(low(e), i32) : wide(e);
    }

    void indices(std::vector<ExprP>& args, const std::vector<ExprP>& from, int ndim, const Access& access) {
        for (int d = 0; d < ndim; ++d)
            args[static_cast<std::size_t>(d) + 1] =
                index(from[static_cast<std::size_t>(d) + 1], !((access.checked | access.wrap) >> d & 1));
    }

    /// Of its own type.
    ExprP wide(const ExprP& e) {
        if (is_wide(e->type)) {
            if (e->op == Op::var) return converted(variable(e), e->type);
            const bool leaf = e->op == Op::constant || e->op == Op::coord || e->op == Op::dim;
            const bool widened = e->op == Op::cast && !is_wide(e->args[0]->type);
            if (!leaf && !widened && fits(e)) {
                const ExprP made = exact(e);
                if (!computed_wide(*made)) return converted(made, e->type);
            }
            if (divides_unsigned(e)) return converted(low_of_operation(e), e->type);
        }
        return kept(e);
    }

    // An int32 that is a 64-bit result cut down: nothing was gained.
    static bool computed_wide(const Expr& made) { return made.op == Op::cast && is_wide(made.args[0]->type); }

    /// The node as it is, its arguments made narrower inside.
    ExprP kept(const ExprP& e) {
        if (e->op == Op::var && e->type.is_scalar()) return converted(variable(e), e->type);
        if (e->args.empty()) return e;
        if (e->op == Op::cast && is_wide(e->args[0]->type)) {
            const ExprP& from = e->args[0];
            const DType to = e->type.dtype;
            const bool number = to == DType::f32 || to == DType::f64 || (is_integer(to) && !is_wide(e->type));
            if (number && fits(from)) return converted(exact(from), e->type);
            if (is_integer(to) && !is_wide(e->type)) return converted(low(from), e->type);
        }
        if (e->op >= Op::lt && e->op <= Op::ne && is_wide(e->args[0]->type) && fits(e->args[0]) &&
            fits(e->args[1]))
            return with_args(*e, {exact(e->args[0]), exact(e->args[1])});
        if (e->op >= Op::lt && e->op <= Op::ne && fits_unsigned(e->args[0]) && fits_unsigned(e->args[1]))
            return with_args(*e, {low(e->args[0]), low(e->args[1])});
        if (e->op == Op::select) return chosen(e, e->type, [&](const ExprP& side) { return wide(side); });
        if (may_overflow(e)) return unsigned_of(e);
        std::vector<ExprP> args;
        if (e->op == Op::logic_and || e->op == Op::logic_or) {
            args = {wide(e->args[0]), nullptr};
            ranges.under(e->args[0], e->op == Op::logic_and, [&] { args[1] = wide(e->args[1]); });
            return with_args(*e, std::move(args));
        }
        for (const ExprP& a : e->args) args.push_back(a->type.is_array() ? a : wide(a));
        if (e->op == Op::load) indices(args, e->args, e->args[0]->type.ndim, access_of(*e));
        if (const auto* atomic = std::get_if<Atomic>(&e->payload))
            indices(args, e->args, e->args[0]->type.ndim, atomic->access);
        return with_args(*e, std::move(args));
    }

    ExprP lesser(const ExprP& a, const ExprP& b) const {
        const Type type = scalar(DType::i64, true);
        const ExprP x = converted(a, type), y = converted(b, type);
        return make(Op::select, type, {compare(Op::lt, x, y), x, y}, a->place);
    }

    // Counting up by a step that may be large: from the end itself where the start lies beyond it, and by no more than all
    // numbers there are.
    // C++ leaves open what a signed overflow gives, and NVRTC makes use of it; Python's integers wrap here.
    bool may_overflow(const ExprP& e) const {
        const bool sums = e->op == Op::add || e->op == Op::sub || e->op == Op::mul;
        if ((!sums && e->op != Op::neg) || !is_integer(e->type.dtype) || e->type.lanes != 1 ||
            !ranges.reached())
            return false;
        const bool promoted = info(e->type.dtype).size < 4;  // to int
        if (!promoted && !is_signed(e->type.dtype)) return false;
        const Interval a = sums ? ranges.of(e->args[0]) : only(0);
        const Interval b = ranges.of(e->args[sums ? 1 : 0]);
        const Interval r = e->op == Op::add ? plus(a, b) : e->op == Op::mul ? times(a, b) : minus(a, b);
        const bool turned = e->op == Op::neg;  // ptxas turns a short one over as an int
        return !r.within(promoted && !turned ? int32_numbers : numbers_of(e->type.dtype));
    }

    ExprP unsigned_of(const ExprP& e) {
        const Type type = is_wide(e->type) ? scalar(DType::u64) : u32;
        std::vector<ExprP> args;
        for (const ExprP& a : e->args) args.push_back(converted(wide(a), type));
        return converted(make_like(*e, type, std::move(args)), e->type);
    }

    void loop(Stmt& s) {
        ExprP &start = s.exprs[0], &stop = s.exprs[1], &step = s.exprs[2];
        const bool by_one = integer_of(step).value_or(0) == 1 || integer_of(step).value_or(0) == -1;
        const Interval room = by_one ? int32_numbers : small_numbers(DType::i64);
        const Interval from = ranges.of(start), to = ranges.of(stop), by = ranges.of(step);
        const bool short_step = by.within({-largest_narrow_step, largest_narrow_step}) && by.low == by.high;
        const bool up = ranges.reached() && by.low > 0 && from.low >= (short_step ? room.low : 0) &&
                        to.within({short_step ? room.low : 0, room.high}) &&
                        (from.within(room) || (lasting(*start) && lasting(*stop)));
        const bool down =
            ranges.reached() && short_step && by.high < 0 && from.within(room) && to.within(room);
        s.narrow = up || down;
        if (up && !from.within(room)) start = lesser(start, stop);
        if (up && !by.within(room)) step = lesser(step, int_constant(static_cast<std::int64_t>(room.high)));
        for (ExprP& e : s.exprs) e = s.narrow && &e != &step ? exact(e) : wide(e);
        if (s.narrow && !short_step) step = exact(step);
    }

    void statement(Stmt& s) {
        switch (s.kind) {
            case Stmt::Kind::assign: {
                const Type& type = types[static_cast<std::size_t>(s.var)];
                const ExprP& value = s.exprs[0];
                const bool same = type == f.vars[static_cast<std::size_t>(s.var)].type;
                s.exprs[0] = same ? wide(value) : type == i32 ? exact(value) : low(value);
                return;
            }
            case Stmt::Kind::loop_range: return loop(s);
            case Stmt::Kind::store: {
                std::vector<ExprP> made;
                for (const ExprP& e : s.exprs) made.push_back(e->type.is_array() ? e : wide(e));
                indices(made, s.exprs, s.exprs[0]->type.ndim, s.access);
                s.exprs = std::move(made);
                return;
            }
            default:
                for (ExprP& e : s.exprs)
                    if (!e->type.is_array()) e = wide(e);
                return;
        }
    }
};

}  // namespace

void narrow_integers(Function& f, const RangeOptions& options, const std::vector<Interval>& known) {
    std::vector<Interval> held = variable_ranges(f, options);
    for (std::size_t v = 0; v < known.size(); ++v) held[v] = meet(held[v], known[v]);
    std::vector<Type> types;
    std::vector<bool> low(f.vars.size(), false), given_alone(f.vars.size(), false);
    each_stmt(f.body, [&](const Stmt& s) {
        const bool alone = s.kind == Stmt::Kind::assign &&
                           (s.exprs[0]->op == Op::invoke || effect_of(*s.exprs[0]) != Effect::none);
        if (alone) given_alone[static_cast<std::size_t>(s.var)] = true;  // such a value can't be cast
    });
    for (std::size_t v = 0; v < f.vars.size(); ++v) {
        const Var& var = f.vars[v];
        types.push_back(var.type);
        if (!is_wide(var.type) || var.role == Var::Role::parameter || given_alone[v]) continue;
        if (held[v].within(int32_numbers))
            types.back() = i32;
        else
            low[v] = true;
    }
    keep_low_only(f, options.narrow, low);
    for (std::size_t v = 0; v < low.size(); ++v)
        if (low[v]) types[v] = u32;
    Ranges ranges(f, options);
    Narrower narrower{f, ranges, options.narrow, types};
    ranges.run(f.body, [&](Stmt& s) { narrower.statement(s); });
    for (std::size_t v = 0; v < types.size(); ++v) f.vars[v].type = types[v];
}

void narrow_loops(Function& f, const RangeOptions& options) {
    std::vector<Type> types;
    for (const Var& v : f.vars) types.push_back(v.type);
    Ranges ranges(f, options);
    Narrower narrower{f, ranges, options.narrow, types};
    ranges.run(f.body, [&](Stmt& s) {
        if (s.kind == Stmt::Kind::loop_range) narrower.loop(s);
    });
}

}  // namespace xcuda::passes
