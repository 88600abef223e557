#include "passes/cuda_vectors.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_region.hpp"
#include "passes/cpu_tile_body.hpp"
#include "passes/early_loads.hpp"
#include "passes/guard.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr int vector_bytes = 16;  // the widest load of a thread

// All threads that there are: no test is needed for being one of them.
Box whole_grid() {
    const ExprP first = int_constant(0);
    return {{first, first, first}, {}};
}

bool uses_grid_size(const Body& body) {
    bool found = false;
    each_expr(body, [&](const Expr& e) {
        found |= e.op == Op::coord && coord_of(e).kind == Coord::Kind::grid_size;
    });
    return found;
}

bool has_cache_hints(const Body& body) {  // of one element each
    bool found = false;
    each_stmt(body, [&](const Stmt& s) { found |= s.access.hint != CacheHint::none; });
    each_expr(body,
              [&](const Expr& e) { found |= e.op == Op::load && access_of(e).hint != CacheHint::none; });
    return found;
}

// Every access that moves along the axis does so by one element.
bool contiguous(const Function& f, const Body& body, const TilePlan& plan) {
    bool good = true;
    each_access(f, body, plan.assigned, plan.counts, [&](const AccessSeen& seen) {
        LinearScope scope = seen.scope;
        scope.bounds_tested = true;
        for (std::size_t d = 0; d < seen.indices.size(); ++d) {
            const auto sum = linear(seen.indices[d], scope);
            const ExprP step = sum ? sum->coefficients[static_cast<std::size_t>(plan.vector_axis)] : nullptr;
            if (!step) continue;
            good &=
                d + 1 == seen.indices.size() && integer_of(step) == 1 && unit_stride(seen.array->type.layout);
        }
    });
    return good;
}

std::optional<TilePlan> plan_vectors(const Function& f, const Body& body, int axis, bool loops) {
    auto plan = plan_tiles(f, body, axis, vector_bytes, {});
    if (!plan || plan->loops != loops || !contiguous(f, body, *plan)) return std::nullopt;
    return plan;
}

// Whether lane 0 of an access lies at a multiple of the vector's size: rows do, and the tile's base does.
bool starts_aligned(const Expr& array, const ExprP& last, VarId base, int elements) {
    if (!array.type.aligned || array.type.space != Space::global) return false;
    if (static_cast<std::size_t>(elements) * info(array.type.dtype).size !=
        static_cast<std::size_t>(vector_bytes))
        return false;
    if (last->op == Op::var) return var_of(*last) == base;
    if (last->op != Op::add && last->op != Op::sub) return false;
    const auto offset = integer_of(last->args[1]);
    return offset && *offset % elements == 0 && last->args[0]->op == Op::var &&
           var_of(*last->args[0]) == base;
}

void mark_stores(Body& body, VarId base, int elements) {
    for (Stmt& s : body) {
        if (s.kind == Stmt::Kind::store) {
            const auto ndim = static_cast<std::size_t>(s.exprs[0]->type.ndim);
            s.access.aligned = starts_aligned(*s.exprs[0], s.exprs[ndim], base, elements);
        }
        mark_stores(s.body, base, elements);
        mark_stores(s.orelse, base, elements);
    }
}

void mark_aligned(Body& body, VarId base, int elements) {
    rewrite_exprs(body, [&](const ExprP& e) -> ExprP {
        if (e->op != Op::load || e->type.lanes == 1) return e;
        const auto ndim = static_cast<std::size_t>(e->args[0]->type.ndim);
        if (!starts_aligned(*e->args[0], e->args[ndim], base, elements)) return e;
        auto node = std::make_shared<Expr>(*e);
        std::get<Access>(node->payload).aligned = true;
        return node;
    });
    mark_stores(body, base, elements);
}

}  // namespace

int vector_elements(const Function& function, int axis) {
    Body body = function.body;
    if (uses_grid_size(body) || has_cache_hints(body)) return 1;
    Box box = whole_grid();
    strip_guard(function, body, box);
    const auto plan = plan_vectors(function, body, axis, false);
    return plan ? plan->lanes : 1;
}

RegisterTile register_tile(const Function& function, int axis) {
    Body body = function.body;
    if (uses_grid_size(body)) return {};
    Box box = whole_grid();
    strip_guard(function, body, box);
    const auto plan = plan_vectors(function, body, axis, true);
    if (!plan || plan->rows < 2) return {};
    return {plan->lanes, plan->rows, plan->row_axis};
}

void vectorise(Function& f, int axis, int elements, int rows) {
    const int row_axis = axis == 0 ? 1 : 0;
    const auto along = [&](int a) { return a == axis ? elements : a == row_axis ? rows : 1; };
    Body body = std::move(f.body);
    Box guard = whole_grid();
    strip_guard(f, body, guard);
    const auto plan = plan_vectors(f, body, axis, rows > 1);
    if (!plan) throw bug("vectorise() was asked for a kernel that has no vectors");

    const auto bounded_below = [&](int a) { return integer_of(guard.low[a]).value_or(1) > 0; };
    std::array<VarId, 3> base{};
    Box tile;
    Body out;
    ExprP inside;
    for (int a = 0; a < 3; ++a) {
        base[a] = hidden(f, a == 0 ? "x" : a == 1 ? "y" : "z");
        const ExprP at = coord(Coord::Kind::global, a);
        out.push_back(assign(base[a], along(a) > 1 ? mul(at, int_constant(along(a))) : at));
        const ExprP first = read(f, base[a]);
        tile.low[a] = first;
        tile.high[a] = add(first, int_constant(along(a)));
        if (bounded_below(a)) inside = both(inside, compare(Op::ge, first, guard.low[a]));
        if (guard.high[a])
            inside = both(inside, along(a) > 1 ? compare(Op::le, tile.high[a], guard.high[a])
                                               : compare(Op::lt, first, guard.high[a]));
    }
    const ExprP test = both(inside, box_test(f, body, *plan, tile));
    Body vector = tile_body(f, body, *plan, {rows, 1, false}, base, tile);
    mark_aligned(vector, base[axis], elements);
    if (rows == 1) load_early(f, vector);

    if (!test) {  // nothing may go wrong
        std::move(vector.begin(), vector.end(), std::back_inserter(out));
        f.body = std::move(out);
        return;
    }
    Box rest;
    std::array<VarId, 3> lane = base;
    for (int a = 0; a < 3; ++a) {
        if (along(a) == 1 && !guard.high[a] && !bounded_below(a)) continue;  // its one thread
        rest.low[a] = bounded_below(a) ? maximum(tile.low[a], guard.low[a]) : tile.low[a];
        rest.high[a] = guard.high[a] ? minimum(tile.high[a], guard.high[a]) : tile.high[a];
        lane[a] = hidden(f, "lane");
    }
    Body single = threads_of_region(body, rest, {lane, axis, vector_bytes});
    out.push_back(branch(test, std::move(vector), std::move(single)));
    f.body = std::move(out);
}

}  // namespace xcuda::passes
