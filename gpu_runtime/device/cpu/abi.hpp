// What the CPU device and a compiled kernel agree on. emit/prelude_cpu.hpp declares the same layout for
// kernels.
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace xcuda::device::cpu {

/// Changes when a kernel compiled before can no longer run: part of every cache key.
constexpr int kernel_abi = 2;

struct Worker;

/// One launch, shared by all workers; read-only for kernels but for *fault.
struct LaunchBlock {
    std::int64_t grid[3];
    std::int64_t block[3];
    std::int64_t dynamic_shared_bytes;
    const volatile std::int32_t* stop;  // not 0: leave at the next poll (interrupt, another's fault)
};

/// A thread of a kernel under fibers: one CUDA thread, called once for each thread of a block.
using ThreadFunction = void (*)(const LaunchBlock*, const void* arguments, Worker*, std::int64_t thread_x,
                                std::int64_t thread_y, std::int64_t thread_z, std::int64_t block_x,
                                std::int64_t block_y, std::int64_t block_z);

/// One worker while it runs a launch. The function pointers are the device's, called by kernels.
struct Worker {
    char* shared;  // of the block this worker runs: at least the launch's bytes, 64-byte aligned
    /// Records the fault (the first of the launch wins) and leaves the kernel, giving its stack up; never returns.
    void (*fail)(Worker*, std::int32_t site, std::int32_t kind, std::int64_t value0, std::int64_t value1,
                 std::int64_t thread_x, std::int64_t thread_y, std::int64_t thread_z, std::int64_t block_x,
                 std::int64_t block_y, std::int64_t block_z);
    /// Runs all threads of one block (linear index, x fastest) as fibers of `thread`.
    void (*run_fibers)(Worker*, const LaunchBlock*, const void* arguments, std::int64_t block,
                       ThreadFunction thread);
    /// Called inside a fiber: waits until all live threads of the block are here.
    void (*barrier)(Worker*);
    /// Called at a poll that saw *stop: leaves the kernel, giving its stack up; never returns.
    void (*leave)(Worker*);
};

/// Optional, `extern "C" const std::int64_t NAME_shared_bytes = N;`: static shared memory of a block; without
/// it the worker's shared memory holds 256 KiB and the launch's dynamic bytes. Dynamic bytes lie after the
/// static ones.
using SharedBytes = const std::int64_t*;
/// Optional, `extern "C" const xc_cut NAME_cut`: the kernel knows only global indices and is run over boxes of the
/// grid's threads, [low, high) along x, y, z, which the device cuts (device/cpu/boxes).
struct Cut {
    std::int64_t vector_axis;  // neighbours along it touch neighbouring elements
    std::int64_t width, rows;  // of a tile: threads along the vector axis, and across
    std::int64_t weight;       // of a thread: 0 light, 1 calls functions, 2 loops
};
/// `void NAME_domain(const LaunchBlock*, const void* arguments, std::int64_t low[3], std::int64_t high[3])`: the
/// threads that pass the kernel's guard.
using DomainFunction = void (*)(const LaunchBlock*, const void* arguments, std::int64_t* low,
                                std::int64_t* high);
/// NAME of a box kernel runs the box thread by thread.
using BoxFunction = void (*)(const LaunchBlock*, const void* arguments, Worker*, const std::int64_t* low,
                             const std::int64_t* high);
/// Optional, `bool NAME_tiles(...)`: the same as vector code; false where the box may hold an index out of range:
/// then nothing was done.
using TilesFunction = bool (*)(const LaunchBlock*, const void* arguments, Worker*, const std::int64_t* low,
                               const std::int64_t* high);

/// Of other kernels, optional (one piece a block without it): `extern "C" std::int64_t NAME_units(const LaunchBlock*, const void* arguments)`: pieces of work of this
/// launch.
using UnitsFunction = std::int64_t (*)(const LaunchBlock*, const void* arguments);
/// `extern "C" void NAME(const LaunchBlock*, const void* arguments, Worker*, int64 begin, int64 end)`: runs
/// pieces [begin, end). Pieces are independent and may run in any order on any worker.
using RunFunction = void (*)(const LaunchBlock*, const void* arguments, Worker*, std::int64_t begin,
                             std::int64_t end);

}  // namespace xcuda::device::cpu
