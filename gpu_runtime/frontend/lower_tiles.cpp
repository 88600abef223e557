// Tiles as values of the kernel language. A tile is a scalar expression that stands for each of its elements (ir/tile.hpp),
// so that operators and functions mean for tiles what they mean for numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "frontend/lowering.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {

using ir::ExprP;

ir::Type Lowering::stored_type(const ir::Expr& value) const {
    if (!value.type.is_scalar() || !ir::is_tile(value)) return value.type;
    return ir::tile(value.type.dtype, ir::extents_of(value));
}

// The tile in a variable of its own: what looks at other elements than "this one" needs it there.
ExprP Lowering::held(ExprP tile) {
    if (tile->type.is_none() || (tile->op == Op::element && tile->args.size() == 1)) return tile;
    if (is_constant(*tile) || !ir::is_tile(*tile)) tile = ir::spread(tile, {1}, tile->place);
    return spill(std::move(tile));
}

ExprP Lowering::made(ir::TileOp op, const ir::Type& type, std::vector<ExprP> exprs, const Place& place) {
    const ir::VarId id = hidden(type, place);
    emit(ir::tile_stmt(op, id, std::move(exprs), place));
    return type.is_tile() ? ir::element(id, type, place) : ir::var(id, type, place);
}

ExprP Lowering::one_number(const Value& v, const Place& place) {
    const ExprP e = number(v, place);
    if (ir::is_tile(*e))
        throw refused(
            place, "one number is needed here, found " + spoken(scalar_value(e)),
            "reduce it, as tiles.max(t), or choose element by element with tiles.where(condition, a, b)");
    return e;
}

void Lowering::expect_broadcast(const std::vector<ExprP>& parts, const Place& place) const {
    ir::Extents all;
    for (const ExprP& part : parts) {
        if (!part || part->type.is_none()) continue;
        const ir::Extents extents = ir::extents_of(*part);
        const auto both = ir::broadcast(all, extents);
        if (!both)
            throw refused(place,
                          fmt::format("tiles of shapes {} and {} don't go together", ir::to_string(all),
                                      ir::to_string(extents)),
                          "give them one shape, or lengths of 1 where one is to be repeated: t[:, None]");
        all = *both;
    }
}

// What is one for all the program's elements must not depend on one of them.
void Lowering::expect_uniform(const ir::Body& body) const {
    ir::each_stmt(body, [&](const ir::Stmt& s) {
        using Kind = ir::Stmt::Kind;
        if (s.kind == Kind::tile || (s.kind == Kind::assign && fn.vars[s.var].type.is_tile())) return;
        for (const ExprP& e : s.exprs)
            if (ir::is_tile(*e))
                throw refused(e->place.known() ? e->place : s.place,
                              "one number is needed here, found " + spoken(scalar_value(e)),
                              s.kind == Kind::store ? "write tiles.store(array, index, tile)"
                                                    : "reduce it, as tiles.sum(t)");
    });
}

ir::Extents Lowering::extents_from(const Node& node, const char* what) {
    const Value v = value(node);
    ir::Extents extents;
    const auto take = [&](const Value& item) {
        const auto n = constant_int(item);
        if (!n)
            throw NeedsConstant(
                refused(node.place,
                        fmt::format("{} is known when the kernel is compiled, found {}", what, spoken(item)),
                        "annotate the parameter it is made of: n: tiles.Constant[int]"));
        if (*n < 1 || !std::has_single_bit(static_cast<std::uint64_t>(*n)))
            throw refused(
                node.place, fmt::format("a tile's lengths are powers of two, found {}", *n),
                fmt::format("write {}: what lies outside the array is masked",
                            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(*n, 1)))));
        extents.push_back(*n);
    };
    if (v.is_tuple())
        for (const Value& item : v.items) take(item);
    else
        take(v);
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (ir::elements(extents) > most)
        throw refused(node.place,
                      fmt::format("a tile of {} has {} elements; a program holds at most {}",
                                  ir::to_string(extents), ir::elements(extents), most),
                      "take smaller tiles and more programs, or a loop");
    return extents;
}

DType Lowering::dtype_argument(const Node* node, DType otherwise) {
    if (!node) return otherwise;
    const Value v = value(*node);
    if (const auto dtype = dtype_from(v)) return *dtype;
    throw refused(node->place, "expected a dtype, found " + spoken(v), "write np.float32, or tiles.float32");
}

int Lowering::axis_from(const Node& node, std::size_t rank) {
    const Value v = value(node);
    const auto axis = constant_int(v);
    const auto n = static_cast<std::int64_t>(rank);
    if (!axis) throw NeedsConstant(refused(node.place, "an axis is a constant, found " + spoken(v)));
    if (*axis < -n || *axis >= n)
        throw refused(node.place,
                      fmt::format("axis {} of a tile of {} ax{}", *axis, n, n == 1 ? "is" : "es"));
    return static_cast<int>(*axis < 0 ? *axis + n : *axis);
}

ExprP Lowering::tile_number(const Node& node) { return number(value(node), node.place); }

Value Lowering::tile_astype(const Value& tile, const Node& dtype, const Place& place) {
    const DType to = dtype_argument(&dtype, DType::f32);
    if (tile.kind == Value::Kind::seen)
        return seen_map(
            {tile}, [this, to](const std::vector<ExprP>& p) { return convert(p[0], ir::scalar(to)); }, place);
    return scalar_value(convert(number(tile, place), ir::scalar(to)));
}

Value Lowering::tile_member(const Value& tile, const std::string& attr, const Place& place) {
    if (tile.kind == Value::Kind::seen) {
        if (attr == "T") return seen_transpose(tile, place);
        if (attr == "shape" || attr == "ndim") {
            std::vector<Value> lengths;
            for (const ExprP& n : tile.seen->lengths) lengths.push_back(scalar_value(n));
            if (attr == "shape") return tuple_value(std::move(lengths));
            return scalar_value(ir::int_constant(static_cast<std::int64_t>(lengths.size()), place));
        }
    } else {
        const ir::Extents extents = ir::extents_of(*tile.expr);
        if (attr == "shape") {
            std::vector<Value> lengths;
            for (const std::int64_t n : extents) lengths.push_back(scalar_value(ir::int_constant(n, place)));
            return tuple_value(std::move(lengths));
        }
        if (attr == "ndim")
            return scalar_value(ir::int_constant(static_cast<std::int64_t>(extents.size()), place));
        if (attr == "size") return scalar_value(ir::int_constant(ir::elements(extents), place));
        if (attr == "T") {
            std::vector<int> axes;
            for (std::size_t i = extents.size(); i-- > 0;) axes.push_back(static_cast<int>(i));
            return scalar_value(permuted_tile(tile.expr, axes, place));
        }
    }
    if (attr == "dtype") {
        Value v;
        v.kind = Value::Kind::dtype;
        v.dtype = tile.kind == Value::Kind::seen ? tile.seen->dtype : tile.expr->type.dtype;
        return v;
    }
    throw refused(place, "a tile has no '" + attr + "'", "it has shape, ndim, dtype and T");
}

Value Lowering::tile_method(const Value& tile, const std::string& method, const Node& node, bool* known) {
    *known = true;
    if (method == "astype") return tile_astype(tile, *bind(node, method, {"dtype"}, 1)[0], node.place);
    constexpr std::array folds{"sum", "prod", "max", "min", "argmax", "argmin", "mean"};
    if (std::find(folds.begin(), folds.end(), method) != folds.end()) {
        const auto args = bind(node, method, {"axis", "keepdims"}, 0);
        ir::TileOp op{ir::TileOp::Kind::reduce};
        op.fold = method == "prod"     ? ir::TileOp::Fold::prod
                  : method == "max"    ? ir::TileOp::Fold::max
                  : method == "min"    ? ir::TileOp::Fold::min
                  : method == "argmax" ? ir::TileOp::Fold::argmax
                  : method == "argmin" ? ir::TileOp::Fold::argmin
                                       : ir::TileOp::Fold::sum;
        const Value kept = args[1] ? value(*args[1]) : Value{};
        const bool keep = kept.is_scalar() && is_constant(*kept.expr) && truthy(ir::number_of(*kept.expr));
        return method == "mean" ? tile_mean(tile, args[0], keep, node.place)
                                : reduce_value(tile, op, args[0], keep, node.place);
    }
    if (tile.kind == Value::Kind::seen) {
        *known = false;
        return {};
    }
    if (method == "item") {
        bind(node, method, {}, 0);
        if (ir::elements(ir::extents_of(*tile.expr)) != 1)
            throw refused(node.place, "item() takes a tile of one element, found " + spoken(tile));
        return scalar_value(
            reduced(tile.expr, {ir::TileOp::Kind::reduce, ir::TileOp::Fold::sum, -1}, false, node.place));
    }
    if (method == "extract") {
        const auto args = bind(node, method, {"index", "shape"}, 2);
        return tile_extract(tile, *args[0], *args[1], node.place);
    }
    if (method == "reshape") {
        const auto args = bind(node, method, {"shape"}, 1);
        return scalar_value(reshaped_tile(tile.expr, extents_from(*args[0], "a tile's shape"), node.place));
    }
    if (method == "transpose") {
        bind(node, method, {}, 0);
        return tile_member(tile, "T", node.place);
    }
    *known = false;
    return {};
}

Value Lowering::tile_intrinsic(const std::string& name, const Node& node) {
    if (!unit.names.tile_kernel)
        throw refused(node.place, "tiles." + name + "() belongs to tile kernels",
                      "decorate the function with @tiles.tile_kernel");
    struct Row {
        const char* name;
        Value (Lowering::*plain)(const Node&);
        Value (Lowering::*named)(const Node&, const std::string&);
    };
    static constexpr std::array rows{
        Row{"bid", nullptr, &Lowering::tile_bid},
        Row{"num_blocks", nullptr, &Lowering::tile_bid},
        Row{"num_tiles", &Lowering::tile_count, nullptr},
        Row{"load", &Lowering::tile_load, nullptr},
        Row{"store", &Lowering::tile_store, nullptr},
        Row{"gather", &Lowering::tile_gather, nullptr},
        Row{"scatter", nullptr, &Lowering::tile_scatter},
        Row{"atomic_add", nullptr, &Lowering::tile_scatter},
        Row{"atomic_max", nullptr, &Lowering::tile_scatter},
        Row{"atomic_min", nullptr, &Lowering::tile_scatter},
        Row{"atomic_and", nullptr, &Lowering::tile_scatter},
        Row{"atomic_or", nullptr, &Lowering::tile_scatter},
        Row{"atomic_xor", nullptr, &Lowering::tile_scatter},
        Row{"atomic_xchg", nullptr, &Lowering::tile_scatter},
        Row{"full", nullptr, &Lowering::tile_full},
        Row{"zeros", nullptr, &Lowering::tile_full},
        Row{"ones", nullptr, &Lowering::tile_full},
        Row{"eye", nullptr, &Lowering::tile_full},
        Row{"arange", &Lowering::tile_arange, nullptr},
        Row{"cat", &Lowering::tile_cat, nullptr},
        Row{"mma", nullptr, &Lowering::tile_mma},
        Row{"matmul", nullptr, &Lowering::tile_mma},
        Row{"sum", nullptr, &Lowering::tile_reduce},
        Row{"prod", nullptr, &Lowering::tile_reduce},
        Row{"max", nullptr, &Lowering::tile_reduce},
        Row{"min", nullptr, &Lowering::tile_reduce},
        Row{"mean", nullptr, &Lowering::tile_reduce},
        Row{"argmax", nullptr, &Lowering::tile_reduce},
        Row{"argmin", nullptr, &Lowering::tile_reduce},
        Row{"cumsum", nullptr, &Lowering::tile_scan},
        Row{"cumprod", nullptr, &Lowering::tile_scan},
        Row{"reduce", nullptr, &Lowering::tile_fold},
        Row{"scan", nullptr, &Lowering::tile_fold},
        Row{"compute", &Lowering::tile_compute, nullptr},
    };
    for (const Row& row : rows)
        if (name == row.name) return row.plain ? (this->*row.plain)(node) : (this->*row.named)(node, name);
    if (name == "load_shared") {
        const Node& given = *bind(node, name, {"array"}, 1)[0];
        return seen_of(array_argument(given, "load_shared"), given.place);
    }
    if (name == "where") return call_where(node);
    if (name == "astype") {
        const auto args = bind(node, name, {"tile", "dtype"}, 2);
        return tile_astype(value(*args[0]), *args[1], node.place);
    }
    if (name == "cdiv") {
        const auto args = bind(node, name, {"a", "b"}, 2);
        const std::vector<Value> v = operands(args);
        const ExprP a = one_number(v[0], args[0]->place), b = one_number(v[1], args[1]->place);
        const ExprP more = arithmetic(Op::sub, arithmetic(Op::add, a, b, node.place),
                                      ir::int_constant(1, node.place), node.place);
        return scalar_value(arithmetic(Op::floordiv, more, b, node.place));
    }
    for (const char* shape : {"reshape", "permute", "transpose", "broadcast_to", "expand_dims", "extract"})
        if (name == shape) return tile_shape_call(name, node);
    for (const std::string& spelling : {"tiles." + name, "numpy." + name})
        if (const KernelFunction* known = find_function(spelling)) {
            bool special = false;  // numpy.add and the like are operators
            const Value v = special_call(spelling, node, &special);
            return special ? v : table_call(*known, spelling, node);
        }
    bool special = false;
    const Value v = special_call("numpy." + name, node, &special);
    if (special) return v;
    throw refused(node.place, "tiles has no function '" + name + "' for kernels");
}

}  // namespace xcuda::frontend
