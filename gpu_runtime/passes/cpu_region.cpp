#include "passes/cpu_region.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_tile_body.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

VarId hidden(Function& function, const char* name) {
    return function.add({name, scalar(DType::i64, true), Var::Role::hidden, {}});
}

std::array<int, 3> loop_order(int vector_axis) {
    return vector_axis == 0   ? std::array{2, 1, 0}
           : vector_axis == 1 ? std::array{2, 0, 1}
                              : std::array{1, 0, 2};
}

ExprP read(const Function& function, VarId id) { return var(id, function.vars[id].type); }

namespace {

Stmt count_loop(VarId v, ExprP from, ExprP to, ExprP step, Body body) {
    return loop_range(v, std::move(from), std::move(to), std::move(step), std::move(body));
}

Body one(Stmt s) {
    Body b;
    b.push_back(std::move(s));
    return b;
}

// Coordinates become variables; a return ends the thread, not the function.
Body thread_body(const Body& body, const Lanes& lanes) {
    Body copy = body;
    rewrite_exprs(copy, [&](const ExprP& e) -> ExprP {
        if (e->op != Op::coord) return e;
        const Coord& c = coord_of(*e);
        if (c.kind != Coord::Kind::thread && c.kind != Coord::Kind::global) return e;
        return var(lanes.coordinate[c.axis], e->type, e->place);
    });
    if (!has_leave(copy)) return copy;
    Stmt scope = simple(Stmt::Kind::scope);
    scope.body = std::move(copy);
    return one(std::move(scope));
}

Body thread_loops(const Body& body, const Box& box, const Lanes& lanes) {
    Body inner = thread_body(body, lanes);
    const auto order = loop_order(lanes.vector_axis);
    for (int level = 2; level >= 0; --level) {
        const int axis = order[level];
        if (!box.low[axis]) continue;
        inner = one(count_loop(lanes.coordinate[axis], box.low[axis], box.high[axis], int_constant(1),
                               std::move(inner)));
    }
    return inner;
}

// What a box that fails its test is left to.
Body cold_threads(const Body& body, const Box& box, const Lanes& lanes) {
    Stmt scope = simple(Stmt::Kind::scope);
    scope.hint = Stmt::Hint::cold;
    scope.body = thread_loops(body, box, lanes);
    return one(std::move(scope));
}

struct TileLoops {
    Function& f;
    const Body& body;
    const TilePlan& plan;
    const Box& box;
    const Lanes& lanes;

    int third_axis() const { return 3 - plan.vector_axis - plan.row_axis; }
    VarId coordinate(int axis) const { return lanes.coordinate[axis]; }

    Body tile(TileShape shape) const { return tile_body(f, body, plan, shape, lanes.coordinate, box); }

    // The largest multiple of `step` threads from the low bound.
    ExprP whole(int axis, int step) const {
        const ExprP n = maximum(sub(box.high[axis], box.low[axis]), int_constant(0));
        return add(box.low[axis], mul(div_floor(n, int_constant(step)), int_constant(step)));
    }

    Body loops() const {
        const int v = plan.vector_axis, r = plan.row_axis, z = third_axis();
        const int width = plan.columns * plan.lanes;
        Body setup, out;
        const auto keep = [&](const char* name, ExprP e) {
            if (integer_of(e)) return e;
            const VarId id = hidden(f, name);
            setup.push_back(assign(id, std::move(e)));
            return read(f, id);
        };
        const ExprP vector_end = keep("vector_end", whole(v, width)),
                    row_end = keep("row_end", whole(r, plan.rows));
        Body main = one(count_loop(coordinate(v), box.low[v], vector_end, int_constant(width),
                                   tile({plan.rows, plan.columns, false})));
        const ExprP from =
            plan.rows == 1 ? vector_end
                           : make(Op::select, scalar(DType::i64, true),
                                  {compare(Op::lt, read(f, coordinate(r)), row_end), vector_end, box.low[v]});
        const bool no_tail = integer_of(vector_end) && integer_of(box.high[v]) &&
                             *integer_of(vector_end) >= *integer_of(box.high[v]) && integer_of(row_end) &&
                             integer_of(box.high[r]) && *integer_of(row_end) >= *integer_of(box.high[r]);
        Body rest;
        if (!no_tail) {
            Body tail = one(
                assign(f.tail, minimum(int_constant(plan.lanes), sub(box.high[v], read(f, coordinate(v))))));
            for (Stmt& s : tile({1, 1, true})) tail.push_back(std::move(s));
            rest =
                one(count_loop(coordinate(v), from, box.high[v], int_constant(plan.lanes), std::move(tail)));
        }
        if (plan.rows == 1) {
            for (Stmt& s : rest) main.push_back(std::move(s));
            out = one(count_loop(coordinate(r), box.low[r], box.high[r], int_constant(1), std::move(main)));
        } else {
            out =
                one(count_loop(coordinate(r), box.low[r], row_end, int_constant(plan.rows), std::move(main)));
            if (!no_tail)
                out.push_back(
                    count_loop(coordinate(r), box.low[r], box.high[r], int_constant(1), std::move(rest)));
        }
        setup.push_back(count_loop(coordinate(z), box.low[z], box.high[z], int_constant(1), std::move(out)));
        return setup;
    }
};

// The box in variables of its own, so that its bounds are computed once.
Box named(Function& f, const Box& box, Body& out) {
    static constexpr const char* low_names[] = {"low_x", "low_y", "low_z"};
    static constexpr const char* high_names[] = {"high_x", "high_y", "high_z"};
    Box r = box;
    for (int axis = 0; axis < 3; ++axis) {
        for (auto [bound, name] :
             {std::pair(&r.low[axis], low_names[axis]), std::pair(&r.high[axis], high_names[axis])}) {
            if (integer_of(*bound) || (*bound)->op == Op::var) continue;
            const VarId id = hidden(f, name);
            out.push_back(assign(id, *bound));
            *bound = read(f, id);
        }
    }
    return r;
}

}  // namespace

namespace {

struct Planned {
    std::optional<TilePlan> plan;
    ExprP test;
    LoweredRegion region;
    Box box;
};

Planned plan_region(Function& function, const Body& body, const Box& given, const Lanes& lanes) {
    Planned p;
    p.box = named(function, given, p.region.body);
    std::array<std::optional<std::int64_t>, 3> extents;
    for (int axis = 0; axis < 3; ++axis) {
        const auto low = integer_of(p.box.low[axis]), high = integer_of(p.box.high[axis]);
        if (low && high) extents[axis] = *high - *low;
    }
    p.plan = plan_tiles(function, body, lanes.vector_axis, lanes.vector_bytes, extents);
    if (p.plan) p.test = box_test(function, body, *p.plan, p.box);
    if (p.test && p.test->op == Op::constant) p.plan.reset();
    each_stmt(body, [&](const Stmt& s) {
        p.region.loops |= s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
    });
    if (!p.plan) {
        p.region.how = "threads";
        return p;
    }
    p.region.how = "tiles " + std::to_string(p.plan->rows) + "x" + std::to_string(p.plan->columns) + "x" +
                   std::to_string(p.plan->lanes);
    p.region.rows = p.plan->rows;
    p.region.width = p.plan->columns * p.plan->lanes;
    p.region.calls = p.plan->calls;
    return p;
}

void append(Body& to, Body from) {
    for (Stmt& s : from) to.push_back(std::move(s));
}

Stmt give(bool value) {
    Stmt s = simple(Stmt::Kind::leave);
    s.exprs = {constant(value, scalar(DType::b1))};
    return s;
}

}  // namespace

Body threads_of_region(const Body& body, const Box& box, const Lanes& lanes) {
    return thread_loops(body, box, lanes);
}

LoweredRegion tiles_of_region(Function& function, const Body& body, const Box& box, const Lanes& lanes) {
    Planned p = plan_region(function, body, box, lanes);
    if (!p.plan) {
        p.region.body.clear();
        return std::move(p.region);
    }
    if (p.test) p.region.body.push_back(branch(negate(p.test), one(give(false))));
    append(p.region.body, TileLoops{function, body, *p.plan, p.box, lanes}.loops());
    p.region.body.push_back(give(true));
    return std::move(p.region);
}

LoweredRegion lower_region(Function& function, const Body& body, const Box& box, const Lanes& lanes) {
    Planned p = plan_region(function, body, box, lanes);
    if (!p.plan)
        append(p.region.body, thread_loops(body, p.box, lanes));
    else if (!p.test)
        append(p.region.body, TileLoops{function, body, *p.plan, p.box, lanes}.loops());
    else
        p.region.body.push_back(branch(p.test, TileLoops{function, body, *p.plan, p.box, lanes}.loops(),
                                       cold_threads(body, p.box, lanes)));
    return std::move(p.region);
}

}  // namespace xcuda::passes
