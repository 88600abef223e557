// Tiles and memory: which program this is, loads and stores of parts of arrays, masks at ragged edges, atomics.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "frontend/lowering.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);

struct AtomicName {
    const char* name;
    ir::Atomic::Kind kind;
    bool integers;
};
constexpr std::array atomic_names{
    AtomicName{"atomic_add", ir::Atomic::Kind::add, false},
    AtomicName{"atomic_max", ir::Atomic::Kind::max, false},
    AtomicName{"atomic_min", ir::Atomic::Kind::min, false},
    AtomicName{"atomic_and", ir::Atomic::Kind::bit_and, true},
    AtomicName{"atomic_or", ir::Atomic::Kind::bit_or, true},
    AtomicName{"atomic_xor", ir::Atomic::Kind::bit_xor, true},
    AtomicName{"atomic_xchg", ir::Atomic::Kind::exch, false},
};

// A view's own test of an index: `inside` tells instead.
ExprP untested(const ExprP& e) {
    return ir::rewrite(e, [](const ExprP& n) { return n->op == Op::bound ? n->args[0] : n; });
}

ExprP always(const Place& place) { return ir::constant(true, ir::scalar(DType::b1), place); }

}  // namespace

Value Lowering::tile_bid(const Node& node, const std::string& name) {
    const Node& axis = *bind(node, name, {"axis"}, 1)[0];
    const Value v = value(axis);
    const auto n = constant_int(v);
    if (!n || *n < 0 || *n > 2)
        throw NeedsConstant(refused(
            axis.place, "the axes of a grid are 0, 1 and 2, found " + (n ? std::to_string(*n) : spoken(v))));
    const auto kind = name == "bid" ? ir::Coord::Kind::block : ir::Coord::Kind::grid_dim;
    return scalar_value(ir::coord(kind, static_cast<int>(*n), node.place));
}

Value Lowering::array_argument(const Node& node, const char* what) {
    Value v = value(node);
    if (v.is_indexed()) return v;
    throw refused(node.place, fmt::format("tiles.{}() takes an array, found {}", what, spoken(v)));
}

Value Lowering::tile_count(const Node& node) {
    const auto args = bind(node, "num_tiles", {"array", "axis", "shape"}, 3);
    const Value array = array_argument(*args[0], "num_tiles");
    const int axis = axis_from(*args[1], rank(array));
    const ir::Extents extents = extents_from(*args[2], "a tile's shape");
    if (extents.size() != rank(array))
        throw refused(args[2]->place, fmt::format("a shape of {} lengths for an array of {} axes",
                                                  extents.size(), rank(array)));
    const std::int64_t n = extents[static_cast<std::size_t>(axis)];
    const ExprP more = arithmetic(Op::add, length(array, static_cast<std::size_t>(axis), node.place),
                                  ir::int_constant(n - 1, node.place), node.place);
    return scalar_value(arithmetic(Op::floordiv, more, ir::int_constant(n, node.place), node.place));
}

std::vector<ExprP> Lowering::index_argument(const Node& node, std::size_t rank, const char* what) {
    const Value v = value(node);
    std::vector<ExprP> indices;
    for (const Value& item : v.is_tuple() ? v.items : std::vector<Value>{v})
        indices.push_back(convert(index(number(item, node.place), node.place), weak_int));
    if (indices.size() != rank)
        throw refused(node.place, fmt::format("{} takes one index an axis: found {} for an array of {}", what,
                                              indices.size(), rank));
    return indices;
}

ExprP Lowering::padding_from(const Node* node, DType dtype) {
    const Place place = node ? node->place : Place{};
    const ir::Type type = ir::scalar(dtype);
    if (!node) return ir::constant(to_dtype(std::int64_t{0}, dtype), type, place);
    const Value v = value(*node);
    if (v.kind != Value::Kind::string) return convert(one_number(v, place), type);
    const std::string mode = v.text.substr(v.text.rfind('.') + 1);
    struct Row {
        const char* name;
        double number;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::array rows{Row{"ZERO", 0.0},         Row{"UNDETERMINED", 0.0},
                              Row{"NEG_ZERO", -0.0},    Row{"NAN", std::numeric_limits<double>::quiet_NaN()},
                              Row{"POS_INF", infinity}, Row{"NEG_INF", -infinity}};
    for (const Row& row : rows) {
        if (mode != row.name) continue;
        if (row.number != 0.0 && !is_floating(dtype))
            throw refused(place, fmt::format("an array of {} has no {}", info(dtype).name, mode),
                          "pad it with a number");
        return ir::constant(to_dtype(row.number, dtype), type, place);
    }
    throw refused(place, "no padding is called '" + v.text + "'",
                  "write a number, or tiles.PaddingMode.ZERO");
}

// Whether the indices lie in the array; nothing where that is known.
ExprP Lowering::within_array(const Value& array, const std::vector<ExprP>& indices, const Place& place) {
    ExprP all;
    const auto also = [&](ExprP test) {
        const ir::Type type = ir::scalar(DType::b1);
        test = convert(std::move(test), type);
        all = all ? ir::make(Op::logic_and, type, {all, std::move(test)}, place) : std::move(test);
    };
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (!nonnegative(*indices[d]))
            also(comparison(Op::ge, indices[d], ir::int_constant(0, place), place));
        also(comparison(Op::lt, indices[d], length(array, d, place), place));
    }
    return all ? all : always(place);
}

// One element of the array or view at each element of the tile.
ExprP Lowering::load_indexed(const Value& array, const std::vector<ExprP>& indices, ExprP inside,
                             ExprP outside, const ir::Extents& extents, const Place& place) {
    Element e = element(array, indices, place);
    e.access.checked = e.access.wrap = 0;  // `inside` tells
    for (ExprP& i : e.indices) i = untested(i);
    const ExprP loaded = load(e, place);
    if (loaded->type.is_none()) return loaded;
    const ir::Type type = ir::scalar(loaded->type.dtype);
    ExprP v = is_constant(*inside) ? loaded : ir::make(Op::select, type, {inside, loaded, outside}, place);
    if (ir::extents_of(*v) != extents) v = ir::spread(v, extents, place);
    return spill(std::move(v));
}

ExprP Lowering::load_tile(const Value& array, const std::vector<ExprP>& starts, const ir::Extents& extents,
                          ExprP outside, const Place& place) {
    std::vector<ExprP> indices;
    for (std::size_t d = 0; d < starts.size(); ++d) {
        if (starts[d]->type.is_none()) return starts[d];
        indices.push_back(
            arithmetic(Op::add, starts[d], ir::position(static_cast<int>(d), extents, place), place));
    }
    return load_indexed(array, indices, within_array(array, indices, place), std::move(outside), extents,
                        place);
}

Value Lowering::tile_load(const Node& node) {
    const auto args =
        bind(node, "load", {"array", "index", "shape", "padding", "padding_mode", "latency", "allow_tma"}, 3);
    const Value array = array_argument(*args[0], "load");
    const std::vector<ExprP> indices = index_argument(*args[1], rank(array), "load");
    const ir::Extents extents = extents_from(*args[2], "a tile's shape");
    if (extents.size() != rank(array))
        throw refused(args[2]->place,
                      fmt::format("a tile of {} axes of an array of {}", extents.size(), rank(array)),
                      "write one length an axis, 1 where the tile has one row");
    std::vector<ExprP> starts;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        one_number(scalar_value(indices[d]), args[1]->place);
        starts.push_back(
            arithmetic(Op::mul, indices[d], ir::int_constant(extents[d], node.place), node.place));
    }
    const DType dtype = array.expr->type.dtype;
    return scalar_value(
        load_tile(array, starts, extents, padding_from(args[3] ? args[3] : args[4], dtype), node.place));
}

ExprP Lowering::store_indexed(const Value& array, const std::vector<ExprP>& indices, ExprP v, ExprP inside,
                              const ir::Extents& extents, std::optional<ir::Atomic::Kind> atomic,
                              const Place& place) {
    const ir::Type& type = array.expr->type;
    if (type.readonly)
        throw refused(place,
                      fmt::format("'{}' is read-only: its elements can't be assigned",
                                  fn.vars[ir::var_of(*array.expr)].name),
                      "pass a writable array, as A.copy()");
    if (v->type.is_none()) return v;
    if (is_floating(v->type.dtype) && !v->type.weak && (is_integer(type.dtype) || type.dtype == DType::b1))
        throw refused(place,
                      fmt::format("a tile of {} into an array of {} would lose its fractions",
                                  info(v->type.dtype).name, info(type.dtype).name),
                      fmt::format("write .astype(np.{})", info(type.dtype).name));
    const ir::Type dtype = ir::scalar(type.dtype);
    const Element e = element(array, indices, place);
    std::vector<ExprP> exprs{e.array};
    for (const ExprP& i : e.indices) exprs.push_back(untested(i));
    exprs.push_back(ir::spread(convert(std::move(v), dtype), extents, place));
    exprs.push_back(std::move(inside));
    ir::TileOp op{ir::TileOp::Kind::store};
    op.atomic = atomic;
    if (atomic) return made(op, ir::tile(type.dtype, extents), std::move(exprs), place);
    emit(ir::tile_stmt(op, -1, std::move(exprs), place));
    return nullptr;
}

// store(A, (bid(0), bid(1)), tile): as many programs as A has such tiles.
void Lowering::count_programs(const Value& array, const std::vector<ExprP>& indices,
                              const ir::Extents& extents, const Place& place) {
    if (!unit.programs.grid.empty() || array.kind != Value::Kind::array || loops.size() > 0) return;
    std::vector<ExprP> grid;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        const auto c = coord_of(*indices[d]);
        if (is_constant(*indices[d])) continue;
        if (!c || c->kind != ir::Coord::Kind::block) return;
        while (grid.size() <= static_cast<std::size_t>(c->axis)) grid.push_back(ir::int_constant(1, place));
        const ExprP more =
            arithmetic(Op::add, length(array, d, place), ir::int_constant(extents[d] - 1, place), place);
        grid[static_cast<std::size_t>(c->axis)] =
            arithmetic(Op::floordiv, more, ir::int_constant(extents[d], place), place);
    }
    unit.programs.grid = std::move(grid);
}

Value Lowering::tile_store(const Node& node) {
    const Call given = call_of(node);
    if (given.positional.size() + given.keywords.size() == 2) {
        const auto args = bind(node, "store", {"array", "tile"}, 2);
        const Value array = array_argument(*args[0], "store");
        seen_store(array, value(*args[1]), node.place);
        return {};
    }
    const auto args = bind(node, "store", {"array", "index", "tile", "latency", "allow_tma"}, 3);
    const Value array = array_argument(*args[0], "store");
    const std::vector<ExprP> indices = index_argument(*args[1], rank(array), "store");
    const ExprP tile = tile_number(*args[2]);
    if (tile->type.is_none()) return {};
    ir::Extents extents = ir::extents_of(*tile);
    if (extents.empty()) extents.assign(rank(array), 1);
    if (extents.size() != rank(array))
        throw refused(args[2]->place,
                      fmt::format("a tile of {} axes into an array of {}", extents.size(), rank(array)),
                      "reshape the tile first: tiles.reshape(t, shape)");
    std::vector<ExprP> at;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        one_number(scalar_value(indices[d]), args[1]->place);
        if (is_constant(*indices[d]) && !nonnegative(*indices[d]))
            throw refused(args[1]->place, "a store outside the array: its tiles are counted from 0");
        const ExprP start =
            arithmetic(Op::mul, indices[d], ir::int_constant(extents[d], node.place), node.place);
        at.push_back(
            arithmetic(Op::add, start, ir::position(static_cast<int>(d), extents, node.place), node.place));
    }
    count_programs(array, indices, extents, node.place);
    store_indexed(array, at, tile, within_array(array, at, node.place), extents, {}, node.place);
    return {};
}

Value Lowering::tile_gather(const Node& node) {
    const auto args =
        bind(node, "gather", {"array", "indices", "mask", "padding", "padding_value", "check_bounds"}, 2);
    const Value array = array_argument(*args[0], "gather");
    const std::vector<ExprP> indices = index_argument(*args[1], rank(array), "gather");
    std::vector<ExprP> parts = indices;
    ExprP inside = within_array(array, indices, node.place);
    if (args[2]) {
        const ExprP mask = convert(truth(tile_number(*args[2])), ir::scalar(DType::b1));
        parts.push_back(mask);
        inside = ir::make(Op::logic_and, ir::scalar(DType::b1), {mask, inside}, node.place);
    }
    expect_broadcast(parts, node.place);
    for (const ExprP& p : parts)
        if (p->type.is_none()) return scalar_value(p);
    ir::Extents extents;
    for (const ExprP& p : parts) extents = *ir::broadcast(extents, ir::extents_of(*p));
    const ExprP outside = padding_from(args[3] ? args[3] : args[4], array.expr->type.dtype);
    if (!extents.empty())
        return scalar_value(load_indexed(array, indices, inside, outside, extents, node.place));
    const ExprP one =
        load_indexed(array, indices, inside, outside, {1}, node.place);  // of one number: a number
    return scalar_value(
        reduced(one, {ir::TileOp::Kind::reduce, ir::TileOp::Fold::sum, -1}, false, node.place));
}

Value Lowering::tile_scatter(const Node& node, const std::string& name) {
    const auto args =
        bind(node, name, {"array", "indices", "value", "mask", "check_bounds", "memory_order"}, 3);
    const Value array = array_argument(*args[0], name.c_str());
    std::optional<ir::Atomic::Kind> atomic;
    const DType dtype = array.expr->type.dtype;
    for (const AtomicName& row : atomic_names) {
        if (name != row.name) continue;
        atomic = row.kind;
        const bool taken =
            is_integer(dtype) ||
            (!row.integers && (dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64));
        if (!taken)
            throw refused(
                node.place, fmt::format("tiles.{}() does not take {}", name, info(dtype).name),
                row.integers ? "use an integer type" : "use an integer type, float16, float32 or float64");
    }
    const std::vector<ExprP> indices = index_argument(*args[1], rank(array), name.c_str());
    const ExprP v = tile_number(*args[2]);
    std::vector<ExprP> parts = indices;
    parts.push_back(v);
    ExprP inside = within_array(array, indices, node.place);
    if (args[3]) {
        const ExprP mask = convert(truth(tile_number(*args[3])), ir::scalar(DType::b1));
        parts.push_back(mask);
        inside = ir::make(Op::logic_and, ir::scalar(DType::b1), {mask, inside}, node.place);
    }
    expect_broadcast(parts, node.place);
    for (const ExprP& p : parts)
        if (p->type.is_none()) return scalar_value(p);
    ir::Extents extents;
    for (const ExprP& p : parts) extents = *ir::broadcast(extents, ir::extents_of(*p));
    if (extents.empty()) extents = {1};
    const ExprP old = store_indexed(array, indices, v, inside, extents, atomic, node.place);
    return old ? scalar_value(old) : Value{};
}

}  // namespace xcuda::frontend
