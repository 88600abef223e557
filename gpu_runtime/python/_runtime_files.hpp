// Compiled kernels as bytes, and back: for xcuda.jit's save and load.
#pragma once

#include <nanobind/nanobind.h>

namespace xcuda::python {

void bind_files(nanobind::module_& module);

}  // namespace xcuda::python
