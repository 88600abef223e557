// A kernel's declared argument types: a Python number that is passed for one becomes of that type.
#pragma once

#include <nanobind/nanobind.h>

#include "_runtime_kernel.hpp"

namespace xcuda::python {

/// Converts the Python numbers of a call to the types of that declared signature which suits them best.
void take_declared(const KernelState& kernel, Arguments& arguments);

void bind_declared(nb::module_& module);

}  // namespace xcuda::python
