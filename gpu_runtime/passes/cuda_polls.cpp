#include "passes/cuda_polls.hpp"

#include "passes/build.hpp"
#include "passes/cpu_region.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::int64_t stretch = 4096;     // iterations of a counted loop between two polls
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
    const ExprP sooner = compare(step > 0 ? Op::lt : Op::gt, reach, stop);
    return make(Op::select, type, {sooner, reach, stop});
}

void visit(Function& f, Body& body, bool narrow) {
    for (Stmt& s : body) {
        visit(f, s.body, narrow);
        visit(f, s.orelse, narrow);
        if (s.kind == Stmt::Kind::loop_while) s.body.insert(s.body.begin(), poll(turn_weight));
        if (s.kind != Stmt::Kind::loop_range || is_short(s)) continue;
        const auto step = integer_of(s.exprs[2]);
        if (!step || *step == 0 || !s.orelse.empty() || breaks(s.body)) {
            s.body.insert(s.body.begin(), poll(turn_weight));
            continue;
        }
        const bool small = narrow && *step > 0 && *step * stretch <= largest_narrow_step &&
                           fits_32_bits(f, *s.exprs[0]) && fits_32_bits(f, *s.exprs[1]);
        const Type type = small ? scalar(DType::i32) : scalar(DType::i64, true);
        const VarId first = f.add({"stretch", type, Var::Role::hidden, {}});
        const VarId stop = f.add({"stop", type, Var::Role::hidden, {}});
        Stmt outer = loop_range(first, s.exprs[0], read(f, stop), int_constant(stretch * *step), {}, s.place);
        Stmt bound = assign(stop, cast(s.exprs[1], type), s.place);
        s.exprs[0] = read(f, first);
        s.exprs[1] = end_of_stretch(read(f, first), read(f, stop), *step);
        outer.body.push_back(poll(entry_weight));
        outer.body.push_back(std::move(s));
        Body both_of_them;  // the bound is read once, before the loop
        both_of_them.push_back(std::move(bound));
        both_of_them.push_back(std::move(outer));
        s = branch(constant(true, scalar(DType::b1)), std::move(both_of_them));
    }
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

void add_cuda_polls(Function& function, bool narrow) { visit(function, function.body, narrow); }

}  // namespace xcuda::passes
