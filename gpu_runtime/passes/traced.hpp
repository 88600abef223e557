// A kernel that tells a sink, thread by thread, of its accesses, branches, turns of loops and barriers: what the
// analyses of profile/ read. It runs as fibers on the CPU device, one thread after the other up to a barrier.
#pragma once

#include "passes/cpu.hpp"

namespace xcuda::passes {

/// The sink's address becomes the kernel's last parameter, a uint64.
XCUDA_API ir::Module traced(ir::Module module, const CpuOptions& options);
/// The same parameter in a kernel for CUDA that looks at shadow memory (emit_shadow): its threads, blocks and axes are as
/// the user numbers them.
XCUDA_API ir::Module shadowed_for_cuda(ir::Module module);

}  // namespace xcuda::passes
