#include "device/cpu/graph.hpp"

#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/interrupt.hpp"

namespace xcuda::device::cpu {

RecordedGraph* capture_of(Stream* stream) {
    if (!stream || !stream->captures) return nullptr;
    auto* capture = dynamic_cast<CaptureStream*>(stream);
    if (!capture) throw bug("a stream of another device was given to the CPU device");
    if (!capture->graph)
        throw Error(Fault::user, "ValueError", "the stream's capture has ended", std::nullopt,
                    "launch on another stream, or capture anew with cuda.graph()");
    return capture->graph.get();
}

void refuse_in_capture(const char* what, const char* instead) {
    throw Error(Fault::user, "ValueError", std::string(what) + " can't be a part of a graph", std::nullopt,
                instead);
}

namespace {

using Launches = std::vector<std::shared_ptr<Device::Launch>>;

/// Those that an error kept from running tell no time.
void give_up(const Launches& each, std::size_t from) {
    for (std::size_t i = from; i < each.size(); ++i) {
        each[i]->timed = false;
        each[i]->done.store(true, std::memory_order_release);
    }
}

/// Runs all of it in order on the calling thread and the pool, and sets `launch` done. `asked` as run_launch has it.
void run_graph(const RecordedGraph& graph, std::uint64_t asked, Device::Launch& launch,
               const Launches& each) {
    launch.begin = now();
    std::size_t node = 0;
    try {
        for (const auto& step : graph.steps) {
            if (const auto* task = std::get_if<Task>(&step)) {
                (*task)();
                continue;
            }
            const auto& kept = std::get<KeptLaunch>(step);
            Device::Launch unseen;
            Device::Launch& one = node < each.size() ? *each[node] : unseen;
            run_launch(*kept.kernel, kept.shape, kept.arguments.data(), asked, one);
            // Later launches run all the same, as on a GPU: a fault ends threads, not the graph.
            if (one.fault.kind != 0 && launch.fault.kind == 0) {
                launch.fault = one.fault;
                launch.node = static_cast<int>(node);
            }
            ++node;
        }
    } catch (...) {
        give_up(each, node);
        launch.done.store(true, std::memory_order_release);
        throw;
    }
    launch.end = now();
    launch.done.store(true, std::memory_order_release);
}

}  // namespace

std::shared_ptr<Device::Launch> RecordedGraph::replay(Stream* stream, Launches each) {
    if (capture_of(stream)) refuse_in_capture("another graph", "launch its kernels again");
    auto launch = std::make_shared<Device::Launch>();
    if (const auto queue = queue_of(stream)) {
        queue->push([launch, self = shared_from_this(), each = std::move(each), asked = interrupts()] {
            run_graph(*self, asked, *launch, each);
        });
    } else {
        const InterruptGuard guard;
        run_graph(*this, guard.since(), *launch, each);
    }
    return launch;
}

}  // namespace xcuda::device::cpu
