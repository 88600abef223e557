// Which pending values are computed together, in which order; and writes into memory.
#pragma once

#include <span>

#include "arrays/kernel.hpp"

namespace xcuda::arrays {

/// Computes the pending ones among `wanted` and all that they need: as few kernels as the shapes allow, each value that
/// several need once.
XCUDA_API void compute(std::span<const ValueP> wanted, const Queue& queue);

/// Writes the operand (broadcast to the view's shape already) to a view of a value in memory. Pending readers of the
/// old contents must have been computed; where the operand itself reads the memory in another order, a copy is made.
/// `dies`: one array holds the operand's value, and nobody needs it afterwards.
XCUDA_API void store(Value& target, const View& view, const Operand& from, const Site& site,
                     const Queue& queue, bool dies = false);

/// A view of an array and what is to stand there, of the view's shape.
struct Part {
    View view;
    Operand from;
};
/// Writes the parts of memory that nobody has seen yet: those of one shape by one kernel, pending ones without memory of
/// their own.
XCUDA_API void join(Value& target, std::span<const Part> parts, const Site& site, const Queue& queue);

}  // namespace xcuda::arrays
