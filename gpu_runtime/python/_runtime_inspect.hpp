// What the bindings that look into kernels share.
#pragma once

#include "_runtime_kernel.hpp"
#include "launch/signature.hpp"

namespace xcuda::python {

/// The state of a Kernel or Configured object; raises a TypeError for another.
KernelState& state_of(nb::handle kernel);
/// From [("array", "float32", 2, "contiguous") or ("scalar", "int64", weak)].
launch::Signature signature_from(nb::handle types);

/// Arguments as a plan goes by them: arrays of so many elements; below 0: numbers.
std::vector<launch::Argument> sized(const std::vector<std::int64_t>& elements);

}  // namespace xcuda::python
