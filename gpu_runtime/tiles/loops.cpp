// Tile programs as loops of one thread, for the CPU device: what the vectoriser and the caches like.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/fold.hpp"
#include "tiles/frame.hpp"
#include "tiles/lower.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::mul;

namespace {

struct Loops {
    Function& f;
    bool whole = false;  // the kernel stores what the compiler's tiles have inside the result, no more
    std::map<VarId, VarId> arrays{};  // tile variable -> its local array
    std::map<VarId, std::optional<std::vector<ExprP>>>
        ends{};  // of tiles that are zero beyond; none where written twice

    VarId hidden(const Type& type, const char* name = "i") {
        return f.add({name, type, type.is_array() ? Var::Role::local_array : Var::Role::hidden, {}});
    }
    Type type_of(VarId v) const { return f.vars[static_cast<std::size_t>(v)].type; }
    ExprP read(VarId v) const { return var(v, type_of(v)); }

    VarId array_of(VarId tile) {
        const auto known = arrays.find(tile);
        if (known != arrays.end()) return known->second;
        const Var& v = f.vars[static_cast<std::size_t>(tile)];
        const Type type = fixed_array(v.type.dtype, {elements(v.type.extents)}, Space::local);
        const VarId made = f.add({v.name + "_tile", type, Var::Role::local_array, v.place});
        arrays.emplace(tile, made);
        return made;
    }

    ExprP load(VarId array, ExprP index) const {
        Expr e = *make(Op::load, scalar(type_of(array).dtype), {read(array), std::move(index)});
        e.payload = Access{};
        return std::make_shared<const Expr>(std::move(e));
    }
    Stmt put(VarId array, ExprP index, ExprP value) const {
        return store(read(array), {std::move(index)}, std::move(value), Access{});
    }

    Reader reader() {
        return [this](VarId tile, const std::vector<ExprP>& indices, bool) {
            return load(array_of(tile), linear_index(indices, type_of(tile).extents));
        };
    }
    ExprP value_at(const ExprP& e, const Frame& frame) { return at(e, frame, reader()); }

    Stmt loop(VarId counter, std::int64_t n, Body body) const {
        return loop_range(counter, int_constant(0), int_constant(n), int_constant(1), std::move(body));
    }

    // A nest of loops over all elements, or those of a box, the last axis innermost; without `skip`, which the body sees as
    // what it is given.
    Body nest(const Extents& extents, const std::function<Body(const Frame&)>& body, int skip = -1,
              ExprP skipped = nullptr, const std::optional<Box>& box = std::nullopt) {
        Frame frame;
        frame.extents = extents;
        std::vector<VarId> counters;
        for (std::size_t d = 0; d < extents.size(); ++d) {
            const bool counts = static_cast<int>(d) != skip && (extents[d] > 1 || box);
            counters.push_back(counts ? hidden(scalar(DType::i64, true)) : -1);
            frame.at.push_back(static_cast<int>(d) == skip ? skipped
                               : counts                    ? read(counters[d])
                                                           : int_constant(0));
        }
        Body inner = body(frame);
        for (std::size_t d = extents.size(); d-- > 0;)
            if (counters[d] >= 0) {
                Body whole;
                whole.push_back(box ? loop_range(counters[d], box->low[d], box->high[d], int_constant(1),
                                                 std::move(inner))
                                    : loop(counters[d], extents[d], std::move(inner)));
                inner = std::move(whole);
            }
        return inner;
    }

    void append(Body& to, Body from) {
        for (Stmt& s : from) to.push_back(std::move(s));
    }

    // var = e, element by element; where one test tells that nothing is outside, without a test of each.
    Body map(VarId tile, const ExprP& e) {
        const Extents extents = type_of(tile).extents;
        const std::vector<VarId> elsewhere = read_elsewhere(f, e, extents);
        if (std::find(elsewhere.begin(), elsewhere.end(), tile) != elsewhere.end()) {  // t = t.T
            const VarId other = f.add({"t", type_of(tile), Var::Role::hidden, {}});
            Body out = map(other, e);
            append(out, map(tile, element(other, type_of(other))));
            return out;
        }
        const VarId array = array_of(tile);
        const auto filled = [&](const ExprP& value, const std::optional<Box>& box = std::nullopt) {
            return nest(
                extents,
                [&](const Frame& frame) {
                    return Body{put(array, linear_index(frame.at, extents), value_at(value, frame))};
                },
                -1, nullptr, box);
        };
        if (const auto parts = guarded(e)) {
            if (const auto all = holds_everywhere(parts->inside, extents)) {
                const std::vector<VarId> before = tiles_read(parts->value);
                const auto box = box_of(parts->inside, extents);
                const auto known = ends.find(tile);
                if (known != ends.end())
                    known->second.reset();
                else if (box && whole && parts->outside->op == Op::constant &&
                         real_of(number_of(*parts->outside)) == 0.0)
                    ends.emplace(tile, box->high);
                if (!box || std::find(before.begin(), before.end(), tile) != before.end())
                    return Body{branch(*all, filled(parts->value), filled(e))};
                // No test of each element: a masked vector takes two to three times as long.
                Body part = filled(parts->outside);
                append(part, filled(parts->value, box));
                return Body{branch(*all, filled(parts->value), std::move(part))};
            }
        }
        return filled(e);
    }

    Body store_tile(const Stmt& s) {
        const Extents extents = s.exprs[s.exprs.size() - 2]->type.extents;
        const ExprP& value = s.exprs[s.exprs.size() - 2];
        const ExprP& inside = s.exprs.back();
        const ExprP& array = s.exprs[0];
        const auto box = box_of(inside, extents);
        const auto put_all = [&](bool whole) {
            return nest(
                extents,
                [&](const Frame& frame) {
                    std::vector<ExprP> indices;
                    for (std::size_t i = 1; i + 2 < s.exprs.size(); ++i)
                        indices.push_back(value_at(s.exprs[i], frame));
                    Body body = put_one(s, array, std::move(indices), value_at(value, frame), frame);
                    if (whole || box) return body;
                    return Body{branch(value_at(inside, frame), std::move(body))};
                },
                -1, nullptr, whole ? std::nullopt : box);
        };
        const auto all = holds_everywhere(inside, extents);
        if (!all) return put_all(false);
        if (passes::integer_of(*all) || (*all)->op == Op::constant)
            return put_all(std::get<bool>(number_of(**all)));
        return Body{branch(*all, put_all(true), put_all(false))};
    }

    Body put_one(const Stmt& s, const ExprP& array, std::vector<ExprP> indices, ExprP value,
                 const Frame& frame) {
        if (!s.tile.atomic)
            return Body{store(array, std::move(indices), std::move(value), s.access, s.place)};
        std::vector<ExprP> args{array};
        for (ExprP& i : indices) args.push_back(std::move(i));
        const Type type = scalar(array->type.dtype);
        args.push_back(std::move(value));
        Expr e = *make(Op::atomic, type, std::move(args), s.place);
        e.payload = Atomic{*s.tile.atomic, Access{}};
        const VarId old = hidden(type, "old");
        return Body{assign(old, std::make_shared<const Expr>(std::move(e)), s.place),
                    put(array_of(s.var), linear_index(frame.at, frame.extents), read(old))};
    }

    bool is_index(TileOp::Fold fold) const {
        return fold == TileOp::Fold::argmax || fold == TileOp::Fold::argmin;
    }

    // Sums along the last axis in as many lanes as four vector registers have: they stay vectors, and four are on their
    // way at once.
    Body reduce_row(const Folding& fold, const ExprP& e, const Frame& frame, std::size_t axis, VarId result) {
        const std::int64_t n = frame.extents[axis];
        const DType dtype = e->type.dtype;
        const std::int64_t lanes =
            std::min<std::int64_t>(n, 256 / static_cast<std::int64_t>(info(dtype).size));
        const VarId partial = hidden(fixed_array(dtype, {lanes}, Space::local), "partial");
        const VarId i = hidden(scalar(DType::i64, true)), l = hidden(scalar(DType::i64, true));
        const auto at_place = [&](ExprP place) {
            Frame here = frame;
            here.at[axis] = std::move(place);
            return value_at(e, here);
        };
        Body out;
        out.push_back(loop(l, lanes, {put(partial, read(l), at_place(read(l)))}));
        if (n > lanes)
            out.push_back(loop_range(
                i, int_constant(lanes), int_constant(n), int_constant(lanes),
                {loop(l, lanes,
                      {put(partial, read(l),
                           folded(fold, load(partial, read(l)), at_place(add(read(i), read(l)))))})}));
        for (std::int64_t half = lanes / 2; half > 0; half /= 2)
            out.push_back(loop(
                l, half,
                {put(partial, read(l),
                     folded(fold, load(partial, read(l)), load(partial, add(read(l), int_constant(half)))))}));
        out.push_back(assign(result, load(partial, int_constant(0))));
        return out;
    }

    Body reduce(const Stmt& s) {
        const ExprP& e = s.exprs[0];
        const Extents extents = extents_of(*e);
        if (s.tile.axis < 0) return reduce_all(s, e, extents);
        const auto axis = static_cast<std::size_t>(s.tile.axis);
        const VarId to = array_of(s.var);
        const Extents kept = type_of(s.var).extents;
        if (is_index(s.tile.fold))
            return nest(
                extents, [&](const Frame& frame) { return reduce_place(s, e, frame, axis, to, kept); },
                s.tile.axis, int_constant(0));
        if (axis + 1 == extents.size())
            return nest(
                extents,
                [&](const Frame& frame) {
                    const VarId sum = hidden(scalar(type_of(to).dtype), "fold");
                    Body body = reduce_row(folding_of(s), e, frame, axis, sum);
                    body.push_back(put(to, linear_index(frame.at, kept), read(sum)));
                    return body;
                },
                s.tile.axis, int_constant(0));
        // Along another axis: row upon row.
        const auto row = [&](const ExprP& place, bool first) {
            return nest(
                extents,
                [&](const Frame& frame) {
                    Frame out = frame;
                    out.at[axis] = int_constant(0);
                    const ExprP index = linear_index(out.at, kept), value = value_at(e, frame);
                    return Body{put(to, index, first ? value : folded(folding_of(s), load(to, index), value))};
                },
                s.tile.axis, place);
        };
        Body out = row(int_constant(0), true);
        if (extents[axis] > 1) {
            const VarId i = hidden(scalar(DType::i64, true));
            out.push_back(loop_range(i, int_constant(1), int_constant(extents[axis]), int_constant(1),
                                     row(read(i), false)));
        }
        return out;
    }

    // argmax and argmin: the best so far and where it was.
    Body reduce_place(const Stmt& s, const ExprP& e, const Frame& frame, std::size_t axis, VarId to,
                      const Extents& kept) {
        const VarId best = hidden(scalar(e->type.dtype), "best"), where = hidden(scalar(DType::i64), "where"),
                    i = hidden(scalar(DType::i64, true)), x = hidden(scalar(e->type.dtype), "x");
        Frame here = frame;
        here.at[axis] = int_constant(0);
        Body out{assign(best, value_at(e, here)), assign(where, cast(int_constant(0), scalar(DType::i64)))};
        here.at[axis] = read(i);
        Body taken{assign(best, read(x)), assign(where, cast(read(i), scalar(DType::i64)))};
        out.push_back(loop_range(i, int_constant(1), int_constant(frame.extents[axis]), int_constant(1),
                                 {assign(x, value_at(e, here)),
                                  branch(takes_over(s.tile.fold, read(best), read(x)), std::move(taken))}));
        out.push_back(put(to, linear_index(frame.at, kept), read(where)));
        return out;
    }

    // All elements in one row.
    Body reduce_all(const Stmt& s, const ExprP& e, const Extents& extents) {
        const std::int64_t n = elements(extents);
        Body out;
        ExprP row = e;
        const bool flat = e->op == Op::element && e->args.size() == 1;
        if (extents.size() != 1) {
            VarId held;
            if (flat) {
                held = var_of(*e->args[0]);
            } else {
                held = f.add({"t", tile(e->type.dtype, extents), Var::Role::hidden, {}});
                out = map(held, e);
            }
            const VarId line = f.add({"row", tile(e->type.dtype, {n}), Var::Role::hidden, {}});
            arrays.emplace(line, array_of(held));
            row = element(line, type_of(line));
        }
        const Frame frame{{int_constant(0)}, {n}};
        if (!is_index(s.tile.fold)) {
            append(out, reduce_row(folding_of(s), row, frame, 0, s.var));
            return out;
        }
        const VarId one = f.add({"t", tile(DType::i64, {1}), Var::Role::hidden, {}});
        append(out, reduce_place(s, row, frame, 0, array_of(one), {1}));
        out.push_back(assign(s.var, load(array_of(one), int_constant(0))));
        return out;
    }

    Body scan(const Stmt& s) {
        const ExprP& e = s.exprs[0];
        const Extents extents = type_of(s.var).extents;
        const std::vector<VarId> read_tiles = tiles_read(e);
        if (std::find(read_tiles.begin(), read_tiles.end(), s.var) != read_tiles.end())
            throw bug("a scan into the tile that it reads");
        const auto axis = static_cast<std::size_t>(s.tile.axis);
        const VarId to = array_of(s.var);
        const std::int64_t n = extents[axis];
        const auto place = [&](const ExprP& i) {
            return s.tile.reverse ? passes::sub(int_constant(n - 1), i) : i;
        };
        const auto row = [&](const ExprP& i, bool first) {
            return nest(
                extents,
                [&](const Frame& frame) {
                    const ExprP index = linear_index(frame.at, extents), value = value_at(e, frame);
                    if (first) return Body{put(to, index, value)};
                    Frame before = frame;
                    before.at[axis] = place(passes::sub(i, int_constant(1)));
                    return Body{put(
                        to, index, folded(folding_of(s), load(to, linear_index(before.at, extents)), value))};
                },
                s.tile.axis, place(i));
        };
        Body out = row(int_constant(0), true);
        if (n > 1) {
            const VarId i = hidden(scalar(DType::i64, true));
            out.push_back(
                loop_range(i, int_constant(1), int_constant(n), int_constant(1), row(read(i), false)));
        }
        return out;
    }

    // The expression as a whole in an array, row-major.
    VarId in_array(const ExprP& e, Body& before) {
        if (e->op == Op::element && e->args.size() == 1) return array_of(var_of(*e->args[0]));
        const VarId held = f.add({"operand", tile(e->type.dtype, extents_of(*e)), Var::Role::hidden, {}});
        append(before, map(held, e));
        return array_of(held);
    }

    ExprP address(VarId array, ExprP index) const {
        Expr e = *make(Op::address, scalar(type_of(array).dtype), {read(array), std::move(index)});
        e.payload = Access{};
        return std::make_shared<const Expr>(std::move(e));
    }

    // Rows, columns and depth beyond which both operands of a product are zero.
    std::optional<std::vector<ExprP>> edges_of(const Stmt& s, const Extents& x, const Extents& y) const {
        if (x.size() != 2 || y.size() != 2) return std::nullopt;
        const auto end_of = [&](const ExprP& e, std::size_t axis) -> ExprP {
            if (e->op != Op::element || (e->args.size() != 1 && !is_turned(*e))) return nullptr;
            const auto known = ends.find(var_of(*e->args[0]));
            if (known == ends.end() || !known->second || known->second->size() != 2) return nullptr;
            return (*known->second)[e->args.size() == 1 ? axis : 1 - axis];
        };
        const ExprP rows = end_of(s.exprs[0], 0), columns = end_of(s.exprs[1], 1),
                    one = end_of(s.exprs[0], 1), two = end_of(s.exprs[1], 0);
        if (!rows || !columns || !one || !two) return std::nullopt;
        return std::vector<ExprP>{rows, columns, passes::maximum(one, two)};
    }

    Body product(const Stmt& s) {
        const Extents x = extents_of(*s.exprs[0]), y = extents_of(*s.exprs[1]), to = type_of(s.var).extents;
        const std::size_t r = to.size();
        Body out;
        const auto operand = [&](const ExprP& e) {  // vectors of halves are no vectors to the CPU
            return in_array(is_half(e->type.dtype) ? cast(e, scalar(DType::f32)) : e, out);
        };
        const VarId a = operand(s.exprs[0]), b = operand(s.exprs[1]);
        const bool in_place = s.exprs[2]->op == Op::element && s.exprs[2]->args.size() == 1 &&
                              var_of(*s.exprs[2]->args[0]) == s.var;
        if (!in_place) append(out, map(s.var, s.exprs[2]));
        const VarId c = array_of(s.var);
        const std::int64_t m = to[r - 2], n = to[r - 1], k = x[r - 1];
        Stmt call = simple(Stmt::Kind::machine, s.place);
        call.text = fmt::format("xc_tile_product<{}, {}, {}, {}>", info(type_of(c).dtype).cpp, m, n, k);
        const auto edges = edges_of(s, x, y);
        const Extents batch(to.begin(), to.end() - 2);
        append(out, nest(batch, [&](const Frame& frame) {
                   const auto part = [&](VarId array, const Extents& extents) {
                       const Extents own(extents.begin(), extents.end() - 2);
                       const std::int64_t each = extents[r - 2] * extents[r - 1];
                       return address(array,
                                      mul(linear_index(aligned(frame, own).at, own), int_constant(each)));
                   };
                   call.exprs = {part(c, to), part(a, x), part(b, y)};
                   if (edges) {
                       call.text.replace(0, call.text.find('<'), "xc_tile_product_to");
                       call.exprs.insert(call.exprs.end(), edges->begin(), edges->end());
                   }
                   return Body{call};
               }));
        return out;
    }

    Body lower(const Stmt& s) {
        if (s.kind == Stmt::Kind::assign && type_of(s.var).is_tile()) return map(s.var, s.exprs[0]);
        if (s.kind != Stmt::Kind::tile) {
            Stmt copy = s;
            copy.body = lower(s.body);
            copy.orelse = lower(s.orelse);
            return Body{std::move(copy)};
        }
        switch (s.tile.kind) {
            case TileOp::Kind::store: return store_tile(s);
            case TileOp::Kind::reduce: return reduce(s);
            case TileOp::Kind::scan: return scan(s);
            case TileOp::Kind::mma: return product(s);
            case TileOp::Kind::none: break;
        }
        throw bug("a tile statement of no kind");
    }

    Body lower(const Body& body) {
        return placed(body, [&](const Stmt& s) { return lower(s); });
    }
};

}  // namespace

Module lower_to_loops(Module module) {
    Function& f = module.kernel();
    f.body = Loops{f, module.programs && module.programs->free_unit}.lower(f.body);
    return module;
}

}  // namespace xcuda::tiles
