// Analyses of kernels, for xcuda.profiler.
#pragma once

#include <nanobind/nanobind.h>

namespace xcuda::python {

void bind_analysis(nanobind::module_& module);

}  // namespace xcuda::python
