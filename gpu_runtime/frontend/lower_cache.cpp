// Loads and stores with a cache operator: cuda.ldcg(A, i), cuda.stcs(A, (i, j), value).
#include <fmt/format.h>
#include <array>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

struct Operator {
    const char* name;
    ir::CacheHint hint;
};
constexpr std::array operators{
    Operator{"ldca", ir::CacheHint::ca}, Operator{"ldcg", ir::CacheHint::cg},
    Operator{"ldcs", ir::CacheHint::cs}, Operator{"ldlu", ir::CacheHint::lu},
    Operator{"ldcv", ir::CacheHint::cv}, Operator{"stcg", ir::CacheHint::cg},
    Operator{"stcs", ir::CacheHint::cs}, Operator{"stwb", ir::CacheHint::wb},
    Operator{"stwt", ir::CacheHint::wt},
};

}  // namespace

std::optional<Value> Lowering::cache_operator(const std::string& name, const Node& node) {
    const auto row =
        std::find_if(operators.begin(), operators.end(), [&](const Operator& o) { return name == o.name; });
    if (row == operators.end()) return std::nullopt;
    const bool stores = name.starts_with("st");
    const std::vector<const Node*> args =
        stores ? bind(node, name, {"array", "index", "value"}, 3) : bind(node, name, {"array", "index"}, 2);
    const std::vector<Value> values = operands(args);
    const Value& base = values[0];
    const Place& place = args[0]->place;
    if (!base.is_indexed())
        throw refused(place, fmt::format("cuda.{} works on an array's element, found {}", name, spoken(base)),
                      fmt::format("write cuda.{}(A, i{})", name, stores ? ", value" : ""));
    const ir::Type& type = base.expr->type;
    if (!is_integer(type.dtype) && !is_floating(type.dtype))
        throw refused(
            place,
            fmt::format("{} requires array of integer or float type, found {}", name, info(type.dtype).name),
            "write A[i]");
    if (type.space != ir::Space::global || type.layout == ir::Layout::bytes)
        throw refused(
            place,
            fmt::format("cuda.{} works on aligned arrays in global memory, found {}", name, spoken(base)),
            "write A[i]");
    const Value& at = values[1];
    const std::size_t given = at.is_tuple() ? at.items.size() : 1;
    if (given != rank(base))
        throw refused(args[1]->place,
                      fmt::format("Expected {} indices, got {}", rank(base),
                                  at.is_tuple() ? std::to_string(given) : "a scalar"),
                      rank(base) == 1 ? "write one index" : "write a tuple, (i, j)");
    for (const Value& i : at.is_tuple() ? at.items : std::vector<Value>{at})
        if (i.is_scalar() && i.expr->type.is_scalar() && !is_integer(i.expr->type.dtype))
            throw refused(args[1]->place,
                          fmt::format("{} is not a valid index", info(i.expr->type.dtype).name),
                          "write int(...)");
    Element e = element(base, index_list(at, *args[1]), node.place);
    e.access.hint = row->hint;
    if (stores) {
        store(e, number(values[2], args[2]->place), node.place);
        return Value{};
    }
    return scalar_value(spill(load(e, node.place)));
}

}  // namespace xcuda::frontend
