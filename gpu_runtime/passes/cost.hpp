// A model of a kernel's work: FLOPs and bytes of global memory, counted in the IR for given arguments and launch shape.
#pragma once

#include <functional>
#include <optional>

#include "ir/module.hpp"

namespace xcuda::passes {

/// Values of the launch that the model needs: parameters' shapes and integer scalars, block and grid.
struct CostInputs {
    std::function<std::optional<double>(int parameter, int axis)> length;  // array lengths
    std::function<std::optional<double>(int parameter)> value;             // scalar parameters
    double grid[3], block[3];
    std::function<double(int parameter)> elements;  // of an array
};

struct Cost {
    double flops = 0;
    double bytes_read = 0,
           bytes_written = 0;  // each array element once where all are touched (compulsory traffic)
    bool complete = true;      // false: data decides how often something runs; the count ended there
};

/// Operations that count as one each: + - * / // % ** and calls of the table's functions.
bool is_arithmetic(ir::Op op);

XCUDA_API Cost cost(const ir::Module& module, const CostInputs& inputs);

}  // namespace xcuda::passes
