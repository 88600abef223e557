// Evaluates the IR's integer expressions on the host, over the arguments of a call: for domains and shared sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/module.hpp"
#include "launch/signature.hpp"

namespace xcuda::launch {

/// The value of an integer or bool expression over `kernel`'s parameters, their shapes and constants; nothing where
/// it needs more than that (an array's element, a coordinate), divides by zero or is not a finite number.
XCUDA_API std::optional<std::int64_t> evaluate(const ir::Function& kernel, const ir::Expr& expr,
                                               std::span<const Argument> arguments);

/// A scalar argument as a double, for the cost model; nothing for arrays.
XCUDA_API std::optional<double> number(const Argument& argument);

}  // namespace xcuda::launch
