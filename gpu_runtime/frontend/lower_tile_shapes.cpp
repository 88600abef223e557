// Making tiles of nothing, and looking at a tile in another shape: each is a tile's element at other indices.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);

const ir::Type& type_of_held(const ir::Expr& held) { return held.args[0]->type; }

ExprP whole(Op op, ExprP a, std::int64_t b) {
    return ir::make(op, weak_int, {std::move(a), ir::int_constant(b)});
}

}  // namespace

Value Lowering::tile_full(const Node& node, const std::string& name) {
    const bool fill = name == "full";
    const auto args = fill ? bind(node, name, {"shape", "fill_value", "dtype"}, 2)
                           : bind(node, name, {"shape", "dtype"}, 1);
    ir::Extents extents = extents_from(*args[0], "a tile's shape");
    const Node* dtype_node = args[fill ? 2 : 1];
    if (name == "eye") {
        if (extents.size() == 1) extents.push_back(extents[0]);
        if (extents.size() != 2) throw refused(args[0]->place, "eye() has two axes");
        const ExprP one = comparison(Op::eq, ir::position(0, extents, node.place),
                                     ir::position(1, extents, node.place), node.place);
        return scalar_value(convert(one, ir::scalar(dtype_argument(dtype_node, DType::f32))));
    }
    ExprP v = fill ? one_number(value(*args[1]), args[1]->place)
                   : ir::constant(std::int64_t{name == "ones"}, weak_int, node.place);
    if (v->type.is_none()) return scalar_value(v);
    const DType otherwise = !fill                                        ? DType::f32
                            : v->type.weak && is_floating(v->type.dtype) ? DType::f32
                                                                         : v->type.dtype;
    v = convert(v, ir::scalar(dtype_argument(dtype_node, otherwise)));
    return scalar_value(ir::spread(v, extents, node.place));
}

Value Lowering::tile_arange(const Node& node) {
    const auto args = bind(node, "arange", {"size", "dtype"}, 1);
    const ir::Extents extents = extents_from(*args[0], "a tile's length");
    if (extents.size() != 1) throw refused(args[0]->place, "arange() has one axis");
    return scalar_value(
        convert(ir::position(0, extents, node.place), ir::scalar(dtype_argument(args[1], DType::i32))));
}

ExprP Lowering::broadcast_tile(ExprP tile, const ir::Extents& extents, const Place& place) {
    const auto both = ir::broadcast(ir::extents_of(*tile), extents);
    if (!both || *both != extents)
        throw refused(place, fmt::format("a tile of {} does not broadcast to {}",
                                         ir::to_string(ir::extents_of(*tile)), ir::to_string(extents)));
    return ir::spread(std::move(tile), extents, place);
}

ExprP Lowering::permuted_tile(ExprP tile, const std::vector<int>& axes, const Place& place) {
    tile = held(std::move(tile));
    if (tile->type.is_none()) return tile;
    const ir::Extents& from = type_of_held(*tile).extents;
    ir::Extents to;
    for (const int axis : axes) to.push_back(from[static_cast<std::size_t>(axis)]);
    std::vector<ExprP> indices(from.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
        indices[static_cast<std::size_t>(axes[i])] = ir::position(static_cast<int>(i), to, place);
    return ir::element_at(ir::var_of(*tile->args[0]), type_of_held(*tile), to, std::move(indices), place);
}

ExprP Lowering::reshaped_tile(ExprP tile, const ir::Extents& extents, const Place& place) {
    tile = held(std::move(tile));
    if (tile->type.is_none()) return tile;
    const ir::Extents& from = type_of_held(*tile).extents;
    if (ir::elements(from) != ir::elements(extents))
        throw refused(place, fmt::format("a tile of {} can't be reshaped to {}", ir::to_string(from),
                                         ir::to_string(extents)));
    std::vector<ExprP> indices;
    const auto longer = [](const ir::Extents& e) {
        std::vector<int> axes;
        for (std::size_t i = 0; i < e.size(); ++i)
            if (e[i] > 1) axes.push_back(static_cast<int>(i));
        return axes;
    };
    const std::vector<int> old_axes = longer(from), new_axes = longer(extents);
    const bool ones_only =
        std::equal(old_axes.begin(), old_axes.end(), new_axes.begin(), new_axes.end(), [&](int a, int b) {
            return from[static_cast<std::size_t>(a)] == extents[static_cast<std::size_t>(b)];
        });
    if (ones_only) {  // only lengths of 1 come and go
        std::size_t next = 0;
        for (std::size_t d = 0; d < from.size(); ++d)
            indices.push_back(from[d] == 1 ? ir::int_constant(0, place)
                                           : ir::position(new_axes[next++], extents, place));
    } else {
        ExprP at = ir::int_constant(0, place);
        for (std::size_t i = 0; i < extents.size(); ++i)
            at =
                ir::make(Op::add, weak_int,
                         {whole(Op::mul, at, extents[i]), ir::position(static_cast<int>(i), extents, place)});
        std::int64_t inner = ir::elements(from);
        for (std::size_t d = 0; d < from.size(); ++d) {
            inner /= from[d];
            indices.push_back(whole(Op::mod, whole(Op::floordiv, at, inner), from[d]));
        }
    }
    return ir::element_at(ir::var_of(*tile->args[0]), type_of_held(*tile), extents, std::move(indices),
                          place);
}

Value Lowering::tile_shape_call(const std::string& name, const Node& node) {
    if (name == "extract") {
        const auto args = bind(node, name, {"tile", "index", "shape"}, 3);
        return tile_extract(value(*args[0]), *args[1], *args[2], node.place);
    }
    const std::string second = name == "permute" ? "axes" : name == "expand_dims" ? "axis" : "shape";
    const bool transposes = name == "transpose";
    const auto args =
        transposes ? bind(node, name, {"tile", "axis0", "axis1"}, 1) : bind(node, name, {"tile", second}, 2);
    const Value given = value(*args[0]);
    if (transposes && given.kind == Value::Kind::seen) return seen_transpose(given, node.place);
    const ExprP tile = number(given, args[0]->place);
    if (tile->type.is_none()) return scalar_value(tile);
    const ir::Extents extents = ir::extents_of(*tile);
    if (name == "reshape")
        return scalar_value(reshaped_tile(tile, extents_from(*args[1], "a tile's shape"), node.place));
    if (name == "broadcast_to")
        return scalar_value(broadcast_tile(tile, extents_from(*args[1], "a tile's shape"), node.place));
    if (name == "expand_dims") {
        ir::Extents wider = extents;
        wider.insert(wider.begin() + axis_from(*args[1], extents.size() + 1), 1);
        return scalar_value(reshaped_tile(tile, wider, node.place));
    }
    std::vector<int> axes(extents.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (transposes) {
        if (!args[1] && extents.size() != 2)
            throw refused(node.place, "transpose() of a tile that has not two axes takes the two to swap",
                          "write tiles.transpose(t, 0, 1)");
        const int a = args[1] ? axis_from(*args[1], extents.size()) : 0;
        const int b = args[2] ? axis_from(*args[2], extents.size()) : 1;
        std::swap(axes[static_cast<std::size_t>(a)], axes[static_cast<std::size_t>(b)]);
    } else {
        const Value order = value(*args[1]);
        std::vector<bool> seen(extents.size(), false);
        bool good = order.is_tuple() && order.items.size() == extents.size();
        for (std::size_t i = 0; good && i < axes.size(); ++i) {
            const auto axis = constant_int(order.items[i]);
            good = axis && *axis >= 0 && *axis < static_cast<std::int64_t>(seen.size()) &&
                   !seen[static_cast<std::size_t>(*axis)];
            if (!good) break;
            axes[i] = static_cast<int>(*axis);
            seen[static_cast<std::size_t>(*axis)] = true;
        }
        if (!good)
            throw refused(args[1]->place, fmt::format("permute() takes each of {} axes once", extents.size()),
                          "write tiles.permute(t, (1, 0))");
    }
    return scalar_value(permuted_tile(tile, axes, node.place));
}

// t[:, None], t[None, :]: axes of length 1 come in.
Value Lowering::tile_subscript(const Value& tile, const Node& node) {
    const Node& slice = node.one("slice");
    const std::vector<Value> items = index_items(value(slice), slice);
    const ir::Extents extents = ir::extents_of(*tile.expr);
    ir::Extents wider;
    std::size_t taken = 0;
    const auto wholes = static_cast<std::size_t>(std::count_if(
        items.begin(), items.end(), [](const Value& v) { return v.kind == Value::Kind::slice; }));
    for (const Value& item : items) {
        const bool all = item.kind == Value::Kind::slice &&
                         std::all_of(item.items.begin(), item.items.end(),
                                     [](const Value& v) { return v.kind == Value::Kind::none; });
        if (item.kind == Value::Kind::none) {
            wider.push_back(1);
        } else if (all && taken < extents.size()) {
            wider.push_back(extents[taken++]);
        } else if (item.kind == Value::Kind::ellipsis) {
            const std::size_t rest = extents.size() - std::min(extents.size(), wholes);
            for (std::size_t i = 0; i < rest; ++i) wider.push_back(extents[taken++]);
        } else {
            throw refused(node.place, "a tile's elements can't be picked by index, found " + spoken(item),
                          "t[:, None] adds an axis; tiles.extract(t, index, shape) takes a part");
        }
    }
    while (taken < extents.size()) wider.push_back(extents[taken++]);
    return scalar_value(reshaped_tile(tile.expr, wider, node.place));
}

Value Lowering::tile_cat(const Node& node) {
    const auto args = bind(node, "cat", {"tiles", "axis"}, 2);
    const Value v = value(*args[0]);
    if (!v.is_tuple() || v.items.empty())
        throw refused(args[0]->place, "cat() takes a tuple of tiles, found " + spoken(v),
                      "write tiles.cat((a, b), 0)");
    std::vector<ExprP> parts;
    ir::Type type;
    for (const Value& item : v.items) {
        parts.push_back(number(item, args[0]->place));
        if (parts.back()->type.is_none()) return scalar_value(parts.back());
        const ir::Type one = ir::scalar(parts.back()->type.dtype);
        type = parts.size() == 1 ? one : ir::join(type, one);
    }
    ir::Extents all = ir::extents_of(*parts[0]);
    const auto axis = static_cast<std::size_t>(axis_from(*args[1], all.size()));
    std::vector<std::int64_t> begins{0};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        ir::Extents own = ir::extents_of(*parts[i]);
        if (own.size() == all.size() && axis < own.size()) {
            begins.push_back(begins.back() + own[axis]);
            own[axis] = all[axis];
        }
        if (own != all)
            throw refused(args[0]->place,
                          fmt::format("tiles of shapes {} and {} can't be joined along axis {}",
                                      ir::to_string(ir::extents_of(*parts[0])),
                                      ir::to_string(ir::extents_of(*parts[i])), axis));
    }
    all[axis] = begins.back();
    if (all[axis] & (all[axis] - 1))
        throw refused(node.place, fmt::format("a tile's lengths are powers of two, found {}", all[axis]));
    ExprP joined;
    for (std::size_t i = parts.size(); i-- > 0;) {
        const ExprP part = held(parts[i]);
        std::vector<ExprP> indices;
        for (std::size_t d = 0; d < all.size(); ++d) {
            ExprP at = ir::position(static_cast<int>(d), all, node.place);
            indices.push_back(d == axis && begins[i] ? whole(Op::sub, at, begins[i]) : at);
        }
        ExprP here = convert(ir::element_at(ir::var_of(*part->args[0]), type_of_held(*part), all,
                                            std::move(indices), node.place),
                             type);
        if (!joined) {
            joined = here;
            continue;
        }
        const ExprP first = comparison(Op::lt, ir::position(static_cast<int>(axis), all, node.place),
                                       ir::int_constant(begins[i + 1], node.place), node.place);
        joined = ir::make(Op::select, type, {first, here, joined}, node.place);
    }
    return scalar_value(joined);
}

Value Lowering::tile_extract(const Value& given, const Node& index_node, const Node& shape,
                             const Place& place) {
    const ExprP tile = held(number(given, place));
    if (tile->type.is_none()) return scalar_value(tile);
    const ir::Extents& from = type_of_held(*tile).extents;
    const ir::Extents extents = extents_from(shape, "a tile's shape");
    const std::vector<ExprP> at = index_argument(index_node, from.size(), "extract");
    if (extents.size() != from.size())
        throw refused(shape.place,
                      fmt::format("a part of {} axes of a tile of {}", extents.size(), from.size()));
    std::vector<ExprP> indices;
    for (std::size_t d = 0; d < from.size(); ++d) {
        if (extents[d] > from[d])
            throw refused(shape.place, fmt::format("a part of {} of a tile of {}", ir::to_string(extents),
                                                   ir::to_string(from)));
        one_number(scalar_value(at[d]), index_node.place);
        const std::int64_t parts = from[d] / extents[d];
        if (is_constant(*at[d])) {
            const auto i = static_cast<std::int64_t>(as_double(ir::number_of(*at[d])));
            if (i < 0 || i >= parts)
                throw refused(index_node.place, fmt::format("part {} of {} along axis {}", i, parts, d));
        }
        const ExprP start =
            arithmetic(Op::mul, whole(Op::mod, at[d], parts), ir::int_constant(extents[d], place), place);
        indices.push_back(
            arithmetic(Op::add, start, ir::position(static_cast<int>(d), extents, place), place));
    }
    return scalar_value(
        ir::element_at(ir::var_of(*tile->args[0]), type_of_held(*tile), extents, std::move(indices), place));
}

}  // namespace xcuda::frontend
