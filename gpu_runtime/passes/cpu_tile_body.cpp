#include "passes/cpu_tile_body.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

Type vector_type(Type type, int lanes) {
    type.lanes = lanes;
    type.weak = false;
    return type;
}

struct Tiler {
    Function& f;
    const TilePlan& plan;
    const TileShape shape;
    const std::array<VarId, 3>& base;
    const Box& box;
    std::map<std::tuple<VarId, int, int>, VarId> copies{};
    std::map<VarId, LoopRange> loops{};

    AxisMask vector_bit() const { return static_cast<AxisMask>(1u << plan.vector_axis); }
    AxisMask row_bit() const { return static_cast<AxisMask>(1u << plan.row_axis); }
    bool is_vector(const Expr& e) const { return plan.vary.of(e) & vector_bit(); }
    bool is_vector(VarId v) const { return plan.vary.vars[v] & vector_bit(); }
    bool has_rows(VarId v) const { return shape.rows > 1 && (plan.vary.vars[v] & row_bit()); }

    // The variable that holds v for the threads of row r and column c.
    VarId copy_of(VarId v, int r, int c) {
        if (!plan.assigned[v]) return v;
        if (!has_rows(v)) r = 0;
        if (!is_vector(v)) c = 0;
        const auto key = std::tuple(v, r, c);
        if (const auto found = copies.find(key); found != copies.end()) return found->second;
        Var copy = f.vars[v];
        if (has_rows(v)) copy.name += "_" + std::to_string(r);
        if (is_vector(v)) {
            if (shape.columns > 1) copy.name += "_" + std::to_string(c);
            copy.type = vector_type(copy.type, plan.lanes);
        }
        copy.role = Var::Role::hidden;
        const VarId id = f.add(std::move(copy));
        copies[key] = id;
        return id;
    }

    ExprP coordinate(int axis, int r, int c) const {
        ExprP e = var(base[axis], scalar(DType::i64, true));
        if (axis == plan.row_axis) return add(e, int_constant(r));
        if (axis == plan.vector_axis) return add(e, int_constant(std::int64_t{c} * plan.lanes));
        return e;
    }

    // The value for the first thread of (r, c): what an index needs.
    ExprP first(const ExprP& e, int r, int c) {
        if (e->op == Op::coord &&
            (coord_of(*e).kind == Coord::Kind::thread || coord_of(*e).kind == Coord::Kind::global))
            return coordinate(coord_of(*e).axis, r, c);
        if (e->op == Op::var) {
            if (e->type.is_array()) return e;
            return var(copy_of(var_of(*e), r, c), e->type, e->place);
        }
        if (e->op == Op::load) return load(e, r, c);
        if (e->op == Op::bound && bound_range(*e, box, scope())) return first(e->args[0], r, c);
        if (e->args.empty()) return e;
        std::vector<ExprP> args;
        for (const ExprP& a : e->args) args.push_back(first(a, r, c));
        if (e->op == Op::add && e->type == scalar(DType::i64, true)) return add(args[0], args[1]);
        return with_args(*e, std::move(args));
    }

    ExprP splat(ExprP e) const {
        if (e->type.lanes > 1) return e;
        Type type = vector_type(e->type, plan.lanes);
        return make(Op::splat, type, {std::move(e)});
    }

    // One register (or a scalar, where all lanes agree) for row r, column c.
    ExprP value(const ExprP& e, int r, int c) {
        if (!is_vector(*e)) return first(e, r, c);
        const Type type = vector_type(e->type, plan.lanes);
        switch (e->op) {
            case Op::coord: return make(Op::ramp, type, {first(e, r, c)}, e->place);
            case Op::var: return var(copy_of(var_of(*e), r, c), type, e->place);
            case Op::load: return load(e, r, c);
            case Op::cast: return make(Op::cast, type, {value(e->args[0], r, c)}, e->place);
            case Op::select: {
                ExprP condition = value(e->args[0], r, c);
                ExprP yes = splat(value(e->args[1], r, c)), no = splat(value(e->args[2], r, c));
                return make(Op::select, type, {std::move(condition), std::move(yes), std::move(no)},
                            e->place);
            }
            default: break;
        }
        auto node = std::make_shared<Expr>(*e);
        node->type = type;
        for (ExprP& a : node->args) a = splat(value(a, r, c));
        return node;
    }

    LinearScope scope() const { return {f, plan.assigned, &loops, false, true}; }

    // Which tests the box has made in place of this access.
    Access tested(Access access, std::span<const ExprP> indices) const {
        bool moves = false;
        for (const ExprP& i : indices) moves |= is_vector(*i);
        for (std::size_t d = 0; d < indices.size(); ++d) {
            if (!tested_range(indices[d], moves, box, scope())) continue;
            access.checked &= static_cast<std::uint8_t>(~(1u << d));
            access.wrap &= static_cast<std::uint8_t>(~(1u << d));
        }
        return access;
    }

    // Elements between the accesses of two neighbouring lanes.
    ExprP lane_stride(const ExprP& array, std::span<const ExprP> indices) const {
        ExprP stride = int_constant(0);
        for (std::size_t d = 0; d < indices.size(); ++d) {
            const auto sum = linear(indices[d], scope());
            if (sum && sum->coefficients[plan.vector_axis])
                stride = add(stride, mul(sum->coefficients[plan.vector_axis],
                                         axis_stride(array, static_cast<int>(d))));
        }
        return stride;
    }

    static ExprP axis_stride(const ExprP& array, int axis) {
        const Type& type = array->type;
        if (axis == type.ndim - 1 && unit_stride(type.layout)) return int_constant(1);
        if (type.layout == Layout::contiguous) {
            ExprP stride = int_constant(1);
            for (int d = axis + 1; d < type.ndim; ++d) stride = mul(stride, dim(array, d));
            return stride;
        }
        return dim(array, axis + type.ndim);  // lengths first, then strides
    }

    ExprP load(const ExprP& e, int r, int c) {
        const std::span<const ExprP> indices = std::span(e->args).subspan(1);
        Access access = tested(access_of(*e), indices);
        auto node = std::make_shared<Expr>(*e);
        node->args.resize(1);
        for (const ExprP& i : indices) node->args.push_back(first(i, r, c));
        if (is_vector(*e)) {
            node->type = vector_type(e->type, plan.lanes);
            node->args.push_back(lane_stride(e->args[0], indices));
            access.masked = shape.masked;
        }
        node->payload = access;
        return node;
    }

    void store(const Stmt& s, int r, int c, const ExprP& mask, Body& out) {
        const ExprP& array = s.exprs[0];
        const auto indices = std::span(s.exprs).subspan(1, static_cast<std::size_t>(array->type.ndim));
        std::vector<ExprP> firsts;
        for (const ExprP& i : indices) firsts.push_back(first(i, r, c));
        Access access = tested(s.access, indices);
        access.masked = shape.masked;
        Stmt copy = ir::store(array, std::move(firsts), splat(value(s.exprs.back(), r, c)), access, s.place);
        copy.exprs.push_back(lane_stride(array, indices));
        if (mask) copy.exprs.push_back(mask);
        out.push_back(std::move(copy));
    }

    template <class Each>
    void each_copy(bool rows, bool columns, Each each) {
        for (int r = 0; r < (rows ? shape.rows : 1); ++r)
            for (int c = 0; c < (columns ? shape.columns : 1); ++c) each(r, c);
    }

    // `masks[c]`: the lanes for which the statement holds, where a branch parts them (then there is one row).
    void body(const Body& b, const std::vector<ExprP>& masks, Body& out) {
        for (const Stmt& s : b) stmt(s, masks, out);
    }

    void stmt(const Stmt& s, const std::vector<ExprP>& masks, Body& out) {
        switch (s.kind) {
            case Stmt::Kind::assign:
                each_copy(plan.vary.vars[s.var] & row_bit(), is_vector(s.var), [&](int r, int c) {
                    const VarId target = copy_of(s.var, r, c);
                    ExprP e = value(s.exprs[0], r, c);
                    if (is_vector(s.var)) e = splat(std::move(e));
                    if (!masks.empty())
                        e = make(Op::select, e->type, {masks[c], e, var(target, f.vars[target].type)});
                    out.push_back(assign(target, std::move(e), s.place));
                });
                return;
            case Stmt::Kind::store:
                each_copy(true, true,
                          [&](int r, int c) { store(s, r, c, masks.empty() ? nullptr : masks[c], out); });
                return;
            case Stmt::Kind::branch: branch_stmt(s, masks, out); return;
            case Stmt::Kind::loop_range:
            case Stmt::Kind::loop_while: {
                Stmt copy = simple(s.kind, s.place);
                copy.turns = s.turns;
                copy.site = s.site;
                for (const ExprP& e : s.exprs) copy.exprs.push_back(first(e, 0, 0));
                const bool named = s.kind == Stmt::Kind::loop_range && plan.counts[s.var] == 1;
                if (s.kind == Stmt::Kind::loop_range) copy.var = copy_of(s.var, 0, 0);
                if (named) loops[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
                body(s.body, masks, copy.body);
                if (named) loops.erase(s.var);
                out.push_back(std::move(copy));
                return;
            }
            default: out.push_back(s); return;  // poll, break, continue
        }
    }

    void branch_stmt(const Stmt& s, const std::vector<ExprP>& masks, Body& out) {
        if (!is_vector(*s.exprs[0])) {
            Stmt copy = simple(s.kind, s.place);
            copy.exprs = {first(s.exprs[0], 0, 0)};
            body(s.body, masks, copy.body);
            body(s.orelse, masks, copy.orelse);
            out.push_back(std::move(copy));
            return;
        }
        std::vector<ExprP> yes, no;
        for (int c = 0; c < shape.columns; ++c) {
            ExprP condition = splat(value(s.exprs[0], 0, c));
            const Type type = condition->type;
            const auto keep = [&](ExprP e) {
                if (!masks.empty()) e = make(Op::logic_and, type, {masks[c], std::move(e)});
                const VarId id = f.add({"mask", type, Var::Role::hidden, s.place});
                out.push_back(assign(id, std::move(e), s.place));
                return var(id, type);
            };
            yes.push_back(keep(condition));
            if (!s.orelse.empty()) {
                const ExprP plain = masks.empty() ? yes.back() : condition;
                no.push_back(keep(make(Op::logic_not, type, {plain})));
            }
        }
        body(s.body, yes, out);
        if (!s.orelse.empty()) body(s.orelse, no, out);
    }
};

}  // namespace

Body tile_body(Function& function, const Body& body, const TilePlan& plan, TileShape shape,
               const std::array<VarId, 3>& base, const Box& box) {
    Body out;
    Tiler{function, plan, shape, base, box}.body(body, {}, out);
    return out;
}

}  // namespace xcuda::passes
