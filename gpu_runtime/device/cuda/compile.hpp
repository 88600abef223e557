// From emitted C++ to a cubin, with NVRTC: for the device at hand or for a named architecture without one.
#pragma once

#include <string>

#include "device/device.hpp"

namespace xcuda::device::cuda {

/// What of the machine a compiled kernel depends on: compiler, driver, architecture, options. Opens no library but
/// the driver.
std::string toolchain(const std::string& architecture);

/// For "sm_90". Where NVRTC is older than the architecture, its PTX goes through the driver's own compiler, which
/// needs a current context. Throws missing() without NVRTC, a ValueError where the kernel wants more shared memory
/// than a block has, bug() where the text does not compile.
Image compile(const Source& source, const std::string& architecture);

/// PTX for "sm_90" and the like.
std::string ptx(const Source& source, const std::string& architecture);

/// SASS through nvdisasm or cuobjdump where there is one, else PTX; the first line says which.
std::string assembly(const Source& source, const std::string& architecture);

}  // namespace xcuda::device::cuda
