#include "device/cpu/graph.hpp"

#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"

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

void run_graph(const RecordedGraph& graph, std::uint64_t asked, Device::Launch& launch) {
    launch.begin = now();
    int node = 0;
    for (const auto& step : graph.steps) {
        if (const auto* task = std::get_if<Task>(&step)) {
            (*task)();
            continue;
        }
        const auto& kept = std::get<KeptLaunch>(step);
        Device::Launch one;
        try {
            run_launch(*kept.kernel, kept.shape, kept.arguments.data(), asked, one);
        } catch (...) {
            launch.done.store(true, std::memory_order_release);
            throw;
        }
        // Later launches run all the same, as on a GPU: a fault ends threads, not the graph.
        if (one.fault.kind != 0 && launch.fault.kind == 0) {
            launch.fault = one.fault;
            launch.node = node;
        }
        ++node;
    }
    launch.end = now();
    launch.done.store(true, std::memory_order_release);
}

}  // namespace xcuda::device::cpu
