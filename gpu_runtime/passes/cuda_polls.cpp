#include "passes/cuda_polls.hpp"

#include <utility>

#include "passes/build.hpp"
#include "passes/cpu_region.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::int64_t stretch = 4096;  // iterations of a counted loop between two polls
constexpr std::int64_t largest_step = std::int64_t{1} << 40;
constexpr std::int64_t turn_weight = 1;    // of a `while`'s turn
constexpr std::int64_t entry_weight = 16;  // of a stretch, or of a short loop entered

Stmt poll(std::int64_t weight) {
    Stmt s = simple(Stmt::Kind::poll);
    s.exprs = {int_constant(weight)};
    return s;
}

bool is_short(const Stmt& loop) {
    const auto from = integer_of(loop.exprs[0]), to = integer_of(loop.exprs[1]);
    return from && to && *to - *from <= stretch && *from - *to <= stretch;
}

// first + stretch * step, or the loop's end, whichever comes first.
ExprP end_of_stretch(const ExprP& first, const ExprP& stop, std::int64_t step) {
    const Type type = first->type;
    const ExprP reach = make(Op::add, type, {first, constant(stretch * step, type)});
    ExprP sooner = compare(step > 0 ? Op::lt : Op::gt, reach, stop);
    if (type.dtype == DType::i64)  // and not past the last one
        sooner =
            make(Op::logic_and, sooner->type, {sooner, compare(step > 0 ? Op::gt : Op::lt, reach, first)});
    return make(Op::select, type, {sooner, reach, stop});
}

Body polled(Function& f, Body body, bool narrow);

// A counted loop that may be long, in stretches with a poll between; its bound is read once, before it.
void append_stretches(Function& f, Body& to, Stmt loop, std::int64_t step, bool narrow) {
    const bool small = narrow && step > 0 && step * stretch <= largest_narrow_step &&
                       fits_32_bits(f, *loop.exprs[0]) && fits_32_bits(f, *loop.exprs[1]);
    const Type type = small ? scalar(DType::i32) : scalar(DType::i64, true);
    const VarId first = f.add({"stretch", type, Var::Role::hidden, {}});
    const VarId stop = f.add({"stop", type, Var::Role::hidden, {}});
    to.push_back(assign(stop, cast(loop.exprs[1], type), loop.place));
    Stmt outer =
        loop_range(first, loop.exprs[0], read(f, stop), int_constant(stretch * step), {}, loop.place);
    loop.exprs[0] = read(f, first);
    loop.exprs[1] = end_of_stretch(read(f, first), read(f, stop), step);
    outer.body.push_back(poll(entry_weight));
    outer.body.push_back(std::move(loop));
    to.push_back(std::move(outer));
}

void append_polled(Function& f, Body& to, Stmt s, bool narrow) {
    s.body = polled(f, std::move(s.body), narrow);
    s.orelse = polled(f, std::move(s.orelse), narrow);
    if (s.kind == Stmt::Kind::loop_range && !is_short(s)) {
        const auto step = integer_of(s.exprs[2]);
        const bool huge = step && (*step > largest_step || *step < -largest_step);
        if (step && *step != 0 && !huge && s.orelse.empty() && !breaks(s.body))
            return append_stretches(f, to, std::move(s), *step, narrow);
        s.body.insert(s.body.begin(), poll(turn_weight));
    } else if (s.kind == Stmt::Kind::loop_while) {
        s.body.insert(s.body.begin(), poll(turn_weight));
    }
    to.push_back(std::move(s));
}

Body polled(Function& f, Body body, bool narrow) {
    Body made;
    made.reserve(body.size());
    for (Stmt& s : body) append_polled(f, made, std::move(s), narrow);
    return made;
}

}  // namespace

bool fits_32_bits(const Function& function, const Expr& e) {
    switch (e.op) {
        case Op::dim: return std::get<Axis>(e.payload).value < e.args[0]->type.ndim;
        case Op::coord:
            return coord_of(e).kind != Coord::Kind::global && coord_of(e).kind != Coord::Kind::grid_size;
        case Op::constant: {
            const auto* v = std::get_if<std::int64_t>(&number_of(e));
            return v && *v >= 0 && *v <= INT32_MAX - largest_narrow_step;
        }
        case Op::var:
            return e.type.is_scalar() && e.type.dtype == DType::i32 &&
                   function.vars[static_cast<std::size_t>(var_of(e))].role == Var::Role::hidden;
        case Op::select: return fits_32_bits(function, *e.args[1]) && fits_32_bits(function, *e.args[2]);
        case Op::add: return e.type.dtype == DType::i32 && fits_32_bits(function, *e.args[0]);
        default: return false;
    }
}

void add_cuda_polls(Function& function, bool narrow) {
    function.body = polled(function, std::move(function.body), narrow);
}

}  // namespace xcuda::passes
