// What the CPU device and a compiled kernel agree on. emit/prelude_cpu.hpp declares the same layout for
// kernels.
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace xcuda::device::cpu {

/// Changes when a kernel compiled before can no longer run: part of every cache key.
constexpr int kernel_abi = 5;

struct Worker;

/// One launch, shared by all workers; read-only for kernels but for *fault.
struct LaunchBlock {
    std::int64_t grid[3];
    std::int64_t block[3];
    std::int64_t dynamic_shared_bytes;
    const volatile std::int32_t* stop;  // not 0: leave at the next poll (interrupt, another's fault)
    void* print;                        // a PrintBuffer, where the kernel prints
};

/// A thread of a kernel under fibers: one CUDA thread, called once for each thread of a block.
using ThreadFunction = void (*)(const LaunchBlock*, const void* arguments, Worker*, std::int64_t thread_x,
                                std::int64_t thread_y, std::int64_t thread_z, std::int64_t block_x,
                                std::int64_t block_y, std::int64_t block_z);

/// What Worker::warp makes of the lanes' values.
enum class WarpOp : std::int32_t {
    sync,
    shuffle,
    ballot,  // whose value is not 0; in the upper half all that came
    match,   // who has the same value; in the upper half all that came
    active,  // who waits here too once nobody of the warp can go on
};

/// c (m, n) = a (m, k) @ b (k, n), contiguous by rows; turned: memory holds it transposed.
struct MatrixProduct {
    void* c;
    const void *a, *b;
    std::int64_t m, n, k;
    std::int64_t of_double, a_turned, b_turned;
};

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
    /// Called inside a fiber: waits until all live threads of the block are at this site. How many of them gave a true
    /// predicate, and in the upper half how many came.
    std::uint64_t (*barrier)(Worker*, std::int32_t site, bool predicate);
    /// Called at a poll that saw *stop: leaves the kernel, giving its stack up; never returns.
    void (*leave)(Worker*);
    /// Called inside a fiber: waits until the live lanes of `mask` are at this site, then gives what `op` makes of
    /// their values. `source`: the lane a shuffle reads, -1 the own one.
    std::uint64_t (*warp)(Worker*, std::int32_t op, std::int32_t site, std::uint32_t mask,
                          std::uint64_t value, std::int32_t source);
    /// As barrier, for the threads of the whole grid; only under run_grid.
    std::uint64_t (*grid_barrier)(Worker*, std::int32_t site);
    /// Runs all threads of all blocks as fibers at once; each block has its own shared memory.
    void (*run_grid)(Worker*, const LaunchBlock*, const void* arguments, std::int64_t block_shared_bytes,
                     ThreadFunction thread);
    /// Called inside a fiber: another one that can go on has its turn.
    void (*give_way)(Worker*);
    /// Set by a watched kernel: fibers begin, and take turns, in an order drawn from it; 0: as they are numbered.
    std::uint64_t order;
    /// A product by the BLAS that is there (device::cpu_has_blas).
    void (*product)(Worker*, const LaunchBlock*, const MatrixProduct*);
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
