#include "tiles/tidy.hpp"

#include <algorithm>
#include <map>

#include "ir/walk.hpp"
#include "tiles/frame.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

using Reads = std::map<VarId, int>;

void count(const Body& body, Reads& reads) {
    each_expr(body, [&](const Expr& e) {
        if (e.op == Op::element) ++reads[var_of(*e.args[0])];
    });
}

bool reads_tile(const ExprP& e, VarId tile) {
    const std::vector<VarId> read = tiles_read(e);
    return std::find(read.begin(), read.end(), tile) != read.end();
}

// Whether the statement may write `to` instead: it reads `to` nowhere, or at the element's own place alone.
bool may_write(const Function& f, const Stmt& s, VarId to) {
    const Extents& extents = f.vars[static_cast<std::size_t>(to)].type.extents;
    for (std::size_t i = 0; i < s.exprs.size(); ++i) {
        if (!reads_tile(s.exprs[i], to)) continue;
        const bool by_place = s.kind == Stmt::Kind::assign || (s.tile.kind == TileOp::Kind::mma && i == 2);
        const std::vector<VarId> elsewhere = read_elsewhere(f, s.exprs[i], extents);
        if (!by_place || std::find(elsewhere.begin(), elsewhere.end(), to) != elsewhere.end()) return false;
    }
    return true;
}

bool makes_tile(const Function& f, const Stmt& s) {
    if (s.var < 0 || !f.vars[static_cast<std::size_t>(s.var)].type.is_tile()) return false;
    return s.kind == Stmt::Kind::assign || (s.kind == Stmt::Kind::tile && s.tile.kind != TileOp::Kind::store);
}

void merge(Function& f, Body& body, const Reads& reads) {
    Body out;
    for (Stmt& s : body) {
        merge(f, s.body, reads);
        merge(f, s.orelse, reads);
        const bool copy = s.kind == Stmt::Kind::assign && !out.empty() && s.exprs[0]->op == Op::element &&
                          s.exprs[0]->args.size() == 1;
        if (copy) {
            Stmt& before = out.back();
            const VarId passed = var_of(*s.exprs[0]->args[0]);
            const auto& vars = f.vars;
            if (makes_tile(f, before) && before.var == passed && reads.at(passed) == 1 &&
                vars[static_cast<std::size_t>(passed)].role == Var::Role::hidden &&
                vars[static_cast<std::size_t>(passed)].type == vars[static_cast<std::size_t>(s.var)].type &&
                may_write(f, before, s.var)) {
                before.var = s.var;
                continue;
            }
        }
        out.push_back(std::move(s));
    }
    body = std::move(out);
}

}  // namespace

void merge_copies(Function& function) {
    Reads reads;
    count(function.body, reads);
    merge(function, function.body, reads);
}

}  // namespace xcuda::tiles
