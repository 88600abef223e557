// The implicit level of tiles: expressions of whole arrays, of which each program computes its tile. Loops over inner
// dimensions are made here.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using Fold = ir::TileOp::Fold;
using ir::ExprP;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);

bool is_one(const ExprP& e) {
    return is_constant(*e) && std::holds_alternative<std::int64_t>(ir::number_of(*e)) &&
           std::get<std::int64_t>(ir::number_of(*e)) == 1;
}

std::vector<SeenRange> last(const std::vector<SeenRange>& ranges, std::size_t n) {
    return {ranges.end() - static_cast<std::ptrdiff_t>(std::min(n, ranges.size())), ranges.end()};
}

}  // namespace

Value Lowering::seen_value(Seen seen, const Place& place) const {
    Value v;
    v.kind = Value::Kind::seen;
    v.seen = std::make_shared<const Seen>(std::move(seen));
    v.place = place;
    return v;
}

Value Lowering::seen_of(const Value& v, const Place& place) {
    if (v.kind == Value::Kind::seen) return v;
    Seen seen;
    if (v.is_indexed()) {
        seen.array = v;
        seen.dtype = v.expr->type.dtype;
        for (std::size_t d = 0; d < rank(v); ++d) seen.lengths.push_back(length(v, d, place));
        return seen_value(std::move(seen), place);
    }
    const ExprP e = number(v, place);
    if (ir::is_tile(*e))
        throw refused(place, "a tile that is computed already beside a whole array",
                      "write the whole expression inside tiles.compute(...)");
    seen.kind = Seen::Kind::map;
    seen.dtype = e->type.dtype;
    seen.apply = [e](const std::vector<ExprP>&) { return e; };
    return seen_value(std::move(seen), place);
}

// The lengths that NumPy gives the operands together; a run-time test where they are not known to fit.
Value Lowering::seen_map(std::vector<Value> operands, std::function<ExprP(std::vector<ExprP>)> apply,
                         const Place& place) {
    Seen seen;
    seen.kind = Seen::Kind::map;
    std::size_t axes = 0;
    for (Value& v : operands) {
        if (v.is_indexed() || v.kind == Value::Kind::seen) v = seen_of(v, place);
        if (v.kind == Value::Kind::seen) axes = std::max(axes, v.seen->lengths.size());
    }
    seen.lengths.assign(axes, nullptr);
    for (std::size_t d = 0; d < axes; ++d) {
        ExprP& n = seen.lengths[d];
        for (const Value& v : operands) {
            if (v.kind != Value::Kind::seen || v.seen->lengths.size() + d < axes) continue;
            const ExprP& m = v.seen->lengths[v.seen->lengths.size() - axes + d];
            if (m->type.is_none()) return scalar_value(m);
            if (!n || is_one(n)) {
                n = m;
            } else if (!ir::same(*n, *m) && !is_one(m)) {
                const ExprP same = comparison(Op::eq, n, m, place), one = ir::int_constant(1, place);
                const ir::Type boolean = same->type;
                const ExprP left = comparison(Op::eq, n, one, place),
                            right = comparison(Op::eq, m, one, place);
                stop_unless(ir::make(Op::logic_or, boolean,
                                     {same, ir::make(Op::logic_or, boolean, {left, right}, place)}, place),
                            "ValueError", "the arrays' shapes don't broadcast together", place);
                n = spill(ir::make(Op::select, weak_int, {left, m, n}, place));
            }
        }
    }
    // The dtype, as of one element of each.
    std::vector<ExprP> probe;
    for (const Value& v : operands)
        probe.push_back(v.kind == Value::Kind::seen &&
                                !(v.seen->kind == Seen::Kind::map && v.seen->lengths.empty())
                            ? ir::spread(ir::constant(to_dtype(std::int64_t{1}, v.seen->dtype),
                                                      ir::scalar(v.seen->dtype), place),
                                         {1}, place)
                            : number(v, place));
    ir::Body unused, *outside = out;
    out = &unused;
    const ExprP one = apply(probe);
    out = outside;
    if (one->type.is_none()) return scalar_value(one);
    seen.dtype = one->type.dtype;
    seen.operands = std::move(operands);
    seen.apply = std::move(apply);
    return seen_value(std::move(seen), place);
}

Value Lowering::seen_transpose(const Value& a, const Place& place) {
    Seen seen;
    seen.kind = Seen::Kind::transpose;
    seen.operands = {a};
    seen.lengths = a.seen->lengths;
    seen.dtype = a.seen->dtype;
    if (seen.lengths.size() < 2) return a;
    std::swap(seen.lengths[seen.lengths.size() - 1], seen.lengths[seen.lengths.size() - 2]);
    return seen_value(std::move(seen), place);
}

Value Lowering::seen_product(const Value& a, const Value& b, const Place& place) {
    const std::vector<ExprP>&x = a.seen->lengths, &y = b.seen->lengths;
    if (x.size() < 2 || y.size() < 2)
        throw refused(place,
                      fmt::format("a matrix product takes matrices, found arrays of {} and {} ax{}", x.size(),
                                  y.size(), y.size() == 1 ? "is" : "es"),
                      "give the vector an axis: v[:, None] or v[None, :]");
    for (const ExprP& n : x)
        if (n->type.is_none()) return scalar_value(n);
    for (const ExprP& n : y)
        if (n->type.is_none()) return scalar_value(n);
    const ExprP &inner = x.back(), &other = y[y.size() - 2];
    if (!ir::same(*inner, *other))
        stop_unless(
            comparison(Op::eq, inner, other, place), "ValueError",
            "the matrices can't be multiplied: the first has another number of columns than the second "
            "has rows",
            place);
    Seen seen;
    seen.kind = Seen::Kind::product;
    seen.operands = {a, b};
    const std::vector<ExprP>& longer = x.size() >= y.size() ? x : y;
    seen.lengths.assign(longer.begin(), longer.end() - 2);
    for (std::size_t d = 0; d < seen.lengths.size(); ++d) {
        const std::size_t back = longer.size() - d;
        if (x.size() < back || y.size() < back || ir::same(*x[x.size() - back], *y[y.size() - back]))
            continue;
        stop_unless(comparison(Op::eq, x[x.size() - back], y[y.size() - back], place), "ValueError",
                    "the stacks of matrices have different lengths", place);
    }
    seen.lengths.push_back(x[x.size() - 2]);
    seen.lengths.push_back(y.back());
    const DType common = promote(a.seen->dtype, b.seen->dtype);
    seen.dtype = is_half(common)                                                        ? DType::f32
                 : (is_integer(common) && info(common).size < 4) || common == DType::b1 ? DType::i32
                                                                                        : common;
    return seen_value(std::move(seen), place);
}

Value Lowering::seen_reduce(const Value& a, ir::TileOp op, int axis, bool keep, const Place& place) {
    if (op.fold == Fold::argmax || op.fold == Fold::argmin)
        throw refused(place, "argmax() and argmin() take tiles of the explicit level",
                      "load the row: tiles.load(A, (i, 0), (1, n))");
    Seen seen;
    seen.kind = Seen::Kind::reduce;
    seen.operands = {a};
    seen.fold = op;
    seen.fold.axis = axis;
    seen.keep = keep;
    seen.lengths = a.seen->lengths;
    if (keep)
        seen.lengths[static_cast<std::size_t>(axis)] = ir::int_constant(1, place);
    else
        seen.lengths.erase(seen.lengths.begin() + axis);
    if (seen.lengths.empty())
        throw refused(place, "a whole array can't be reduced to one number by programs that see a tile each",
                      "keep the axis: keepdims=True, or write the explicit level with tiles.atomic_add");
    const DType d = a.seen->dtype;
    const bool sums = op.fold == Fold::sum || op.fold == Fold::prod;
    seen.dtype = !sums || is_floating(d) ? d : is_signed(d) || d == DType::b1 ? DType::i64 : DType::u64;
    return seen_value(std::move(seen), place);
}

// Of an axis that may have length 1 where others go on, the one element there is.
ExprP Lowering::seen_leaf(const Value& array, const std::vector<SeenRange>& ranges, bool spreads,
                          const Place& place) {
    ir::Extents extents;
    std::vector<ExprP> starts;
    for (const SeenRange& r : ranges) {
        extents.push_back(r.extent);
        starts.push_back(r.start);
    }
    const ExprP outside = padding_from(nullptr, array.expr->type.dtype);
    if (!spreads) return load_tile(array, starts, extents, outside, place);
    ExprP short_axis;
    std::vector<ExprP> indices;
    for (std::size_t d = 0; d < starts.size(); ++d) {
        const ExprP n = length(array, d, place);
        ExprP at = arithmetic(Op::add, starts[d], ir::position(static_cast<int>(d), extents, place), place);
        if (is_one(n)) {
            indices.push_back(ir::int_constant(0, place));
            continue;
        }
        const ExprP one = comparison(Op::eq, n, ir::int_constant(1, place), place);
        short_axis = short_axis ? ir::make(Op::logic_or, one->type, {short_axis, one}, place) : one;
        indices.push_back(ir::make(Op::select, weak_int, {one, ir::int_constant(0, place), at}, place));
    }
    const ir::Type type = ir::tile(array.expr->type.dtype, extents);
    const ir::VarId id = hidden(type, place);
    ir::Body plain, repeated, *around = out;
    out = &plain;
    emit(ir::assign(id, load_tile(array, starts, extents, outside, place), place));
    out = &repeated;
    emit(ir::assign(
        id, load_indexed(array, indices, within_array(array, indices, place), outside, extents, place),
        place));
    out = around;
    if (!short_axis)
        for (ir::Stmt& s : repeated) emit(std::move(s));
    else
        emit(ir::branch(short_axis, std::move(repeated), std::move(plain), place));
    return ir::element(id, type, place);
}

void Lowering::counted_from_zero(const ExprP& stop, std::int64_t step, const Place& place,
                                 const std::function<void(const ExprP&)>& body) {
    const ir::VarId at = hidden(weak_int, place);
    nonnegative_vars.resize(at + 1, false);
    nonnegative_vars[at] = true;
    ir::Body inner, *around = out;
    out = &inner;
    body(ir::var(at, weak_int, place));
    out = around;
    emit(ir::loop_range(at, ir::int_constant(0, place), stop, ir::int_constant(step, place), std::move(inner),
                        place));
}

ExprP Lowering::seen_sum(const Seen& seen, const std::vector<SeenRange>& ranges, const Place& place) {
    const Value &a = seen.operands[0], &b = seen.operands[1];
    const std::size_t r = ranges.size(), m = a.seen->lengths.size(), n = b.seen->lengths.size();
    const std::int64_t depth = unit.tile.depth ? unit.tile.depth : ranges[r - 1].extent;
    ir::Extents extents;
    for (const SeenRange& range : ranges) extents.push_back(range.extent);
    const ir::Type type = ir::tile(seen.dtype, extents);
    const ir::VarId sum = hidden(type, place);
    const ExprP zero = ir::constant(to_dtype(std::int64_t{0}, seen.dtype), ir::scalar(seen.dtype), place);
    emit(ir::assign(sum, ir::spread(zero, extents, place), place));
    counted_from_zero(a.seen->lengths.back(), depth, place, [&](const ExprP& k) {
        std::vector<SeenRange> left = last(ranges, m), right = last(ranges, n);
        left.back() = {k, depth};
        right[right.size() - 2] = {k, depth};
        const ExprP x = seen_at(a, left, false, place), y = seen_at(b, right, false, place);
        emit(ir::assign(sum, product(x, y, ir::element(sum, type, place), place), place));
    });
    return ir::element(sum, type, place);
}

ExprP Lowering::seen_fold(const Seen& seen, const std::vector<SeenRange>& ranges, const Place& place) {
    const Value& a = seen.operands[0];
    const auto axis = static_cast<std::size_t>(seen.fold.axis);
    std::vector<SeenRange> inner = ranges;
    if (!seen.keep) inner.insert(inner.begin() + seen.fold.axis, SeenRange{});
    ir::Extents kept;
    for (const SeenRange& range : inner) kept.push_back(range.extent);
    kept[axis] = 1;
    const std::int64_t piece =
        std::clamp<std::int64_t>(4096 / std::max<std::int64_t>(1, ir::elements(kept)), 16, 256);
    const bool sums = seen.fold.fold == Fold::sum || seen.fold.fold == Fold::prod;
    const DType dtype = is_half(seen.dtype) && sums ? DType::f32 : seen.dtype;
    const ir::Type type = ir::tile(dtype, kept), one = ir::scalar(dtype);
    const ir::VarId all = hidden(type, place);
    const ExprP n = a.seen->lengths[axis];
    ir::Extents wide = kept;
    wide[axis] = piece;
    const auto part_at = [&](const ExprP& at) {
        inner[axis] = {at, piece};
        return convert(seen_at(a, inner, true, place), one);
    };
    const char* both = seen.fold.fold == Fold::max ? "numpy.maximum" : "numpy.minimum";
    const auto joined = [&](ExprP x, ExprP y) {
        if (sums) return arithmetic(seen.fold.fold == Fold::sum ? Op::add : Op::mul, x, y, place);
        return table_apply(*find_function(both), both, {x, y}, place);
    };
    if (sums) {
        const std::int64_t start = seen.fold.fold == Fold::sum ? 0 : 1;
        const ExprP identity = ir::constant(to_dtype(start, dtype), one, place);
        emit(ir::assign(all, ir::spread(identity, kept, place), place));
        counted_from_zero(n, piece, place, [&](const ExprP& at) {
            const ExprP inside = comparison(
                Op::lt, arithmetic(Op::add, at, ir::position(static_cast<int>(axis), wide, place), place), n,
                place);
            const ExprP part = ir::make(Op::select, one, {inside, part_at(at), identity}, place);
            emit(ir::assign(all, joined(ir::element(all, type, place), reduced(part, seen.fold, true, place)),
                            place));
        });
    } else {  // the first element stands in for what lies outside
        stop_unless(comparison(Op::gt, n, ir::int_constant(0, place), place), "ValueError",
                    "zero-size array to a reduction which has no identity", place);
        inner[axis] = {ir::int_constant(0, place), 1};
        emit(ir::assign(all, convert(seen_at(a, inner, true, place), one), place));
        counted_from_zero(n, piece, place, [&](const ExprP& at) {
            const ExprP inside = comparison(
                Op::lt, arithmetic(Op::add, at, ir::position(static_cast<int>(axis), wide, place), place), n,
                place);
            const ExprP part =
                ir::make(Op::select, one, {inside, part_at(at), ir::element(all, type, place)}, place);
            emit(ir::assign(all, joined(ir::element(all, type, place), reduced(part, seen.fold, true, place)),
                            place));
        });
    }
    const ExprP result = ir::element(all, type, place);
    if (seen.keep) return result;
    ir::Extents narrow = kept;
    narrow.erase(narrow.begin() + seen.fold.axis);
    return reshaped_tile(result, narrow, place);
}

// The tile of an expression over these ranges of its last axes. `spreads`: an axis of length 1 goes on.
ExprP Lowering::seen_at(const Value& v, const std::vector<SeenRange>& all, bool spreads, const Place& place) {
    if (v.kind != Value::Kind::seen) return number(v, place);
    const Seen& seen = *v.seen;
    const std::vector<SeenRange> ranges = last(all, seen.lengths.size());
    switch (seen.kind) {
        case Seen::Kind::leaf: return seen_leaf(seen.array, ranges, spreads, place);
        case Seen::Kind::product: return seen_sum(seen, ranges, place);
        case Seen::Kind::reduce: return seen_fold(seen, ranges, place);
        case Seen::Kind::here: {
            bool same = ranges.size() == seen.where.size();
            for (std::size_t d = 0; same && d < ranges.size(); ++d)
                same = ranges[d].extent == seen.where[d].extent &&
                       ir::same(*ranges[d].start, *seen.where[d].start);
            if (!same)
                throw refused(place, "a computed tile is there for its own program only",
                              "write the whole expression inside one tiles.compute(...)");
            return seen.tile;
        }
        case Seen::Kind::transpose: {
            std::vector<SeenRange> turned = ranges;
            const std::size_t r = turned.size();
            std::swap(turned[r - 1], turned[r - 2]);
            const ExprP inner = seen_at(seen.operands[0], turned, spreads, place);
            std::vector<int> axes;
            for (std::size_t d = 0; d < r; ++d) axes.push_back(static_cast<int>(d));
            std::swap(axes[r - 1], axes[r - 2]);
            return permuted_tile(inner, axes, place);
        }
        case Seen::Kind::map: break;
    }
    std::vector<ExprP> parts;
    std::size_t arrays = 0;
    for (const Value& o : seen.operands) arrays += o.kind == Value::Kind::seen && !o.seen->lengths.empty();
    for (const Value& o : seen.operands) parts.push_back(seen_at(o, ranges, spreads || arrays > 1, place));
    return seen.apply(std::move(parts));
}

std::vector<SeenRange> Lowering::program_ranges(std::size_t rank, const Place& place) const {
    const ir::Extents& size = unit.tile.extents.empty() ? unit.names.tile_size : unit.tile.extents;
    if (size.empty())
        throw refused(place, "without a tile_size, a tile's place and shape are given",
                      "write @tiles.tile_kernel(tile_size=(16, 16)), or tiles.load(array, index, shape)");
    if (rank > 3)
        throw refused(place, fmt::format("an array of {} axes seen through a tile", rank),
                      "reshape it to three axes, or use the explicit level");
    std::vector<SeenRange> ranges;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::size_t back = rank - d;  // from the last axis, which is x
        const std::int64_t extent = back <= size.size() ? size[size.size() - back] : 1;
        const ExprP block = ir::coord(ir::Coord::Kind::block, static_cast<int>(back) - 1, place);
        ranges.push_back(
            {ir::make(Op::mul, weak_int, {block, ir::int_constant(extent, place)}, place), extent});
    }
    return ranges;
}

ExprP Lowering::seen_here(const Value& v, const Place& place) {
    return seen_at(v, program_ranges(v.seen->lengths.size(), place), false, place);
}

Value Lowering::tile_compute(const Node& node) {
    const Node& given = *bind(node, "compute", {"expression"}, 1)[0];
    const Value v = value(given);
    if (v.kind != Value::Kind::seen && !v.is_indexed()) return scalar_value(number(v, given.place));
    const Value whole = seen_of(v, given.place);
    Seen seen;
    seen.kind = Seen::Kind::here;
    seen.lengths = whole.seen->lengths;
    seen.where = program_ranges(seen.lengths.size(), node.place);
    seen.tile = held(seen_at(whole, seen.where, false, node.place));
    seen.dtype = whole.seen->dtype;
    return seen_value(std::move(seen), node.place);
}

void Lowering::seen_store(const Value& array, const Value& given, const Place& place) {
    const std::size_t axes = rank(array);
    const std::vector<SeenRange> ranges = program_ranges(axes, place);
    ExprP tile;
    if (given.kind == Value::Kind::seen || given.is_indexed()) {
        const Value v = seen_of(given, place);
        const std::vector<ExprP>& lengths = v.seen->lengths;
        if (lengths.size() > axes)
            throw refused(place,
                          fmt::format("a result of {} axes into an array of {}", lengths.size(), axes));
        for (std::size_t d = 0; d < lengths.size(); ++d) {
            const ExprP n = length(array, axes - lengths.size() + d, place);
            if (n->type.is_none() || lengths[d]->type.is_none()) return;
            if (ir::same(*n, *lengths[d])) continue;
            stop_unless(comparison(Op::eq, n, lengths[d], place), "ValueError",
                        "the result has another shape than the array it is stored in", place);
        }
        tile = seen_at(v, ranges, false, place);
    } else {
        tile = number(given, place);
    }
    if (tile->type.is_none()) return;
    ir::Extents extents;
    std::vector<ExprP> indices;
    for (const SeenRange& r : ranges) extents.push_back(r.extent);
    for (std::size_t d = 0; d < axes; ++d) {
        indices.push_back(
            arithmetic(Op::add, ranges[d].start, ir::position(static_cast<int>(d), extents, place), place));
        if (indices.back()->type.is_none()) return;
    }
    const auto fits = ir::broadcast(ir::extents_of(*tile), extents);
    if (!fits || *fits != extents)
        throw refused(place,
                      fmt::format("a tile of {} where the program's is {}",
                                  ir::to_string(ir::extents_of(*tile)), ir::to_string(extents)),
                      "write tiles.store(array, index, tile)");
    if (unit.programs.grid.empty() && array.kind == Value::Kind::array)
        for (std::size_t d = axes; d-- > 0;) {
            const ExprP more =
                arithmetic(Op::add, length(array, d, place), ir::int_constant(extents[d] - 1, place), place);
            unit.programs.grid.push_back(
                arithmetic(Op::floordiv, more, ir::int_constant(extents[d], place), place));
        }
    unit.programs.free_unit = true;
    store_indexed(array, indices, tile, within_array(array, indices, place), extents, {}, place);
}

}  // namespace xcuda::frontend
