#include "tiles/frame.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::tiles {

using namespace ir;

Frame aligned(const Frame& frame, const Extents& extents) {
    Frame out;
    out.extents = extents;
    const std::size_t skip = frame.at.size() - std::min(frame.at.size(), extents.size());
    const std::size_t more = extents.size() - std::min(frame.at.size(), extents.size());
    for (std::size_t d = 0; d < extents.size(); ++d)
        out.at.push_back(extents[d] == 1 || d < more ? int_constant(0) : frame.at[skip + d - more]);
    return out;
}

ExprP linear_index(const std::vector<ExprP>& indices, const Extents& extents) {
    ExprP at = int_constant(0);
    for (std::size_t d = 0; d < extents.size(); ++d)
        at = passes::add(passes::mul(std::move(at), int_constant(extents[d])), indices[d]);
    return at;
}

ExprP at(const ExprP& e, const Frame& frame, const Reader& read) {
    return replace_leaves(e, [&](const ExprP& leaf) -> ExprP {
        const Frame own = aligned(frame, leaf->type.extents);
        if (leaf->op == Op::position)
            return own.at[static_cast<std::size_t>(std::get<Axis>(leaf->payload).value)];
        if (leaf->op == Op::spread) return at(leaf->args[0], own, read);
        const VarId tile = var_of(*leaf->args[0]);
        if (leaf->args.size() == 1) return read(tile, own.at, own.extents == frame.extents);
        std::vector<ExprP> indices;
        for (std::size_t i = 1; i < leaf->args.size(); ++i)
            indices.push_back(passes::add(at(leaf->args[i], own, read), int_constant(0)));
        return read(tile, indices, false);
    });
}

namespace {

// Leaves with the extents of the frame they are read in.
void each_element(const ExprP& e, const Extents& frame,
                  const std::function<void(const Expr&, const Extents&)>& visit) {
    if (e->op == Op::spread) return each_element(e->args[0], e->type.extents, visit);
    if (e->op == Op::element) {
        visit(*e, frame);
        for (std::size_t i = 1; i < e->args.size(); ++i) each_element(e->args[i], e->type.extents, visit);
        return;
    }
    if (e->op == Op::position) return;
    for (const ExprP& a : e->args) each_element(a, frame, visit);
}

}  // namespace

std::vector<VarId> read_elsewhere(const Function& f, const ExprP& e, const Extents& extents,
                                  const std::function<bool(const Expr&)>& near) {
    std::vector<VarId> out;
    each_element(e, extents, [&](const Expr& leaf, const Extents&) {
        const VarId v = var_of(*leaf.args[0]);
        const bool own =
            (leaf.args.size() == 1 && f.vars[static_cast<std::size_t>(v)].type.extents == extents) ||
            (near && near(leaf));
        if (!own && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    });
    return out;
}

std::vector<VarId> tiles_read(const ExprP& e) {
    std::vector<VarId> out;
    each_element(e, {}, [&](const Expr& leaf, const Extents&) {
        const VarId v = var_of(*leaf.args[0]);
        if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    });
    return out;
}

std::optional<Guarded> guarded(const ExprP& e) {
    if (e->op == Op::spread) return guarded(e->args[0]);
    if (e->op != Op::select || !is_tile(*e->args[0])) return std::nullopt;
    bool loads = false;
    each_expr(e->args[1], [&](const Expr& n) { loads |= n.op == Op::load; });
    if (!loads) return std::nullopt;
    return Guarded{e->args[0], e->args[1], e->args[2]};
}

namespace {

bool uniform(const ExprP& e) { return !is_tile(*e); }

// start + position, or a position or a uniform number alone: at its least or greatest.
std::optional<ExprP> extreme(const ExprP& e, bool greatest) {
    if (uniform(e)) return e;
    if (e->op == Op::position) {
        const std::int64_t n = e->type.extents[static_cast<std::size_t>(std::get<Axis>(e->payload).value)];
        return int_constant(greatest ? n - 1 : 0);
    }
    if (e->op == Op::add) {
        const auto a = extreme(e->args[0], greatest), b = extreme(e->args[1], greatest);
        if (a && b) return passes::add(*a, *b);
    }
    if (e->op == Op::sub && uniform(e->args[1])) {
        if (const auto a = extreme(e->args[0], greatest)) return passes::sub(*a, e->args[1]);
    }
    return std::nullopt;
}

}  // namespace

std::optional<Shifted> shifted(const ExprP& e) {
    if (e->op == Op::position)
        return Shifted{
            static_cast<int>(std::get<Axis>(e->payload).value) - static_cast<int>(e->type.extents.size()),
            int_constant(0)};
    if (e->op != Op::add && e->op != Op::sub) return std::nullopt;
    const bool right = e->op == Op::add && uniform(e->args[0]);
    if (!right && !uniform(e->args[1])) return std::nullopt;
    auto found = shifted(e->args[right ? 1 : 0]);
    if (!found) return std::nullopt;
    const ExprP& by = e->args[right ? 0 : 1];
    found->start = e->op == Op::add ? passes::add(found->start, by) : passes::sub(found->start, by);
    return found;
}

namespace {

bool narrowed(const ExprP& inside, Box& box) {
    if (inside->op == Op::cast && inside->type.dtype == DType::b1) return narrowed(inside->args[0], box);
    if (inside->op == Op::logic_and) return narrowed(inside->args[0], box) && narrowed(inside->args[1], box);
    if (inside->op == Op::constant) return std::get<bool>(number_of(*inside));
    if ((inside->op != Op::lt && inside->op != Op::ge) || !uniform(inside->args[1])) return false;
    if (!is_integer(inside->args[0]->type.dtype) || !is_integer(inside->args[1]->type.dtype)) return false;
    const auto e = shifted(inside->args[0]);
    if (!e) return false;
    const auto axis = static_cast<std::size_t>(static_cast<int>(box.low.size()) + e->axis);
    const ExprP bound = passes::sub(inside->args[1], e->start);
    if (inside->op == Op::lt)
        box.high[axis] = passes::minimum(box.high[axis], bound);
    else
        box.low[axis] = passes::maximum(box.low[axis], bound);
    return true;
}

}  // namespace

std::optional<Box> box_of(const ExprP& inside, const Extents& extents) {
    Box box;
    for (const std::int64_t n : extents) {
        box.low.push_back(int_constant(0));
        box.high.push_back(int_constant(n));
    }
    if (!narrowed(inside, box)) return std::nullopt;
    return box;
}

std::optional<ExprP> holds_everywhere(const ExprP& inside, const Extents& extents) {
    if (inside->op == Op::cast) return holds_everywhere(inside->args[0], extents);
    if (uniform(inside)) return inside;
    if (inside->op == Op::logic_and) {
        const auto a = holds_everywhere(inside->args[0], extents),
                   b = holds_everywhere(inside->args[1], extents);
        if (a && b) return make(Op::logic_and, scalar(DType::b1), {*a, *b});
        return std::nullopt;
    }
    if ((inside->op == Op::lt || inside->op == Op::ge) && uniform(inside->args[1])) {
        const auto e = extreme(inside->args[0], inside->op == Op::lt);
        if (e) return make(inside->op, scalar(DType::b1), {*e, inside->args[1]});
    }
    return std::nullopt;
}

}  // namespace xcuda::tiles
