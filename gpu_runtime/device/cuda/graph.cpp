#include "device/cuda/graph.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

CudaGraph::~CudaGraph() {
    if (executable) driver().cuGraphExecDestroy(executable);
}

CUdeviceptr CudaGraph::next_fault() {
    const std::uint64_t number = launches_++;
    if (number % FaultRing::size == 0) rings_.push_back(std::make_unique<FaultRing>());
    FaultRing& ring = *rings_.back();
    ring.prepare(number % FaultRing::size);
    return ring.address(number % FaultRing::size);
}

void CudaGraph::end(CUstream stream) {
    const Driver& d = driver();
    CUgraph captured = nullptr;
    check(d.cuStreamEndCapture(stream, &captured), "ending the capture of a graph");
    const CUresult result = d.cuGraphInstantiate(&executable, captured, 0);
    d.cuGraphDestroy(captured);
    check(result, "making a graph of what was captured");
}

void CudaGraph::begin() {
    const std::lock_guard lock(mutex_);
    if (under_way_++ > 0 || launches_ == 0 || slot(0).stop == 0) return;
    for (std::uint64_t i = 0; i < launches_; ++i) slot(i).stop = 0;
}

void CudaGraph::settle(Device::Launch& launch) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    for (std::uint64_t i = 0; i < launches_; ++i) {
        FaultSlot& one = slot(i);
        if (one.taken == 0) continue;
        if (launch.fault.kind == 0) {
            launch.fault = one.record;
            launch.node = static_cast<int>(i);
        }
        one.record.kind = 0;
        one.taken = 0;
    }
}

CaptureStream::CaptureStream(CUcontext context) : Stream(true), graph_(std::make_shared<CudaGraph>(context)) {
    const Driver& d = driver();
    // Relaxed: other work of the process, and arrays that go, are no part of the capture and don't end it.
    check(d.cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0), "making a stream");
    if (const CUresult result = d.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
        result != CUDA_SUCCESS) {
        d.cuStreamDestroy(stream_);
        throw driver_error(result, "beginning the capture of a graph");
    }
}

CaptureStream::~CaptureStream() {
    try {
        if (graph_) end();
    } catch (...) {
        // What was captured is thrown away.
    }
    driver().cuStreamDestroy(stream_);
}

CUstream CaptureStream::stream() const {
    if (!graph_)
        throw Error(Fault::user, "ValueError", "the stream's capture has ended", std::nullopt,
                    "launch on another stream, or capture anew with cuda.graph()");
    return stream_;
}

void CaptureStream::launch(CUfunction function, std::shared_ptr<Function> keep, const Shape& shape,
                           const void* arguments) {
    const CUstream into = stream();
    CUdeviceptr fault = graph_->next_fault();
    void* parameters[] = {const_cast<void*>(arguments), &fault};
    check(driver().cuLaunchKernel(
              function, static_cast<unsigned>(shape.grid.x), static_cast<unsigned>(shape.grid.y),
              static_cast<unsigned>(shape.grid.z), static_cast<unsigned>(shape.block.x),
              static_cast<unsigned>(shape.block.y), static_cast<unsigned>(shape.block.z),
              static_cast<unsigned>(shape.dynamic_shared_bytes), into, parameters, nullptr),
          "capturing a launch");
    graph_->kernels.push_back(std::move(keep));
}

std::shared_ptr<CudaGraph> CaptureStream::end() {
    const CUstream captured = stream();
    const Current here(graph_->context);
    const auto graph = std::exchange(graph_, nullptr);
    graph->end(captured);
    return graph;
}

CaptureStream* capture_of(Stream* stream) {
    if (!stream || !stream->captures) return nullptr;
    if (auto* capture = dynamic_cast<CaptureStream*>(stream)) return capture;
    throw bug("a stream of another device was given to a GPU");
}

void refuse_in_capture(const char* what, const char* instead) {
    throw Error(Fault::user, "ValueError", std::string(what) + " can't be a part of a graph", std::nullopt,
                instead);
}

}  // namespace xcuda::device::cuda
