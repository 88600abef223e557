#include "device/cpu/worker.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "device/cpu/blas.hpp"
#include "device/cpu/fibers.hpp"

namespace xcuda::device::cpu {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

// 16 MiB serve nearly every kernel; a larger frame gets a larger stack, and this much more for libm and
// signals.
constexpr std::size_t usual_stack = 16 << 20, stack_margin = 256 << 10;

/// Leaves the kernel, whatever stack it is on: what lies on that stack is given up.
[[noreturn]] void go_home(WorkerState& worker) {
    jump_fcontext(worker.home, nullptr);
    __builtin_unreachable();
}

void record_fault(Worker* self, std::int32_t site, std::int32_t kind, std::int64_t value0,
                  std::int64_t value1, std::int64_t thread_x, std::int64_t thread_y, std::int64_t thread_z,
                  std::int64_t block_x, std::int64_t block_y, std::int64_t block_z) {
    auto& worker = static_cast<WorkerState&>(*self);
    LaunchState& launch = *worker.launch;
    if (!launch.faulted.exchange(true)) {
        const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
        launch.fault = {site,
                        kind,
                        {value0, value1, 0, 0},
                        {narrow(thread_x), narrow(thread_y), narrow(thread_z)},
                        {narrow(block_x), narrow(block_y), narrow(block_z)}};
    }
    launch.stop.raise_fault();
    go_home(worker);
}

void leave_launch(Worker* self) {
    auto& worker = static_cast<WorkerState&>(*self);
    worker.launch->cut_short.store(true, std::memory_order_relaxed);
    go_home(worker);
}

/// Runs on the kernel stack, so that a kernel can be left without unwinding it.
void take_pieces(transfer_t from) {
    auto& worker = *static_cast<WorkerState*>(from.data);
    worker.home = from.fctx;
    LaunchState& launch = *worker.launch;
    for (;;) {
        if (launch.stop.reason() != Stop::no) {
            if (launch.next.load(std::memory_order_relaxed) < launch.units) launch.cut_short.store(true);
            break;
        }
        const std::int64_t begin = launch.next.fetch_add(launch.grain, std::memory_order_relaxed);
        if (begin >= launch.units) break;
        const std::int64_t end = std::min(begin + launch.grain, launch.units);
        if (launch.kernel->cut)
            run_boxes(*launch.kernel, launch.boxes, launch.block, launch.arguments, worker, begin, end);
        else
            launch.kernel->run(&launch.block, launch.arguments, &worker, begin, end);
    }
    go_home(worker);
}

}  // namespace

void abandon(WorkerState& worker, std::exception_ptr error) {
    LaunchState& launch = *worker.launch;
    if (!launch.faulted.exchange(true)) launch.error = std::move(error);
    launch.stop.raise_fault();
    go_home(worker);
}

WorkerState::WorkerState()
    : Worker{nullptr,     record_fault,      cpu::run_fibers, cpu::barrier,  leave_launch,
             cpu::warp,   cpu::grid_barrier, cpu::run_grid,   cpu::give_way, 0,
             blas_product} {}
WorkerState::~WorkerState() = default;

WorkerState& this_worker() {
    static thread_local WorkerState worker;
    return worker;
}

void prepare(WorkerState& worker, const LaunchState& launch) {
    if (worker.shared_size < launch.shared_bytes) {
        const std::size_t bytes = (launch.shared_bytes + 4095) / 4096 * 4096;
        worker.shared_memory.reset(static_cast<char*>(std::aligned_alloc(64, bytes)));
        worker.shared_size = worker.shared_memory ? bytes : 0;
        if (!worker.shared_memory)
            throw Error(Fault::machine, "MemoryError",
                        "no memory for a block's shared memory on the CPU device");
    }
    worker.shared = worker.shared_memory.get();
    worker.order = 0;
    worker.stack.reserve(1, std::max(usual_stack, launch.frame_bytes + stack_margin));
}

void work(WorkerState& worker, LaunchState& launch) noexcept {
    worker.launch = &launch;
    jump_fcontext(make_fcontext(worker.stack.fresh_top(0), worker.stack.bytes(), take_pieces), &worker);
    worker.launch = nullptr;
}

}  // namespace xcuda::device::cpu
