// Values of few elements, computed on the host operation by operation: a kernel's start costs more than they do.
#pragma once

#include <cstdint>

#include "arrays/kernel.hpp"

namespace xcuda::arrays {

/// Computes a pending value, and what it needs, where all of it is small, lies in the host's memory and is made of
/// operations whose result is exact or correctly rounded: bit for bit what the kernel gives. False, and nothing done,
/// where that is not so.
bool compute_small(const ValueP& value, const Queue& queue);

/// The value of an operation, computed at once, where compute_small could and the operands are in memory: there is nothing
/// that a later kernel would gain. Null elsewhere.
XCUDA_API ValueP applied_small(const std::shared_ptr<device::Device>& device, const Loop& loop,
                               std::span<Operand> operands, Shape shape, const View* like);

/// The same for a fold of all elements, where they lie in C order or along one axis.
XCUDA_API ValueP folded_small(const Operand& operand, const Reduction& reduction, DType out, bool keepdims);

/// Writes the operand to a view of the target likewise: elements that are copied, or cast exactly or correctly rounded.
bool store_small(Value& target, const View& view, const Operand& from, const Queue& queue);

/// The most elements of a value that is computed so; 0: none is.
XCUDA_API std::int64_t small_limit();
XCUDA_API void set_small_limit(std::int64_t elements);

/// Values computed so since the process began.
XCUDA_API std::uint64_t small_count();

}  // namespace xcuda::arrays
