// What the CPU device and a compiled kernel agree on. emit/prelude_cpu.hpp declares the same layout for kernels.
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace xcuda::device::cpu {

/// Changes when a kernel compiled before can no longer run: part of every cache key.
constexpr int kernel_abi = 1;

struct Worker;

/// One launch, shared by all workers; read-only for kernels but for *fault.
struct LaunchBlock {
    std::int64_t grid[3];
    std::int64_t block[3];
    std::int64_t dynamic_shared_bytes;
    const volatile std::int32_t* stop;  // not 0: leave at the next poll (interrupt, or another worker's fault)
};

/// A thread of a kernel under fibers: one CUDA thread, called once for each thread of a block.
using ThreadFunction = void (*)(const LaunchBlock*, const void* arguments, Worker*,
                                std::int64_t thread_x, std::int64_t thread_y, std::int64_t thread_z,
                                std::int64_t block_x, std::int64_t block_y, std::int64_t block_z);

/// One worker while it runs a launch. The function pointers are the device's, called by kernels.
struct Worker {
    char* shared;  // shared memory of the block this worker runs: at least the launch's bytes, 64-byte aligned
    /// Records the fault (the first of the launch wins) and leaves the kernel by longjmp; never returns.
    void (*fail)(Worker*, std::int32_t site, std::int32_t kind, std::int64_t value0, std::int64_t value1,
                 std::int64_t thread_x, std::int64_t thread_y, std::int64_t thread_z,
                 std::int64_t block_x, std::int64_t block_y, std::int64_t block_z);
    /// Runs all threads of one block (linear index, x fastest) as fibers of `thread`.
    void (*run_fibers)(Worker*, const LaunchBlock*, const void* arguments, std::int64_t block, ThreadFunction thread);
    /// Called inside a fiber: waits until all live threads of the block are here.
    void (*barrier)(Worker*);
    /// Called at a poll that saw *stop: leaves the kernel by longjmp; never returns.
    void (*leave)(Worker*);
};

/// Optional, `extern "C" const std::int64_t NAME_shared_bytes = N;`: static shared memory of a block; without it the
/// worker's shared memory holds 256 KiB and the launch's dynamic bytes. Dynamic bytes lie after the static ones.
using SharedBytes = const std::int64_t*;
/// `extern "C" std::int64_t NAME_units(const LaunchBlock*, const void* arguments)`: pieces of work of this launch.
using UnitsFunction = std::int64_t (*)(const LaunchBlock*, const void* arguments);
/// `extern "C" void NAME(const LaunchBlock*, const void* arguments, Worker*, int64 begin, int64 end)`: runs pieces
/// [begin, end). Pieces are independent and may run in any order on any worker.
using RunFunction = void (*)(const LaunchBlock*, const void* arguments, Worker*, std::int64_t begin, std::int64_t end);

}  // namespace xcuda::device::cpu
