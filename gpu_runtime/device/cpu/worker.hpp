// One thread while it works on a launch: its shared memory, its stack for kernels, and the way out of a
// kernel.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>

#include "device/cpu/abi.hpp"
#include "device/cpu/boxes.hpp"
#include "device/cpu/compiler.hpp"
#include "device/cpu/interrupt.hpp"
#include "device/cpu/kernel_stack.hpp"

namespace xcuda::device::cpu {

struct FiberGang;

/// A launch while it runs; lives on the stack of the thread that runs it.
struct LaunchState {
    LaunchBlock block;
    const void* arguments;
    const Kernel* kernel;
    Boxes boxes;  // of a box kernel
    std::int64_t units;
    std::int64_t grain;        // pieces taken at a time
    std::size_t shared_bytes;  // of a block
    std::size_t frame_bytes;   // bound of the kernel's own frames
    StopFlag stop;

    alignas(64) std::atomic<std::int64_t> next{0};
    alignas(64) std::atomic<int> helpers{0};  // pool threads at work on it
    std::atomic<bool> faulted{false};
    std::atomic<bool> cut_short{false};    // a stop left pieces undone
    FaultRecord fault{-1, 0, {}, {}, {}};  // of whoever set `faulted`
    std::exception_ptr error;              // the same: no memory for fibers
    std::atomic<int> workers{0};           // threads that shared it, and their seconds at work
    std::atomic<double> busy{0}, busiest{0};

    void took_part(double seconds) {
        workers.fetch_add(1, std::memory_order_relaxed);
        busy.fetch_add(seconds, std::memory_order_relaxed);
        double most = busiest.load(std::memory_order_relaxed);
        while (seconds > most && !busiest.compare_exchange_weak(most, seconds, std::memory_order_relaxed)) {}
    }
    bool has_pieces() const {
        return next.load(std::memory_order_relaxed) < units && stop.reason() == Stop::no;
    }
};

struct WorkerState : Worker {
    WorkerState();
    ~WorkerState();

    LaunchState* launch = nullptr;
    boost::context::detail::fcontext_t home = nullptr;  // the thread itself, while its kernel stack runs
    KernelStacks stack;
    std::unique_ptr<char, decltype(&std::free)> shared_memory{nullptr, &std::free};
    std::size_t shared_size = 0;
    std::unique_ptr<FiberGang> fibers;
};

/// This thread's own worker, made at its first use.
WorkerState& this_worker();

/// Makes room for the launch's shared memory and stack. Throws MemoryError.
void prepare(WorkerState& worker, const LaunchState& launch);
/// Ends the launch with `error`; called on a kernel stack, which is given up.
[[noreturn]] void abandon(WorkerState& worker, std::exception_ptr error);
/// Takes pieces until none is left or the launch stops. The worker is prepared.
void work(WorkerState& worker, LaunchState& launch) noexcept;

}  // namespace xcuda::device::cpu
