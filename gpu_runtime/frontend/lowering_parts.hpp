// What the methods of Lowering hand to one another.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/array_expression.hpp"
#include "frontend/ast.hpp"
#include "frontend/value.hpp"

namespace xcuda::frontend {

class Lowering;

struct LoweringParts {
    using Node = ast::Node;
    using ExprP = ir::ExprP;

    struct Binding {
        std::string name;
        Value value;
        Place place;
    };

    struct Loop {
        Flow breaks, continues;
        ir::VarId left = -1;        // set by a break, in a loop that is written out
        std::size_t first_var = 0;  // variables from here on were made in it
    };

    struct Sequence {
        ExprP count;
        std::function<Value(ExprP)> at;
    };

    struct Element {
        ExprP array;
        std::vector<ExprP> indices;
        ir::Access access;
        std::uint8_t tested = 0;
    };

    using Items = std::vector<ExprP>;

    struct Operands {  // arrays and numbers, broadcast
        std::vector<ExprP> lengths;
        std::vector<ArrayExpression::Read> reads;
        std::function<Items(const Items& indices)> at;  // one element of each
    };

    struct Ufunc {
        std::string name;
        std::size_t inputs, outputs;
        std::function<Items(const Items&)> apply;  // of numbers
        bool takes_out = true, of_arrays = true;
    };

    struct Reduction {
        std::vector<ExprP> lengths;                     // of the axes that go
        std::function<ExprP(const Items& indices)> at;  // the element there
        ir::Type item;
        std::optional<DType> dtype;  // dtype=
        ExprP ddof;
        Place place;
    };

    struct ReductionRow {
        std::string_view name;
        const std::vector<std::string>& parameters;
        ExprP (Lowering::*fold)(const Reduction&, bool flag, bool nan);
        bool flag,
            nan;  // flag: the greater (max, argmax), a product, a root (std), any; nan: nan is left out
    };

    struct Shifts {
        std::vector<ExprP> later, earlier;
    };

    struct Overlap {
        bool any = false, ordered = true;
        std::vector<ExprP> order;  // by axis of the target: whether it runs from its end; null: never
    };

    struct Choice {
        ir::VarId which;
        std::vector<std::string> keys;  // array_key of each
    };

    using Choices = std::map<std::string, std::set<std::string>>;  // name's path -> array_key of each

    struct Call {
        std::vector<const Node*> positional;
        std::vector<std::pair<std::string, const Node*>> keywords;
    };
};

}  // namespace xcuda::frontend
