#include "device/cpu/fibers.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <random>

#include "base/error.hpp"

namespace xcuda::device::cpu {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;
using Wait = FiberGang::Wait;

namespace {

// For libm, libmvec and a signal's frame (AVX-512 and AMX registers) on top of the kernel's own frames.
constexpr std::size_t fiber_margin = 48 << 10;

/// What a switch carries: where the context that was left is kept.
struct Switch {
    WorkerState* worker;
    fcontext_t* left;
};

void keep(transfer_t from) {
    if (fcontext_t* left = static_cast<Switch*>(from.data)->left) *left = from.fctx;
}

bool ready(const FiberGang& gang, const FiberGang::Fiber& f) {
    switch (f.wait) {
        case Wait::none: return true;
        case Wait::block: return f.turn != gang.blocks[static_cast<std::size_t>(f.block)].meeting.turn;
        case Wait::grid: return f.turn != gang.grid.turn;
        default: return false;
    }
}

// The next in the ring that can go on, `from` itself last; -1 where nobody can.
std::int32_t next_ready(const FiberGang& gang, std::int32_t from) {
    for (std::int32_t i = gang.fibers[from].next;; i = gang.fibers[i].next) {
        if (ready(gang, gang.fibers[i])) return i;
        if (i == from) return -1;
    }
}

std::int32_t someone_ready(WorkerState& worker, std::int32_t from) {
    FiberGang& gang = *worker.fibers;
    std::int32_t next = next_ready(gang, from);
    if (next < 0 && tell_active(gang)) next = next_ready(gang, from);
    if (next < 0) fail_stuck(worker);
    return next;
}

void release(FiberGang::Meeting& m) {
    m.result = static_cast<std::uint64_t>(m.arrived) << 32 | m.holding;
    m.arrived = 0;
    m.holding = 0;
    ++m.turn;
}

void leaves(FiberGang::Meeting& m) {  // who has ended counts as arrived at every later meeting
    if (--m.live == m.arrived && m.live > 0) release(m);
}

std::uint64_t meet(WorkerState& worker, FiberGang::Meeting& m, Wait how, std::int32_t site, bool predicate) {
    FiberGang& gang = *worker.fibers;
    FiberGang::Fiber& fiber = gang.fibers[gang.current];
    if (m.arrived == 0)
        m.site = site;
    else if (m.site != site)
        fail_at(worker, fiber, site, FaultKind::barrier, m.site, how == Wait::grid);
    m.holding += predicate;
    fiber.wait = how;
    fiber.site = site;
    fiber.turn = m.turn;
    if (++m.arrived == m.live) release(m);
    wait_turn(worker);
    return m.result;
}

void enter(transfer_t from) {
    WorkerState& worker = *static_cast<Switch*>(from.data)->worker;
    keep(from);
    FiberGang& gang = *worker.fibers;
    const std::int32_t index = gang.current;
    {
        const FiberGang::Fiber& self = gang.fibers[index];
        const FiberGang::Block& block = gang.blocks[self.block];
        if (block.shared) worker.shared = block.shared;
        gang.thread(gang.launch, gang.arguments, &worker, self.x, self.y, self.z, block.x, block.y, block.z);
    }
    // Returned: out of the ring, and never resumed.
    FiberGang::Fiber& self = gang.fibers[index];
    self.wait = Wait::ended;
    leaves(gang.blocks[self.block].meeting);
    leaves(gang.grid);
    const bool last = self.next == index;
    gang.fibers[self.previous].next = self.next;
    gang.fibers[self.next].previous = self.previous;
    Switch out{&worker, nullptr};
    if (last) jump_fcontext(gang.scheduler, &out);
    meet_warp(gang, index);
    gang.current = ready(gang, gang.fibers[self.next]) ? self.next : someone_ready(worker, self.next);
    gang.fibers[gang.current].wait = Wait::none;
    jump_fcontext(gang.fibers[gang.current].context, &out);
    __builtin_unreachable();
}

FiberGang& gang_of(WorkerState& worker, const LaunchBlock* launch, const void* arguments,
                   ThreadFunction thread, std::int64_t blocks) {
    if (!worker.fibers) worker.fibers = std::make_unique<FiberGang>();
    FiberGang& gang = *worker.fibers;
    gang.thread = thread;
    gang.launch = launch;
    gang.arguments = arguments;
    const std::int64_t count = blocks * launch->block[0] * launch->block[1] * launch->block[2];
    try {
        gang.stacks.reserve(count, worker.launch->frame_bytes + fiber_margin);
        if (gang.fibers.size() < static_cast<std::size_t>(count)) gang.fibers.resize(count);
        gang.blocks.assign(blocks, {});
    } catch (...) {
        abandon(worker, std::current_exception());
    }
    gang.grid = {};
    gang.grid.live = static_cast<std::int32_t>(count);
    return gang;
}

void place_block(FiberGang& gang, std::int64_t at, std::int64_t index, std::int32_t first,
                 std::int32_t last) {
    const LaunchBlock& launch = *gang.launch;
    FiberGang::Block& block = gang.blocks[at];
    block.x = index % launch.grid[0];
    block.y = index / launch.grid[0] % launch.grid[1];
    block.z = index / launch.grid[0] / launch.grid[1];
    block.first = first;
    block.threads = static_cast<std::int32_t>(launch.block[0] * launch.block[1] * launch.block[2]);
    block.meeting.live = block.threads;
    std::int32_t x = 0, y = 0, z = 0;
    for (std::int32_t i = first; i < first + block.threads; ++i) {
        // Tops of stacks a few lines apart, else all of them fall into the same sets of the cache.
        char* top = gang.stacks.fresh_top(i) - (i & 31) * 128;
        FiberGang::Fiber& fiber = gang.fibers[i];
        fiber = {};
        fiber.context = make_fcontext(top, gang.stacks.bytes() - 4096, enter);
        fiber.next = i == last ? 0 : i + 1;
        fiber.previous = i == 0 ? last : i - 1;
        fiber.x = x, fiber.y = y, fiber.z = z;
        fiber.block = static_cast<std::int32_t>(at);
        if (++x == launch.block[0]) x = 0, ++y;
        if (y == launch.block[1]) y = 0, ++z;
    }
}

/// The ring in an order drawn from `seed`; its first fiber.
std::int32_t shuffle_ring(FiberGang& gang, std::int32_t count, std::uint64_t seed) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int32_t next = order[(i + 1) % order.size()];
        gang.fibers[static_cast<std::size_t>(order[i])].next = next;
        gang.fibers[static_cast<std::size_t>(next)].previous = order[i];
    }
    return order.front();
}

void run_gang(WorkerState& worker) {
    FiberGang& gang = *worker.fibers;
    gang.current = worker.order == 0 ? 0 : shuffle_ring(gang, gang.grid.live, worker.order);
    Switch out{&worker, &gang.scheduler};
    jump_fcontext(gang.fibers[static_cast<std::size_t>(gang.current)].context, &out);
}

}  // namespace

void wait_turn(WorkerState& worker) { hand_over(worker, someone_ready(worker, worker.fibers->current)); }

void hand_over(WorkerState& worker, std::int32_t to) {
    FiberGang& gang = *worker.fibers;
    const std::int32_t self = gang.current;
    gang.current = to;
    gang.fibers[to].wait = Wait::none;
    if (to == self) return;
    Switch out{&worker, &gang.fibers[self].context};
    keep(jump_fcontext(gang.fibers[gang.current].context, &out));
}

void fail_at(WorkerState& worker, const FiberGang::Fiber& fiber, std::int32_t site, FaultKind kind,
             std::int64_t value0, std::int64_t value1) {
    const FiberGang::Block& block = worker.fibers->blocks[fiber.block];
    worker.fail(&worker, site, static_cast<std::int32_t>(kind), value0, value1, fiber.x, fiber.y, fiber.z,
                block.x, block.y, block.z);
    __builtin_unreachable();
}

std::uint64_t barrier(Worker* self, std::int32_t site, bool predicate) {
    auto& worker = static_cast<WorkerState&>(*self);
    FiberGang& gang = *worker.fibers;
    FiberGang::Meeting& m = gang.blocks[gang.fibers[gang.current].block].meeting;
    return meet(worker, m, Wait::block, site, predicate);
}

std::uint64_t grid_barrier(Worker* self, std::int32_t site) {
    auto& worker = static_cast<WorkerState&>(*self);
    return meet(worker, worker.fibers->grid, Wait::grid, site, false);
}

void give_way(Worker* self) {
    auto& worker = static_cast<WorkerState&>(*self);
    hand_over(worker, next_ready(*worker.fibers, worker.fibers->current));
}

void run_fibers(Worker* self, const LaunchBlock* launch, const void* arguments, std::int64_t block,
                ThreadFunction thread) {
    auto& worker = static_cast<WorkerState&>(*self);
    FiberGang& gang = gang_of(worker, launch, arguments, thread, 1);
    if (gang.grid.live == 0) return;
    place_block(gang, 0, block, 0, gang.grid.live - 1);
    run_gang(worker);
}

void run_grid(Worker* self, const LaunchBlock* launch, const void* arguments, std::int64_t block_shared_bytes,
              ThreadFunction thread) {
    auto& worker = static_cast<WorkerState&>(*self);
    const std::int64_t blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    const std::int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (blocks * threads == 0) return;
    FiberGang& gang = gang_of(worker, launch, arguments, thread, blocks);
    const std::int64_t bytes = (block_shared_bytes + launch->dynamic_shared_bytes + 63) / 64 * 64;
    if (bytes > 0) {
        gang.grid_shared.reset(
            static_cast<char*>(std::aligned_alloc(64, static_cast<std::size_t>(bytes * blocks))));
        if (!gang.grid_shared)
            abandon(worker, std::make_exception_ptr(
                                Error(Fault::machine, "MemoryError",
                                      "no memory for the shared memory of all blocks on the CPU device")));
    }
    for (std::int64_t b = 0; b < blocks; ++b) {
        place_block(gang, b, b, static_cast<std::int32_t>(b * threads), gang.grid.live - 1);
        if (bytes > 0) gang.blocks[b].shared = gang.grid_shared.get() + b * bytes;
    }
    char* const own = worker.shared;
    run_gang(worker);
    worker.shared = own;
}

}  // namespace xcuda::device::cpu
