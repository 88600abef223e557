// Products, reductions and scans of tiles: what a program's elements do together.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using Fold = ir::TileOp::Fold;
using ir::ExprP;

namespace {

// What products of this type are summed in.
DType accumulator(DType d) {
    if (is_half(d)) return DType::f32;
    if (is_integer(d) || d == DType::b1)
        return info(d).size < 4 || d == DType::i32 ? DType::i32 : d == DType::u32 ? DType::u32 : d;
    return d;
}

struct FoldName {
    const char* name;
    Fold fold;
};
constexpr std::array fold_names{
    FoldName{"sum", Fold::sum},       FoldName{"mean", Fold::sum},   FoldName{"prod", Fold::prod},
    FoldName{"max", Fold::max},       FoldName{"min", Fold::min},    FoldName{"argmax", Fold::argmax},
    FoldName{"argmin", Fold::argmin}, FoldName{"cumsum", Fold::sum}, FoldName{"cumprod", Fold::prod},
};

Fold fold_named(const std::string& name) {
    for (const FoldName& f : fold_names)
        if (name == f.name) return f.fold;
    throw bug("a reduction " + name);
}

bool literal_truth(const Value& v) {
    return v.is_scalar() && is_constant(*v.expr) && truthy(ir::number_of(*v.expr));
}

// As NumPy: small integers are summed in 64 bits, half precision in float32 (and rounded at the end).
DType summed_in(DType d) {
    if (is_half(d)) return DType::f32;
    if (d == DType::b1 || is_integer(d)) return is_signed(d) || d == DType::b1 ? DType::i64 : DType::u64;
    return d;
}

}  // namespace

ExprP Lowering::product(ExprP a, ExprP b, ExprP acc, const Place& place) {
    for (const ExprP* e : {&a, &b, &acc})
        if (*e && (*e)->type.is_none()) return *e;
    ir::Extents x = ir::extents_of(*a), y = ir::extents_of(*b);
    if (x.size() < 2 || y.size() < 2)
        throw refused(place,
                      fmt::format("a matrix product takes tiles of two axes, found {} and {}",
                                  ir::to_string(x), ir::to_string(y)),
                      "give the vector an axis: v[:, None]");
    const std::size_t r = std::max(x.size(), y.size());
    while (x.size() < r) x.insert(x.begin(), 1);
    while (y.size() < r) y.insert(y.begin(), 1);
    ir::Extents to = x;
    to[r - 1] = y[r - 1];
    bool good = x[r - 1] == y[r - 2];
    for (std::size_t d = 0; d + 2 < r; ++d) {
        good &= x[d] == y[d] || x[d] == 1 || y[d] == 1;
        to[d] = std::max(x[d], y[d]);
    }
    if (!good)
        throw refused(place,
                      fmt::format("tiles of shapes {} and {} can't be multiplied: inner lengths {} and {}",
                                  ir::to_string(ir::extents_of(*a)), ir::to_string(ir::extents_of(*b)),
                                  x[r - 1], y[r - 2]),
                      "(m, k) @ (k, n)");
    const ir::Type common = ir::join(ir::scalar(a->type.dtype), ir::scalar(b->type.dtype));
    const ir::Type type = ir::tile(acc ? acc->type.dtype : accumulator(common.dtype), to);
    if (acc && ir::extents_of(*acc) != to)
        throw refused(place, fmt::format("a product of {} added to a tile of {}", ir::to_string(to),
                                         ir::to_string(ir::extents_of(*acc))));
    if (!acc)
        acc = ir::spread(ir::constant(to_dtype(std::int64_t{0}, type.dtype), ir::scalar(type.dtype), place),
                         to, place);
    const auto wide = [&](const ExprP& e, const ir::Extents& extents) {
        return ir::extents_of(*e).size() == r ? e : ir::spread(e, extents, place);
    };
    return made({ir::TileOp::Kind::mma}, type,
                {wide(convert(a, common), x), wide(convert(b, common), y), std::move(acc)}, place);
}

Value Lowering::tile_mma(const Node& node, const std::string& name) {
    const auto args =
        name == "mma" ? bind(node, name, {"a", "b", "acc"}, 3) : bind(node, name, {"a", "b"}, 2);
    const std::vector<Value> v = operands(args);
    if (name == "matmul") return tile_matmul(v[0], v[1], node.place);
    const ExprP a = number(v[0], args[0]->place), b = number(v[1], args[1]->place),
                acc = number(v[2], args[2]->place);
    if (acc->type.is_none()) return scalar_value(acc);
    if (a->type.is_scalar() && is_floating(a->type.dtype) && !is_floating(acc->type.dtype))
        throw refused(args[2]->place,
                      fmt::format("products of {} can't be summed in {}", info(a->type.dtype).name,
                                  info(acc->type.dtype).name),
                      "start it as tiles.zeros(shape, np.float32)");
    return scalar_value(product(a, b, acc, node.place));
}

Value Lowering::tile_matmul(const Value& a, const Value& b, const Place& place) {
    const auto whole = [](const Value& v) { return v.kind == Value::Kind::seen || v.is_indexed(); };
    if (whole(a) || whole(b)) return seen_product(seen_of(a, place), seen_of(b, place), place);
    return scalar_value(product(number(a, place), number(b, place), nullptr, place));
}

ExprP Lowering::reduced(ExprP tile, ir::TileOp op, bool keep, const Place& place) {
    if (tile->type.is_none()) return tile;
    const ir::Extents extents = ir::extents_of(*tile);
    const DType given = tile->type.dtype;
    const bool index = op.fold == Fold::argmax || op.fold == Fold::argmin;
    const bool sums = op.fold == Fold::sum || op.fold == Fold::prod;
    if (is_complex(given) && !sums) throw refused(place, "complex numbers have no order");
    DType in = sums ? summed_in(given) : is_half(given) ? DType::f32 : given;
    tile = convert(std::move(tile), ir::scalar(in));
    if (ir::extents_of(*tile) != extents) tile = ir::spread(tile, extents, place);
    const DType out = index ? DType::i64 : in;
    ExprP result;
    if (op.axis < 0) {
        result = made(op, ir::scalar(out), {tile}, place);
        if (keep) result = ir::spread(result, ir::Extents(extents.size(), 1), place);
    } else {
        ir::Extents kept = extents;
        kept[static_cast<std::size_t>(op.axis)] = 1;
        result = made(op, ir::tile(out, kept), {tile}, place);
        if (!keep) {
            kept.erase(kept.begin() + op.axis);
            result = kept.empty() ? reduced(result, {ir::TileOp::Kind::reduce, Fold::sum, -1}, false, place)
                                  : reshaped_tile(result, kept, place);
        }
    }
    return !index && is_half(given) ? convert(result, ir::scalar(given)) : result;
}

Value Lowering::reduce_value(const Value& v, ir::TileOp op, const Node* axis, bool keep, const Place& place) {
    std::vector<int> axes;
    const bool seen = v.kind == Value::Kind::seen;
    ExprP tile = seen ? nullptr : number(v, place);
    if (tile && tile->type.is_none()) return scalar_value(tile);
    if (tile && !ir::is_tile(*tile)) return v;
    const std::size_t rank = seen ? v.seen->lengths.size() : ir::extents_of(*tile).size();
    const Value given = axis ? value(*axis) : Value{};
    if (given.is_tuple()) {
        for (const ast::NodeP& n : axis->list("elts")) axes.push_back(axis_from(*n, rank));
        std::sort(axes.rbegin(), axes.rend());
    } else if (given.kind != Value::Kind::none) {
        axes.push_back(axis_from(*axis, rank));
    }
    if (seen) {
        if (axes.size() != 1)
            throw refused(place, "an array seen through a tile is reduced along one axis",
                          "write tiles.sum(t, axis=1)");
        return seen_reduce(v, op, axes[0], keep, place);
    }
    if (axes.empty() || axes.size() == rank) {
        op.axis = -1;
        return scalar_value(reduced(tile, op, keep, place));
    }
    for (const int a : axes) {
        op.axis = a;
        tile = reduced(tile, op, keep, place);
    }
    return scalar_value(tile);
}

Value Lowering::tile_reduce(const Node& node, const std::string& name) {
    const auto args = bind(node, name, {"tile", "axis", "keepdims"}, 1);
    ir::TileOp op{ir::TileOp::Kind::reduce};
    op.fold = fold_named(name);
    const bool keeps = args[2] && literal_truth(value(*args[2]));
    const Value v = value(*args[0]);
    return name == "mean" ? tile_mean(v, args[1], keeps, node.place)
                          : reduce_value(v, op, args[1], keeps, node.place);
}

Value Lowering::tile_mean(const Value& v, const Node* axis, bool keep, const Place& place) {
    if (v.kind == Value::Kind::seen)
        throw refused(place, "mean() of an array seen through a tile",
                      "write tiles.sum(t, axis=1) / t.shape[1]");
    ExprP tile = number(v, place);
    if (tile->type.is_none()) return v;
    if (!is_floating(tile->type.dtype)) tile = convert(tile, ir::scalar(DType::f64));
    const Value sum = reduce_value(scalar_value(tile), {ir::TileOp::Kind::reduce}, axis, keep, place);
    const auto n = ir::elements(ir::extents_of(*tile)) /
                   std::max<std::int64_t>(1, ir::elements(ir::extents_of(*sum.expr)));
    return scalar_value(arithmetic(Op::truediv, sum.expr, ir::int_constant(n, place), place));
}

Value Lowering::tile_scan(const Node& node, const std::string& name) {
    const auto args = bind(node, name, {"tile", "axis", "reverse"}, 1);
    ExprP tile = tile_number(*args[0]);
    if (tile->type.is_none()) return scalar_value(tile);
    const ir::Extents extents = ir::extents_of(*tile);
    if (extents.empty()) throw refused(args[0]->place, name + "() takes a tile, found one number");
    const DType given = tile->type.dtype;
    ir::TileOp op{ir::TileOp::Kind::scan};
    op.fold = fold_named(name);
    op.axis = args[1] ? axis_from(*args[1], extents.size()) : 0;
    op.reverse = args[2] && literal_truth(value(*args[2]));
    const DType in = summed_in(given);
    tile = convert(std::move(tile), ir::scalar(in));
    if (ir::extents_of(*tile) != extents) tile = ir::spread(tile, extents, node.place);
    ExprP result = made(op, ir::tile(in, extents), {tile}, node.place);
    return scalar_value(is_half(given) ? convert(result, ir::scalar(given)) : result);
}

// What the user's function makes of two numbers: one expression.
ExprP Lowering::combined(const Value& function, const ExprP& x, const ExprP& y, const Node& node) {
    const auto [made, body] = aside([&]() -> Value {
        std::vector<Value> values{scalar_value(x), scalar_value(y)};
        const auto takes_two = [&](const Node& f) {
            std::size_t n = 0;
            for (const char* list : {"posonlyargs", "args"}) n += f.one("args").list(list).size();
            return n == 2;
        };
        const Meaning* m = function.meaning;
        if (function.kind == Value::Kind::closure && takes_two(*function.node))
            return write_in(*function.node, function.text, nullptr, std::move(values), node);
        if (function.kind == Value::Kind::meaning && m->kind == Meaning::Kind::helper) {
            const Helper& helper = unit.names.helpers.at(m->helper);
            if (helper.function && takes_two(*helper.function))
                return write_in(*helper.function, helper.name, &helper.names, std::move(values), node);
        }
        const bool named = function.kind == Value::Kind::meaning &&
                           (m->kind == Meaning::Kind::function || m->kind == Meaning::Kind::intrinsic);
        const std::string last = named ? m->text.substr(m->text.rfind('.') + 1) : "";
        for (const std::string& spelling : {"tiles." + last, "numpy." + last})
            if (const KernelFunction* known = named ? find_function(spelling) : nullptr)
                return scalar_value(table_apply(*known, spelling, {x, y}, node.place));
        throw refused(node.place, "tiles are folded by a function of two numbers, found " + spoken(function),
                      "write lambda x, y: x + y");
    });
    if (!body.empty())
        throw refused(node.place, "the function that a tile is folded by is one expression",
                      "write lambda x, y: ..., choosing by tiles.where(condition, a, b)");
    return number(made, node.place);
}

// reduce(tile, axis, func, identity) and scan(...) by a function of the user's, which is associative and, for reduce,
// takes its numbers in any order.
Value Lowering::tile_fold(const Node& node, const std::string& name) {
    const bool scans = name == "scan";
    const auto args = bind(node, name, {"x", "axis", "func", "identity", scans ? "reverse" : "keepdims"}, 4);
    ExprP tile = tile_number(*args[0]);
    if (tile->type.is_none()) return scalar_value(tile);
    const ir::Extents extents = ir::extents_of(*tile);
    if (extents.empty()) throw refused(args[0]->place, name + "() takes a tile, found one number");
    const DType given = tile->type.dtype, in = is_half(given) ? DType::f32 : given;
    const ir::Type type = ir::scalar(in);
    tile = convert(std::move(tile), type);
    if (ir::extents_of(*tile) != extents) tile = ir::spread(tile, extents, node.place);
    const ExprP start = convert(number(*args[3]), type);
    if (start->type.is_none()) return scalar_value(start);
    const ExprP x = ir::var(hidden(type, node.place), type, node.place),
                y = ir::var(hidden(type, node.place), type, node.place);
    const ExprP made_of_both = combined(value(*args[2]), x, y, node);
    if (made_of_both->type.is_none()) return scalar_value(made_of_both);
    const bool flag = args[4] && literal_truth(value(*args[4]));
    ir::TileOp op{scans ? ir::TileOp::Kind::scan : ir::TileOp::Kind::reduce};
    op.fold = Fold::custom;
    op.reverse = scans && flag;
    std::vector<ExprP> exprs{std::move(tile), convert(made_of_both, type), start, x, y};
    const bool all = args[1]->kind == "Constant" && value(*args[1]).kind == Value::Kind::none;
    op.axis = all ? -1 : axis_from(*args[1], extents.size());
    if (all && scans) throw refused(args[1]->place, "scan() runs along one axis", "write axis=0");
    ExprP result;
    if (scans) {
        result = made(op, ir::tile(in, extents), std::move(exprs), node.place);
    } else if (all) {
        result = made(op, type, std::move(exprs), node.place);
        if (flag) result = ir::spread(result, ir::Extents(extents.size(), 1), node.place);
    } else {
        ir::Extents kept = extents;
        kept[static_cast<std::size_t>(op.axis)] = 1;
        result = made(op, ir::tile(in, kept), std::move(exprs), node.place);
        if (!flag) {
            kept.erase(kept.begin() + op.axis);
            result = kept.empty()
                         ? reduced(result, {ir::TileOp::Kind::reduce, Fold::sum, -1}, false, node.place)
                         : reshaped_tile(result, kept, node.place);
        }
    }
    return scalar_value(is_half(given) ? convert(result, ir::scalar(given)) : result);
}

}  // namespace xcuda::frontend
