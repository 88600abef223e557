// A CUDA stream with the launches under way on it: what each needs until it is over, and how it ended.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda/driver.hpp"
#include "device/cuda/faults.hpp"
#include "device/cuda/graph.hpp"
#include "device/device.hpp"

namespace xcuda::device::cuda {

class Queue {
public:
    /// `owned`: the stream ends with the queue.
    static std::shared_ptr<Queue> make(CUcontext context, CUstream stream, bool owned);
    Queue(CUcontext context, CUstream stream, bool owned)
        : context_(context),
          stream_(stream),
          owned_(owned) {}
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    CUstream stream() const { return stream_; }
    CUcontext context() const { return context_; }

    /// The context is current. `keep` lives until the launch is over.
    std::shared_ptr<Device::Launch> launch(CUfunction function, std::shared_ptr<Function> keep,
                                           const Shape& shape, const void* arguments);
    /// Starts a graph as one launch.
    std::shared_ptr<Device::Launch> replay(std::shared_ptr<CudaGraph> graph);
    /// The number that the next launch will have.
    std::uint64_t next() const;
    /// Launches with a number under `until` are known to be over: their records are read and they are done.
    void settle(std::uint64_t until);
    /// Settles what is over; true where nothing is under way on the stream at all.
    bool poll();
    /// Waits for all work on the stream. May be interrupted.
    void wait();
    /// What must live as long as the queue: the object of another library that owns the stream.
    void hold(std::shared_ptr<void> owner);
    /// The GPU is lost: what is under way in all queues of its context ends with FaultKind::lost.
    static void abandon_all(CUcontext context);
    /// Settles what is over in all queues of a context, but for threads' own streams. The context is current.
    static void poll_all(CUcontext context);

private:
    struct Entry {
        std::shared_ptr<Device::Launch> launch;
        std::shared_ptr<Function> keep;
        std::shared_ptr<CudaGraph> graph;        // of a replay
        CUevent begin = nullptr, end = nullptr;  // where it is timed
    };
    // Each launch after a wait is timed, then one in many: a pair of events costs most of a launch.
    static constexpr std::uint64_t timed_after_wait = 32, timed_each = 64;

    template <class Start>
    std::shared_ptr<Device::Launch> enqueue(Entry&& held, Start start);
    CUevent take_event();
    void make_room();
    void settle_passed();
    void abandon();
    Entry& entry(std::uint64_t number) { return entries_[number % FaultRing::size]; }
    void time(Entry& entry);

    CUcontext context_;
    CUstream stream_;
    bool owned_;
    std::vector<std::shared_ptr<void>> owners_;  // first: go last
    mutable std::mutex mutex_;                   // of all below; never held while waiting
    std::unique_ptr<FaultRing> faults_;
    std::vector<Entry> entries_;          // by number, FaultRing::size of them
    std::uint64_t first_ = 0, next_ = 0;  // of the launches under way
    std::uint64_t waited_ = 0;            // next_ at the last wait
    std::vector<CUevent> spare_;
    CUevent base_ = nullptr;  // the begin of the launch that found the stream idle, at base_time_
    double base_time_ = 0;
    CUdeviceptr gate_ = 0;  // a word in device memory, made by the first launch whose whole grid meets
};

}  // namespace xcuda::device::cuda
