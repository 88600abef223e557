// How a kernel is compiled and laid out beyond its types, and what that asks of it: for cuda.jit and the optimiser.
#pragma once

#include <nanobind/nanobind.h>

namespace xcuda::python {

void bind_tune(nanobind::module_& module);

}  // namespace xcuda::python
