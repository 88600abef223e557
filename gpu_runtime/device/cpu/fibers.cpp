#include "device/cpu/fibers.hpp"

#include <exception>

namespace xcuda::device::cpu {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

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

void enter(transfer_t from) {
    WorkerState& worker = *static_cast<Switch*>(from.data)->worker;
    keep(from);
    FiberGang& gang = *worker.fibers;
    {
        const FiberGang::Fiber& self = gang.fibers[gang.current];
        gang.thread(gang.launch, gang.arguments, &worker, self.x, self.y, self.z, gang.block[0],
                    gang.block[1], gang.block[2]);
    }
    // Returned: out of the ring, and never resumed.
    FiberGang::Fiber& self = gang.fibers[gang.current];
    const bool last = self.next == gang.current;
    gang.fibers[self.previous].next = self.next;
    gang.fibers[self.next].previous = self.previous;
    gang.current = self.next;
    Switch out{&worker, nullptr};
    jump_fcontext(last ? gang.scheduler : gang.fibers[gang.current].context, &out);
    __builtin_unreachable();
}

}  // namespace

void barrier(Worker* self) {
    auto& worker = static_cast<WorkerState&>(*self);
    FiberGang& gang = *worker.fibers;
    FiberGang::Fiber& fiber = gang.fibers[gang.current];
    if (fiber.next == gang.current) return;  // the only live thread
    gang.current = fiber.next;
    Switch out{&worker, &fiber.context};
    keep(jump_fcontext(gang.fibers[gang.current].context, &out));
}

void run_fibers(Worker* self, const LaunchBlock* launch, const void* arguments, std::int64_t block,
                ThreadFunction thread) {
    auto& worker = static_cast<WorkerState&>(*self);
    if (!worker.fibers) worker.fibers = std::make_unique<FiberGang>();
    FiberGang& gang = *worker.fibers;
    gang.thread = thread;
    gang.launch = launch;
    gang.arguments = arguments;
    gang.block[0] = block % launch->grid[0];
    gang.block[1] = block / launch->grid[0] % launch->grid[1];
    gang.block[2] = block / launch->grid[0] / launch->grid[1];
    const auto count = static_cast<std::int32_t>(launch->block[0] * launch->block[1] * launch->block[2]);
    if (count == 0) return;
    try {
        gang.stacks.reserve(count, worker.launch->frame_bytes + fiber_margin);
        if (gang.fibers.size() < static_cast<std::size_t>(count)) gang.fibers.resize(count);
    } catch (...) {
        abandon(worker, std::current_exception());
    }
    std::int32_t x = 0, y = 0, z = 0;
    for (std::int32_t index = 0; index < count; ++index) {
        // Tops of stacks a few lines apart, else all of them fall into the same sets of the cache.
        char* top = gang.stacks.fresh_top(index) - (index & 31) * 128;
        gang.fibers[index] = {make_fcontext(top, gang.stacks.bytes() - 4096, enter),
                              index + 1 == count ? 0 : index + 1,
                              index == 0 ? count - 1 : index - 1,
                              x,
                              y,
                              z};
        if (++x == launch->block[0]) x = 0, ++y;
        if (y == launch->block[1]) y = 0, ++z;
    }
    gang.current = 0;
    Switch out{&worker, &gang.scheduler};
    jump_fcontext(gang.fibers[0].context, &out);
}

}  // namespace xcuda::device::cpu
