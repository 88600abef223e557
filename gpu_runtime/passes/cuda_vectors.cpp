#include "passes/cuda_vectors.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_region.hpp"
#include "passes/cpu_tile_body.hpp"
#include "passes/cuda_staging.hpp"
#include "passes/early_loads.hpp"
#include "passes/guard.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr int vector_bytes = 16;  // the widest load of a thread on every GPU

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

// `elements` of the body's widest type; 0: as many as the widest load has.
std::optional<TilePlan> plan_vectors(const Function& f, const Body& body, int axis, bool loops,
                                     int elements = 0) {
    auto plan = plan_tiles(f, body, axis, vector_bytes, {});
    if (plan && elements > 1 && elements != plan->lanes)
        plan = plan_tiles(f, body, axis, vector_bytes / plan->lanes * elements, {});
    if (!plan || plan->loops != loops || !contiguous(f, body, *plan)) return std::nullopt;
    return plan;
}

// Whether lane 0 of an access lies at a multiple of the vector's size: rows do, and the tile's base does.
bool starts_aligned(const Expr& array, const ExprP& last, VarId base, int elements) {
    if (!array.type.aligned || array.type.space != Space::global) return false;
    const int bytes = elements * static_cast<int>(info(array.type.dtype).size);
    if (bytes % vector_bytes != 0 && vector_bytes % bytes != 0) return false;
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

int vector_elements(const Function& function, int axis, int wanted) {
    Body body = function.body;
    if (uses_grid_size(body) || has_cache_hints(body)) return 1;
    Box box = whole_grid();
    strip_guard(function, body, box);
    const auto plan = plan_vectors(function, body, axis, false, wanted);
    return plan ? plan->lanes : 1;
}

RegisterTile register_tile(const Function& function, int axis, int wanted) {
    Body body = function.body;
    if (uses_grid_size(body)) return {};
    Box box = whole_grid();
    strip_guard(function, body, box);
    const auto plan = plan_vectors(function, body, axis, true, wanted);
    if (!plan || plan->rows < 2) return {};
    return {plan->lanes, plan->rows, plan->row_axis};
}

namespace {

// The version whose block fetches rows for all its threads, in place of `single`'s sides: see cuda_staging.hpp.
Body staged_vectors(Function& f, const Body& body, const Box& guard, int axis, int elements, int rows,
                    const StagingFrame& frame, Body otherwise) {
    auto staging = stage(f, body, frame);
    const auto plan = staging ? plan_vectors(f, staging->body, axis, rows > 1, elements) : std::nullopt;
    if (!plan || plan->lanes != elements || plan->rows < rows) return otherwise;
    for (const Expr* e : plan->unasked)  // tested by lengths, which a shared array's are not
        if (e->op == Op::load && e->args[0]->type.space == Space::shared) return otherwise;
    std::array<VarId, 3> base{};
    Box block;
    for (int a = 0; a < 3; ++a) {
        base[a] = hidden(f, a == 0 ? "x" : a == 1 ? "y" : "z");
        block.low[a] = read(f, staging->first[a]);
        block.high[a] = add(block.low[a], int_constant(frame.extent(a)));
    }
    const ExprP test =
        both(both(block_inside(f, *staging, frame, guard), box_test(f, staging->body, *plan, block)),
             staging->test);
    Body vector = tile_body(f, staging->body, *plan, {rows, 1, false}, base, block);
    vector = staged_body(f, std::move(vector), *staging, frame, base);
    mark_aligned(vector, base[axis], elements);
    Body out = staged_places(f, *staging, frame, base);
    out.push_back(branch(test, std::move(vector), std::move(otherwise)));
    return out;
}

}  // namespace

void vectorise(Function& f, int axis, int elements, int rows, const StagingFrame* staged) {
    const int row_axis = axis == 0 ? 1 : 0;
    const auto along = [&](int a) { return a == axis ? elements : a == row_axis ? rows : 1; };
    Body body = std::move(f.body);
    Box guard = whole_grid();
    strip_guard(f, body, guard);
    const auto plan = plan_vectors(f, body, axis, rows > 1, elements);
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

    if (test) {
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
    } else {  // nothing may go wrong
        std::move(vector.begin(), vector.end(), std::back_inserter(out));
    }
    if (staged) out = staged_vectors(f, body, guard, axis, elements, rows, *staged, std::move(out));
    f.body = std::move(out);
}

}  // namespace xcuda::passes
