// NVIDIA's mathematics libraries over device arrays: products, Fourier transforms, factorisations.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace xcuda::python {

/// The submodule `_runtime.cuda_math`; without the CUDA device there is none.
void bind_math(nb::module_& module);

}  // namespace xcuda::python
