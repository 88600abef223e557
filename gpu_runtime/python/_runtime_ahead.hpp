// Kernels whose argument types are known when they are defined compile on threads of their own.
#pragma once

#include <nanobind/nanobind.h>

#include "_runtime_kernel.hpp"

namespace xcuda::python {

/// Returns when what was begun at the kernel's definition is compiled, or failed.
void wait_for_ahead(KernelState& kernel);

void bind_ahead(nb::module_& module);

}  // namespace xcuda::python
