// The road of a typed module to the CUDA device: checks proven away or hoisted out of loops, 32-bit indices, and, for
// launches whose shape nobody wrote, the axes laid so that neighbouring threads touch neighbouring elements.
#pragma once

#include <array>

#include "ir/module.hpp"

namespace xcuda::passes {

struct CudaOptions {
    bool automatic = false;  // the launch shape is ours: the axes of cuda.grid may be mapped freely
};

XCUDA_API ir::Module for_cuda(ir::Module module, const CudaOptions& options);

/// Which of x, y, z each axis of cuda.grid becomes in an automatic launch: the contiguous one becomes x.
XCUDA_API std::array<int, 3> coalescing_order(const ir::Module& module);
/// How many neighbouring elements along x a thread of an automatic launch takes, as one 16-byte vector; 1: no vectors.
XCUDA_API int elements_a_thread(const ir::Module& module);

}  // namespace xcuda::passes
