// Compiling for named architectures, and the libraries that devices need.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace xcuda::python {

void bind_target(nb::module_& module);

}  // namespace xcuda::python
