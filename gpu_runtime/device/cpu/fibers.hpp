// A block's threads as fibers, for kernels whose barriers can't be turned into regions, and for warp operations; where all
// blocks meet, the grid's threads: correct before fast.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <vector>

#include "device/cpu/worker.hpp"

namespace xcuda::device::cpu {

/// Fibers in a ring of the live ones. Each runs until it must wait and hands over to the next in the ring that can go on.
struct FiberGang {
    enum class Wait : std::uint8_t { none, block, warp, grid, ended };
    struct Fiber {
        boost::context::detail::fcontext_t context = nullptr;
        std::int32_t next = 0, previous = 0;
        std::int32_t x = 0, y = 0, z = 0;
        std::int32_t block = 0;  // index into `blocks`
        // While it waits, and what it is told then.
        Wait wait = Wait::none;
        WarpOp op{};
        std::int32_t site = -1, source = -1;
        std::uint32_t mask = 0, turn = 0;
        std::uint64_t value = 0;
    };
    /// Threads that wait for one another, and how often they have met.
    struct Meeting {
        std::int32_t live = 0, arrived = 0, site = -1;
        std::uint32_t turn = 0, holding = 0;  // `holding`: whose predicate holds
        std::uint64_t result = 0;
    };
    struct Block {
        std::int64_t x = 0, y = 0, z = 0;
        std::int32_t first = 0, threads = 0;  // its fibers
        char* shared = nullptr;               // null: the worker's own
        Meeting meeting;
    };
    std::vector<Fiber> fibers;
    std::vector<Block> blocks;
    Meeting grid;
    KernelStacks stacks;
    std::unique_ptr<char, decltype(&std::free)> grid_shared{nullptr, &std::free};
    std::int32_t current = 0;
    boost::context::detail::fcontext_t scheduler = nullptr;  // run_fibers itself, while fibers run
    ThreadFunction thread = nullptr;
    const LaunchBlock* launch = nullptr;
    const void* arguments = nullptr;
};

/// Of a grid whose threads all meet: each has a stack, and a guard page below it.
constexpr std::int64_t most_grid_threads = 1 << 14;

/// abi.hpp's functions of the same names.
void run_fibers(Worker* worker, const LaunchBlock* launch, const void* arguments, std::int64_t block,
                ThreadFunction thread);
void run_grid(Worker* worker, const LaunchBlock* launch, const void* arguments,
              std::int64_t block_shared_bytes, ThreadFunction thread);
std::uint64_t barrier(Worker* worker, std::int32_t site, bool predicate);
std::uint64_t grid_barrier(Worker* worker, std::int32_t site);
void give_way(Worker* worker);
std::uint64_t warp(Worker* worker, std::int32_t op, std::int32_t site, std::uint32_t mask,
                   std::uint64_t value, std::int32_t source);

// What fibers.cpp and warps.cpp share.
/// Lets other fibers run until this one can go on. Where none can, an `active` mask is told or the launch fails.
void wait_turn(WorkerState& worker);
/// The turn is that fiber's, which can go on.
void hand_over(WorkerState& worker, std::int32_t to);
/// A warp's live lanes all wait where they should: they are told, and can go on. `of`: one of them.
bool meet_warp(FiberGang& gang, std::int32_t of);
/// Tells the masks of all who wait for an active mask; false where nobody does.
bool tell_active(FiberGang& gang);
/// Ends the launch with the reason why nobody can go on.
[[noreturn]] void fail_stuck(WorkerState& worker);
[[noreturn]] void fail_at(WorkerState& worker, const FiberGang::Fiber& fiber, std::int32_t site,
                          FaultKind kind, std::int64_t value0, std::int64_t value1);

}  // namespace xcuda::device::cpu
