// Arrays computed element by element where they are used: a + b, np.sin(a), np.sum(a, axis=0).
#pragma once

#include <functional>
#include <vector>

#include "frontend/value.hpp"

namespace xcuda::frontend {

struct ArrayExpression {
    /// An array whose elements it reads, and what must hold for element i to come of the array's element i alone.
    struct Read {
        Value array;
        bool same_index = true;         // false: of other elements too, whatever holds
        std::vector<ir::ExprP> equals;  // tests, of run time
    };
    std::vector<ir::ExprP> lengths;
    std::function<ir::ExprP(const std::vector<ir::ExprP>& indices)> at;
    std::vector<Read> reads;
    std::shared_ptr<const Value> alias = nullptr;  // what a name of it holds: its array, `viewed`
};

}  // namespace xcuda::frontend
