#include "tiles/boxes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::integer_of;

namespace {

bool reads(const ExprP& e, VarId v) {
    bool found = false;
    each_expr(e, [&](const Expr& n) { found |= n.op == Op::var && var_of(n) == v; });
    return found;
}

ExprP replaced(const ExprP& e, VarId v, const ExprP& by) {
    return rewrite(e, [&](const ExprP& n) { return n->op == Op::var && var_of(*n) == v ? by : n; });
}

// How much a number grows when `v` grows by one; absent where that is not always the same.
std::optional<std::int64_t> slope(const ExprP& e, VarId v) {
    if (!reads(e, v)) return 0;
    if (e->op == Op::var) return 1;
    if (e->op == Op::cast && is_integer(e->args[0]->type.dtype)) return slope(e->args[0], v);
    if (e->op == Op::add || e->op == Op::sub) {
        const auto a = slope(e->args[0], v), b = slope(e->args[1], v);
        if (a && b) return e->op == Op::add ? *a + *b : *a - *b;
    }
    if (e->op == Op::mul)
        for (const std::size_t i : {0u, 1u})
            if (const auto by = integer_of(e->args[i]))
                if (const auto of = slope(e->args[1 - i], v)) return *of * *by;
    return std::nullopt;
}

bool is_zero(const ExprP& e) {
    if (e->op == Op::spread) return is_zero(e->args[0]);
    return e->op == Op::constant && real_of(number_of(*e)) == 0.0;
}

bool is_matrix_row(const Type& type) {
    const auto size = static_cast<std::int64_t>(info(type.dtype).size);
    return type.extents.size() == 2 && type.extents[1] * size % 128 == 0 && type.extents[0] % 8 == 0 &&
           type.extents[0] <= 256;
}

}  // namespace

bool asks_for_bounds(const ExprP& inside, const ExprP& array, const std::vector<ExprP>& indices) {
    if (inside->op == Op::spread || (inside->op == Op::cast && inside->type.dtype == DType::b1))
        return asks_for_bounds(inside->args[0], array, indices);
    if (inside->op == Op::logic_and)
        return asks_for_bounds(inside->args[0], array, indices) &&
               asks_for_bounds(inside->args[1], array, indices);
    if (inside->op == Op::constant) return std::get<bool>(number_of(*inside));
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (inside->op == Op::lt && same(*inside->args[0], *indices[d]) && inside->args[1]->op == Op::dim &&
            same(*inside->args[1]->args[0], *array) &&
            std::get<Axis>(inside->args[1]->payload).value == static_cast<int>(d))
            return true;
        if (inside->op == Op::ge && same(*inside->args[0], *indices[d]) && integer_of(inside->args[1]) == 0)
            return true;
    }
    return false;
}

std::optional<Boxes> boxes_of(const Threads& t, const Stmt& fed, bool turned, const Stmt& loop) {
    const Function& f = t.f;
    int writes = 0;
    each_stmt(f.body, [&](const Stmt& s) { writes += s.var == fed.var; });
    Boxes b;
    b.tile = fed.var;
    const Type type = t.type_of(fed.var);
    if (!is_matrix_row(type) || writes != 1 || !t.operands.count(fed.var)) return std::nullopt;
    b.turned = turned;
    const auto parts = guarded(fed.exprs[0]);
    ExprP value = parts ? parts->value : fed.exprs[0];
    if (value->op == Op::spread) value = value->args[0];
    if (value->op != Op::load || (parts && !is_zero(parts->outside))) return std::nullopt;
    const ExprP& array = value->args[0];
    b.array = var_of(*array);
    const Type& whole = array->type;
    const std::vector<ExprP> indices(value->args.begin() + 1, value->args.end());
    b.axes = static_cast<int>(indices.size());
    if (f.vars[static_cast<std::size_t>(b.array)].role != Var::Role::parameter || whole.ndim < 2 ||
        whole.ndim > 3 || whole.layout != ir::Layout::contiguous || !whole.aligned || whole.wide ||
        whole.dtype != type.dtype || t.fenced.count(b.array))
        return std::nullopt;
    if (parts && !asks_for_bounds(parts->inside, array, indices)) return std::nullopt;
    const auto across = shifted(indices.back()), down = shifted(indices[indices.size() - 2]);
    if (!across || !down || across->axis != -1 || down->axis != -2) return std::nullopt;
    const auto dx = slope(across->start, loop.var), dy = slope(down->start, loop.var);
    const std::int64_t step = *integer_of(loop.exprs[2]);
    if (!dx || !dy) return std::nullopt;
    b.dx = *dx * step;
    b.dy = *dy * step;
    b.x = replaced(across->start, loop.var, loop.exprs[0]);
    b.y = replaced(down->start, loop.var, loop.exprs[0]);
    b.z = indices.size() == 3 ? indices[0] : int_constant(0);
    if (is_tile(*b.z) || reads(b.z, loop.var)) return std::nullopt;
    for (const ExprP& e : {b.x, b.y, b.z})
        if (has_effect(*e) || may_fault(*e)) return std::nullopt;
    return b;
}

std::size_t map_of(const Threads& t, Module& module, const Boxes& b) {
    const Function& f = t.f;
    TensorMap map;
    map.parameter = static_cast<int>(std::find(f.params.begin(), f.params.end(), b.array) - f.params.begin());
    const Type type = t.type_of(b.tile);
    if (b.axes == 3) map.box.push_back(1);
    map.box.push_back(type.extents[0]);
    map.box.push_back(128 / static_cast<std::int64_t>(info(type.dtype).size));
    const auto known = std::find(module.maps.begin(), module.maps.end(), map);
    if (known != module.maps.end()) return static_cast<std::size_t>(known - module.maps.begin());
    module.maps.push_back(std::move(map));
    return module.maps.size() - 1;
}

bool fails_alone(const Body& body) {
    return !body.empty() &&
           std::all_of(body.begin(), body.end(), [](const Stmt& s) { return s.kind == Stmt::Kind::fault; });
}

bool is_pure(const ExprP& e, bool per_block) {
    bool loads = has_effect(*e) || may_fault(*e);
    each_expr(e, [&](const Expr& n) {
        loads |= n.op == Op::load ||
                 (n.op == Op::coord && !(per_block && coord_of(n).kind == Coord::Kind::block)) ||
                 n.op == Op::element || n.op == Op::position;
    });
    return !loads;
}

void write_once(Threads& t) {
    std::map<VarId, int> writes;
    each_stmt(t.f.body, [&](const Stmt& s) {
        if (s.var >= 0) ++writes[s.var];
    });
    std::map<VarId, std::vector<std::size_t>> here;
    for (std::size_t i = 0; i < t.f.body.size(); ++i)
        if (const Stmt& s = t.f.body[i]; s.kind == Stmt::Kind::assign && !t.type_of(s.var).is_tile() &&
                                         t.f.vars[static_cast<std::size_t>(s.var)].role == Var::Role::local)
            here[s.var].push_back(i);
    for (const auto& [v, places] : here) {
        if (static_cast<int>(places.size()) != writes[v]) continue;
        for (std::size_t n = 0; n + 1 < places.size(); ++n) {
            const VarId before = t.scalar_var(t.type_of(v), "before");
            t.f.body[places[n]].var = before;
            for (std::size_t i = places[n] + 1; i <= places[n + 1]; ++i) {
                Body one{std::move(t.f.body[i])};
                rewrite_exprs(one, [&, was = v](const ExprP& e) {
                    return e->op == Op::var && var_of(*e) == was ? t.read(before) : e;
                });
                t.f.body[i] = std::move(one.front());
            }
        }
    }
}

Halves halves_of(const Threads& t, bool per_block) {
    std::map<VarId, int> writes;
    each_stmt(t.f.body, [&](const Stmt& s) {
        if (s.var >= 0) ++writes[s.var];
    });
    Halves out;
    for (const Stmt& s : t.f.body) {
        const auto known = [&](const ExprP& e) {
            bool all = is_pure(e, per_block);
            each_expr(e, [&](const Expr& n) {
                if (n.op == Op::var)
                    all &= out.early.count(var_of(n)) > 0 ||
                           t.f.vars[static_cast<std::size_t>(var_of(n))].role == Var::Role::parameter;
            });
            return all;
        };
        const bool scalar_assign =
            s.kind == Stmt::Kind::assign && !t.type_of(s.var).is_tile() && writes[s.var] == 1;
        const bool check = s.kind == Stmt::Kind::branch && fails_alone(s.body) && s.orelse.empty();
        const bool moves = (scalar_assign || check) && known(s.exprs[0]);
        if (moves && scalar_assign) out.early.insert(s.var);
        (moves ? out.first : out.rest).push_back(s);
    }
    return out;
}

void share_registers(int threads, int few, Body& beside, Body& others) {
    if (threads <= 128) return;  // all may have as many as there are
    // A block is given so many for each of its threads at the launch; more than these are never there.
    const int all = threads + 128, given = 65536 / all / 8 * 8;
    const int many = std::min(240, (given * all - 128 * few) / threads / 8 * 8);
    const auto first = [](Body& body, const char* what, int n) {
        Stmt s = simple(Stmt::Kind::machine);
        s.text = fmt::format("xc_tile_{}_registers<{}>", what, n);
        body.insert(body.begin(), std::move(s));
    };
    first(beside, "fewer", few);
    first(others, "more", many);
}

void meet_by_number(Body& body, int threads) {
    for (Stmt& s : body) {
        if (s.kind == Stmt::Kind::barrier) s.text = std::to_string(threads);
        meet_by_number(s.body, threads);
        meet_by_number(s.orelse, threads);
    }
}

}  // namespace xcuda::tiles
