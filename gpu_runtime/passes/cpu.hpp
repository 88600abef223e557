// The road of a typed module to the CPU device: which passes, in which order.
#pragma once

#include <cstdint>

#include "ir/module.hpp"

namespace xcuda::passes {

struct CpuOptions {
    bool checked = true;
    bool block_fixed = false;  // `block` is a compile-time constant of this specialisation
    std::int64_t block[3] = {1, 1, 1};
    int vector_bytes = 32;
};

/// True where the kernel must know its block's dimensions to be fast (barriers, shared memory): then one
/// specialisation a block shape. Barrier-free kernels serve every launch shape with one text.
XCUDA_API bool wants_fixed_block(const ir::Module& module);

/// Rewrites the kernel into work over lanes, regions between barriers or fibers; see cpu_*.hpp.
XCUDA_API ir::Module for_cpu(ir::Module module, const CpuOptions& options);

}  // namespace xcuda::passes
