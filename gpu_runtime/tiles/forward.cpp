#include "tiles/forward.hpp"

#include <algorithm>
#include <map>

#include "ir/tile.hpp"
#include "ir/walk.hpp"
#include "tiles/frame.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

constexpr int cheap = 24;  // nodes of a definition that may be computed at each use

using Counts = std::map<VarId, int>;

void count(const Body& body, Counts& reads, Counts& writes) {
    each_stmt(body, [&](const Stmt& s) {
        if (s.var >= 0) ++writes[s.var];
    });
    each_expr(body, [&](const Expr& e) {
        if (e.op == Op::element) ++reads[var_of(*e.args[0])];
    });
}

// `e`, of the extents `own`, where its indices are `indices`, over positions of `extents`.
ExprP viewed(const Function& f, const ExprP& e, const Extents& own, const std::vector<ExprP>& indices,
             const Extents& extents) {
    return at(e, {indices, own}, [&](VarId v, const std::vector<ExprP>& places, bool) {
        const Type& type = f.vars[static_cast<std::size_t>(v)].type;
        bool plain = type.extents == extents;
        for (std::size_t d = 0; plain && d < places.size(); ++d)
            plain = extents[d] == 1 || (places[d]->op == Op::position && places[d]->type.extents == extents &&
                                        std::get<Axis>(places[d]->payload).value == static_cast<int>(d));
        return plain ? element(v, type) : element_at(v, type, extents, places);
    });
}

ExprP as_tile(ExprP e, const Extents& extents) {
    return is_tile(*e) && extents_of(*e) == extents ? e : spread(std::move(e), extents);
}

bool is_tile_assign(const Function& f, const Stmt& s) {
    return s.kind == Stmt::Kind::assign && f.vars[static_cast<std::size_t>(s.var)].type.is_tile();
}

// Positions, numbers and what is the same for all elements, a few nodes of it.
bool is_cheap(const Function& f, const ExprP& e, const Counts& writes) {
    int nodes = 0;
    bool fits = !has_effect(*e) && !may_fault(*e);
    each_expr(e, [&](const Expr& n) {
        ++nodes;
        fits &= n.op != Op::load && n.op != Op::element && n.op != Op::call && n.op != Op::invoke;
        if (n.op == Op::var) {
            const auto known = writes.find(var_of(n));
            fits &= f.vars[static_cast<std::size_t>(var_of(n))].role == Var::Role::parameter ||
                    (known != writes.end() && known->second == 1);
        }
    });
    return fits && nodes <= cheap;
}

// A store's elements are a leaf: it tells their extents.
void spread_stored(Body& body) {
    for (Stmt& s : body) {
        spread_stored(s.body);
        spread_stored(s.orelse);
        if (s.kind != Stmt::Kind::tile || s.tile.kind != TileOp::Kind::store) continue;
        ExprP& value = s.exprs[s.exprs.size() - 2];
        const Extents extents = extents_of(*value);
        if (value->type.extents != extents) value = spread(value, extents);
    }
}

int reads_of(const Body& body, VarId v) {
    int n = 0;
    each_expr(body, [&](const Expr& e) { n += e.op == Op::element && var_of(*e.args[0]) == v; });
    return n;
}

void inline_positions(Function& f, Body& body, const Counts& reads, const Counts& writes) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        inline_positions(f, body[i].body, reads, writes);
        inline_positions(f, body[i].orelse, reads, writes);
        if (!is_tile_assign(f, body[i]) || writes.at(body[i].var) != 1) continue;
        const VarId v = body[i].var;
        const Type type = f.vars[static_cast<std::size_t>(v)].type;
        const ExprP value = body[i].exprs[0];
        if (!is_cheap(f, value, writes)) continue;
        Body after(body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end());
        const auto known = reads.find(v);
        if (known == reads.end() || reads_of(after, v) != known->second) continue;
        rewrite_exprs(after, [&](const ExprP& e) -> ExprP {
            if (e->op != Op::element || var_of(*e->args[0]) != v) return e;
            const Extents& extents = e->type.extents;
            std::vector<ExprP> indices(e->args.begin() + 1, e->args.end());
            const ExprP seen = indices.empty() ? value : viewed(f, value, type.extents, indices, extents);
            return cast(as_tile(seen, extents), scalar(type.dtype));
        });
        spread_stored(after);
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(i), body.end());
        for (Stmt& s : after) body.push_back(std::move(s));
        --i;
    }
}

void view_loads(const Function& f, Body& body, const Counts& reads, const Counts& writes) {
    Body out;
    for (Stmt& s : body) {
        view_loads(f, s.body, reads, writes);
        view_loads(f, s.orelse, reads, writes);
        if (!out.empty() && is_tile_assign(f, s) && s.exprs[0]->op == Op::element &&
            s.exprs[0]->args.size() > 1) {
            const Stmt& before = out.back();
            const VarId v = var_of(*s.exprs[0]->args[0]);
            if (is_tile_assign(f, before) && before.var == v && reads.at(v) == 1 && writes.at(v) == 1 &&
                tiles_read(before.exprs[0]).empty()) {
                const Extents& extents = s.exprs[0]->type.extents;
                const std::vector<ExprP> indices(s.exprs[0]->args.begin() + 1, s.exprs[0]->args.end());
                s.exprs[0] =
                    as_tile(viewed(f, before.exprs[0], f.vars[static_cast<std::size_t>(v)].type.extents,
                                   indices, extents),
                            extents);
                s.place = before.place;
                out.pop_back();
            }
        }
        out.push_back(std::move(s));
    }
    body = std::move(out);
}

void narrow_stores(const Function& f, Body& body) {
    for (Stmt& s : body) {
        narrow_stores(f, s.body);
        narrow_stores(f, s.orelse);
        if (s.kind != Stmt::Kind::tile || s.tile.kind != TileOp::Kind::store || s.tile.atomic) continue;
        const Extents whole = s.exprs[s.exprs.size() - 2]->type.extents;
        if (whole.size() < 3 || std::any_of(whole.begin(), whole.end() - 2, [](auto n) { return n != 1; }))
            continue;
        bool fits = true;
        for (std::size_t i = 1; i < s.exprs.size(); ++i)
            each_expr(s.exprs[i], [&](const Expr& e) {
                fits &= e.op != Op::element || e.args.size() > 1 || e.type.extents.size() <= 2;
            });
        if (!fits) continue;
        const Extents two(whole.end() - 2, whole.end());
        std::vector<ExprP> indices(whole.size() - 2, int_constant(0));
        for (int d = 0; d < 2; ++d)
            indices.push_back(two[static_cast<std::size_t>(d)] == 1 ? int_constant(0) : position(d, two));
        for (std::size_t i = 1; i < s.exprs.size(); ++i) {
            s.exprs[i] = viewed(f, s.exprs[i], whole, indices, two);
            if (i + 2 == s.exprs.size()) s.exprs[i] = spread(s.exprs[i], two);
        }
    }
}

}  // namespace

void see_through(Function& f) {
    Counts reads, writes;
    count(f.body, reads, writes);
    view_loads(f, f.body, reads, writes);
    inline_positions(f, f.body, reads, writes);
    narrow_stores(f, f.body);
}

}  // namespace xcuda::tiles
