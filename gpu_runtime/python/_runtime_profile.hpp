// Marks in the log of events and the reports made of what came after them.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace xcuda::python {

void bind_profile(nb::module_& module);

}  // namespace xcuda::python
