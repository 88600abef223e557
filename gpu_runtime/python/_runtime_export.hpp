// Device arrays for other libraries, and theirs as device arrays.
#pragma once

#include "_runtime_array.hpp"

namespace xcuda::python {

/// ArrayBase(foreign): the memory of an array with __cuda_array_interface__, DLPack or, on the CPU device, a buffer.
void adopt_array(DeviceArray* self, nb::object foreign);

void bind_export(nb::module_& module);

}  // namespace xcuda::python
