// Pinned host memory as Python holds it.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace xcuda::python {

void bind_pinned(nb::module_& module);

}  // namespace xcuda::python
