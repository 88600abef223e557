// xcuda.check's part of `_runtime`.
#pragma once

#include <nanobind/nanobind.h>

namespace xcuda::python {

struct KernelState;
struct Configuration;
class Arguments;

/// Set while launches are to be looked at before they start: hook(kernel or kernel[grid, block], values).
extern PyObject* launch_hook;
void ask_launch_hook(KernelState& kernel, const Configuration& where, const Arguments& arguments);

/// The Kernel object of a state, configured as a call of it was.
nanobind::object callee_of(KernelState& kernel, const Configuration& where);

void bind_check(nanobind::module_& module);

}  // namespace xcuda::python
