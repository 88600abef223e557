// A kernel that is a plain product of contiguous matrices, as one call of the BLAS that the CPU device has.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/boxes.hpp"
#include "tiles/lower.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

// An array read or written as a matrix at (row, column), and nothing but what lies in it.
struct Place {
    ExprP array;
    Shifted row, column;
};

std::optional<Place> place_of(const Function& f, const ExprP& array, const std::vector<ExprP>& indices,
                              const ExprP& inside) {
    if (array->op != Op::var || indices.size() != 2 || !asks_for_bounds(inside, array, indices))
        return std::nullopt;
    const Type& type = array->type;
    const auto row = shifted(indices[0]), column = shifted(indices[1]);
    if (f.vars[static_cast<std::size_t>(var_of(*array))].role != Var::Role::parameter || type.ndim != 2 ||
        type.layout != ir::Layout::contiguous || type.wide || !row || !column || row->axis != -2 ||
        column->axis != -1)
        return std::nullopt;
    return Place{array, *row, *column};
}

std::optional<Place> operand_of(const Function& f, const Stmt& fed) {
    const auto parts = fed.kind == Stmt::Kind::assign ? guarded(fed.exprs[0]) : std::nullopt;
    if (!parts || parts->value->op != Op::load || parts->outside->op != Op::constant ||
        real_of(number_of(*parts->outside)) != 0.0)
        return std::nullopt;
    const ExprP& load = parts->value;
    return place_of(f, load->args[0], {load->args.begin() + 1, load->args.end()}, parts->inside);
}

const Expr* without_spread(const ExprP& e) { return e->op == Op::spread ? e->args[0].get() : e.get(); }

bool is_whole(const ExprP& e, VarId tile) {
    const Expr* inner = without_spread(e);
    return inner->op == Op::element && inner->args.size() == 1 && var_of(*inner->args[0]) == tile;
}

struct Found {
    Place a, b, c;
    bool a_turned, b_turned;
    Body checks;
    Stmt store;
};

std::optional<Found> found_in(const Function& f) {
    Found out{};
    const Stmt *zero = nullptr, *loop = nullptr, *store = nullptr;
    for (const Stmt& s : f.body) {
        if (s.kind == Stmt::Kind::branch && fails_alone(s.body) && s.orelse.empty())
            out.checks.push_back(s);
        else if (s.kind == Stmt::Kind::assign && !zero && !loop)
            zero = &s;
        else if (s.kind == Stmt::Kind::loop_range && zero && !loop)
            loop = &s;
        else if (s.kind == Stmt::Kind::tile && s.tile.kind == TileOp::Kind::store && !s.tile.atomic && loop &&
                 !store)
            store = &s;
        else
            return std::nullopt;
    }
    if (!store || !begins_at_zero({*zero}, zero->var) || loop->body.size() < 3 || !loop->orelse.empty() ||
        passes::integer_of(loop->exprs[0]) != 0)
        return std::nullopt;
    const Stmt& product = loop->body[2];
    const bool carried = loop->body.size() == 4 && loop->body[3].kind == Stmt::Kind::assign &&
                         loop->body[3].var == zero->var && is_whole(loop->body[3].exprs[0], product.var);
    if (!is_product(product) || !(carried || (loop->body.size() == 3 && product.var == zero->var)) ||
        !is_whole(product.exprs[2], zero->var))
        return std::nullopt;
    const auto operand = [&](const ExprP& e, bool& turned) -> std::optional<Place> {
        if (e->op != Op::element || (e->args.size() != 1 && !is_turned(*e))) return std::nullopt;
        turned = e->args.size() > 1;
        for (const Stmt* fed : {&loop->body[0], &loop->body[1]})
            if (fed->var == var_of(*e->args[0])) return operand_of(f, *fed);
        return std::nullopt;
    };
    const auto a = operand(product.exprs[0], out.a_turned), b = operand(product.exprs[1], out.b_turned);
    const std::size_t n = store->exprs.size();
    if (n != 5 || !is_whole(store->exprs[3], zero->var)) return std::nullopt;
    const auto c = place_of(f, store->exprs[0], {store->exprs[1], store->exprs[2]}, store->exprs[4]);
    if (!a || !b || !c) return std::nullopt;
    const auto is_counter = [&](const ExprP& e) { return e->op == Op::var && var_of(*e) == loop->var; };
    const Shifted &a_row = out.a_turned ? a->column : a->row, &a_inner = out.a_turned ? a->row : a->column;
    const Shifted &b_column = out.b_turned ? b->row : b->column, &b_inner = out.b_turned ? b->column : b->row;
    const DType type = c->array->type.dtype;
    if (!same(*a_row.start, *c->row.start) || !same(*b_column.start, *c->column.start) ||
        !is_counter(a_inner.start) || !is_counter(b_inner.start) ||
        (type != DType::f32 && type != DType::f64) || a->array->type.dtype != type ||
        b->array->type.dtype != type || f.vars[static_cast<std::size_t>(product.var)].type.dtype != type)
        return std::nullopt;
    out.a = *a, out.b = *b, out.c = *c;
    out.store = *store;
    return out;
}

}  // namespace

std::optional<Module> lower_to_blas(const Module& module) {
    const auto found = found_in(module.kernel());
    if (!found) return std::nullopt;
    Module out = module;
    Function& f = out.kernel();
    const Type index = scalar(DType::i64, true);
    const auto length = [&](const Place& p, int axis) {
        Expr e = *make(Op::dim, index, {p.array});
        e.payload = Axis{axis};
        return std::make_shared<const Expr>(std::move(e));
    };
    const auto begins = [&](const Place& p) {
        Expr e = *make(Op::address, scalar(p.array->type.dtype), {p.array, int_constant(0), int_constant(0)});
        e.payload = Access{};
        return std::make_shared<const Expr>(std::move(e));
    };
    Stmt call = simple(Stmt::Kind::machine, found->store.place);
    call.text = fmt::format("xc_tile_blas{{W, L, {}, {}}}", found->a_turned, found->b_turned);
    call.exprs = {begins(found->c),    begins(found->a),    begins(found->b),
                  length(found->c, 0), length(found->c, 1), length(found->a, found->a_turned ? 0 : 1)};
    Body body = found->checks;
    body.push_back(std::move(call));
    f.body = std::move(body);
    return out;
}

}  // namespace xcuda::tiles
