// A GPU that a kernel's fault has ended for this process. The driver then answers everything on it with the fault's error,
// also in a context made anew, until the process ends.
#pragma once

#include <cuda.h>

#include <atomic>
#include <optional>

#include "base/error.hpp"

namespace xcuda::device::cuda {

/// So that what the driver answers in this context is known to be about the GPU.
void know(CUcontext context, CUdevice device);
std::optional<CUdevice> device_of(CUcontext context);

/// The GPU is lost by this answer of the driver; only the first one counts. Takes no other lock.
void lose(CUdevice device, CUresult by, const char* doing);
/// The driver's number of the error that it is lost by; 0: it is not.
int lost_by(CUdevice device) noexcept;
/// Begins with the GPU's label ("cuda:0 is lost: ..."): Python adds what was under way, and which arrays are gone.
Error lost_error(CUdevice device);

inline std::atomic<bool> any_lost{false};
/// Throws lost_error() where the context is a lost GPU's.
void expect_usable(CUcontext context);

}  // namespace xcuda::device::cuda
