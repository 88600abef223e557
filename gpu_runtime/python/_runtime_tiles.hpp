// Tile kernels: a Kernel whose source goes through gpu_runtime/tiles.
#pragma once

#include <nanobind/nanobind.h>

namespace xcuda::python {

void bind_tiles(nanobind::module_& module);

}  // namespace xcuda::python
