#include "device/cpu/run_launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/clock.hpp"
#include "device/cpu/interrupt.hpp"
#include "device/cpu/workers.hpp"
#include "device/under_way.hpp"

namespace xcuda::device::cpu {

PackedArguments::PackedArguments(std::span<const std::byte> bytes) {
    std::byte* to = here_;
    if (bytes.size() > small) {
        to = static_cast<std::byte*>(std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64));
        if (!to) throw std::bad_alloc();
        elsewhere_.reset(to, [](std::byte* memory) { std::free(memory); });
    }
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

const void* PackedArguments::data() const { return elsewhere_ ? elsewhere_.get() : here_; }

namespace {

std::int64_t pieces(const Kernel& kernel, const Shape& shape, LaunchState& state) {
    if (kernel.cut) {
        state.boxes = cut_domain(kernel, state.block, state.arguments);
        return state.boxes.count();
    }
    return kernel.units ? kernel.units(&state.block, state.arguments) : shape.grid.count();
}

}  // namespace

void run_launch(const Kernel& kernel, const Shape& shape, const void* arguments, std::uint64_t asked,
                Device::Launch& launch) {
    constexpr auto interrupted = static_cast<std::int32_t>(FaultKind::interrupted);
    LaunchState state{};
    state.block = {{shape.grid.x, shape.grid.y, shape.grid.z},
                   {shape.block.x, shape.block.y, shape.block.z},
                   shape.dynamic_shared_bytes,
                   state.stop.address(),
                   const_cast<std::uint64_t*>(launch.printed.get())};
    state.arguments = arguments;
    state.kernel = &kernel;
    state.shared_bytes = kernel.shared_bytes + static_cast<std::size_t>(shape.dynamic_shared_bytes) + 64;
    state.frame_bytes = kernel.frame_bytes;

    launch.begin = now();
    std::exception_ptr error;
    // Looked at after the stop flag is ours: an interrupt from now on reaches the flag.
    if (interrupts() != asked) {
        launch.fault.kind = interrupted;
    } else {
        state.units = shape.grid.count() > 0 ? pieces(kernel, shape, state) : 0;
    }
    if (state.units > 0) {
        const UnderWay told(Doing::launch, {}, launch.begin, &state.next, state.units);
        try {
            run_on_workers(state);
            error = state.error;
        } catch (...) {
            error = std::current_exception();
        }
        if (state.faulted.load() && !state.error)
            launch.fault = state.fault;
        else if (state.cut_short.load() && state.stop.reason() == Stop::interrupt)
            launch.fault.kind = interrupted;
    }
    launch.workers = state.workers.load();
    launch.busy = state.busy.load();
    launch.busiest = state.busiest.load();
    launch.end = now();
    launch.done.store(true, std::memory_order_release);
    if (error) std::rethrow_exception(error);
}

}  // namespace xcuda::device::cpu
