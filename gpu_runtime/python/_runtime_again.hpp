// Which host arrays went to a device before: what advice on needless copies rests on.
#pragma once

#include <nanobind/nanobind.h>

namespace xcuda::python {

/// When (base/clock) this very array was last noted here; 0: never, or it can't be told. Notes it as copied now.
double noted_before(nanobind::handle array);

}  // namespace xcuda::python
