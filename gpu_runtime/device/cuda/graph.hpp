// Graphs: what was asked for while a stream was captured, made into one thing that the driver starts at once.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda/faults.hpp"
#include "device/device.hpp"

namespace xcuda::device::cuda {

class CudaGraph : public Graph {
public:
    explicit CudaGraph(CUcontext c) : context(c) {}
    ~CudaGraph() override;

    /// The fault record of the next launch; the ring's pinned memory stays with the graph.
    CUdeviceptr next_fault();
    void end(CUstream stream);  // of the capture: what it holds can be started from now on

    /// Before a replay: where none is under way, kernels that an earlier interrupt stopped may run again.
    void begin();
    /// After a replay, or where it could not be started: the first fault goes into `launch`, all records are emptied.
    void settle(Device::Launch& launch);

    const CUcontext context;
    CUgraphExec executable = nullptr;
    std::vector<std::shared_ptr<Function>> kernels;  // kept loaded

private:
    FaultSlot& slot(std::uint64_t number) {
        return rings_[number / FaultRing::size]->at(number % FaultRing::size);
    }

    std::vector<std::unique_ptr<FaultRing>> rings_;
    std::uint64_t launches_ = 0;
    std::mutex mutex_;   // of the records, and of
    int under_way_ = 0;  // replays
};

/// A stream of its own, beside the legacy default one; what is asked for in it is kept.
class CaptureStream : public Stream {
public:
    explicit CaptureStream(CUcontext context);
    ~CaptureStream() override;

    /// The capture's own stream. Throws a ValueError where the capture has ended.
    CUstream stream() const;
    void launch(CUfunction function, std::shared_ptr<Function> keep, const Shape& shape,
                const void* arguments);
    std::shared_ptr<CudaGraph> end();

private:
    CUstream stream_ = nullptr;
    std::shared_ptr<CudaGraph> graph_;  // null once it has ended
};

/// The capture that a stream is, null for a plain one. Throws bug() for another device's.
CaptureStream* capture_of(Stream* stream);
[[noreturn]] void refuse_in_capture(const char* what, const char* instead);

}  // namespace xcuda::device::cuda
