// Loops over all indices of a shape: np.ndindex(shape) and np.ndenumerate(a), the last axis running fastest.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);

}  // namespace

Value Lowering::call_indices(const Node& node, const std::string& name) {
    Value v;
    v.kind = Value::Kind::lazy;
    v.text = name;
    v.place = node.place;
    if (name == "ndenumerate") {
        const Node& given = *bind(node, name, {"arr"}, 1)[0];
        v.items = {kept_still(value(given))};
        if (!v.items[0].has_elements())
            throw refused(given.place, "ndenumerate() needs an array, found " + spoken(v.items[0]),
                          "write enumerate(x)");
        return v;
    }
    const std::vector<const Node*> given = call_of(node).positional;
    std::vector<Value> lengths = operands(given);
    if (lengths.size() == 1 && lengths[0].is_tuple()) lengths = std::vector<Value>(lengths[0].items);
    for (const Value& n : lengths) {
        ExprP e = convert(index(number(n, node.place), node.place), weak_int);
        if (!e->type.is_none() && !nonnegative(*e)) {
            e = spill(e);
            stop_unless(comparison(Op::ge, e, ir::int_constant(0, node.place), node.place), "ValueError",
                        "negative dimensions are not allowed", node.place);
        }
        v.items.push_back(evaluated(scalar_value(e)));
    }
    return v;
}

Lowering::Sequence Lowering::index_sequence(const Value& v, const Place& place) {
    const bool items = v.text == "ndenumerate";
    std::vector<ExprP> lengths;
    if (items)
        lengths = lengths_of(v.items[0], place);
    else
        for (const Value& n : v.items) lengths.push_back(n.expr);
    ExprP count = ir::int_constant(1, place);
    for (const ExprP& n : lengths) {
        if (n->type.is_none()) return {n, nullptr};
        count = arithmetic(Op::mul, count, n, place);
    }
    const auto at = [this, v, lengths, items, place](ExprP rest) {
        std::vector<ExprP> indices(lengths.size());
        for (std::size_t axis = lengths.size(); axis-- > 0;) {
            if (axis == 0) {
                indices[0] = spill(rest);
                break;
            }
            // No round comes here where an axis has no length, so that there is nothing to test.
            indices[axis] = spill(ir::make(Op::mod, weak_int, {rest, lengths[axis]}, place));
            rest = spill(ir::make(Op::floordiv, weak_int, {rest, lengths[axis]}, place));
        }
        std::vector<Value> all;
        for (const ExprP& i : indices) all.push_back(scalar_value(i));
        Value index = tuple_value(std::move(all));
        if (!items) return index;
        return tuple_value({std::move(index), scalar_value(element_at(v.items[0], indices, place))});
    };
    return {spill(count), at};
}

}  // namespace xcuda::frontend
