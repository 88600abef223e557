// Streams and events as the floors above hold them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "device/cuda/queue.hpp"

namespace xcuda::device::cuda {

class CudaStream : public Stream {
public:
    explicit CudaStream(std::shared_ptr<Queue> q) : queue(std::move(q)) {}
    ~CudaStream() override;
    const std::shared_ptr<Queue> queue;
    std::optional<std::thread::id> thread;  // of the one whose own default stream it is; another may not use it
};

/// Destroys the streams whose handles went while work was under way on them, once it is over.
void retire_streams();

class CudaEvent : public Event {
public:
    CudaEvent(CUcontext context, bool timing);
    ~CudaEvent() override;

    void record(const std::shared_ptr<Queue>& queue);
    void wait_on(CUstream stream);
    /// May be interrupted. An event that was never recorded has happened.
    void wait();
    bool happened() const;

    const bool timing;
    const CUcontext context;
    CUevent handle = nullptr;

private:
    void passed() const;

    mutable std::mutex mutex_;
    std::shared_ptr<Queue> queue_;  // where it was recorded last, before the launch of this number
    std::uint64_t before_ = 0;
};

double seconds(const CudaEvent& from, const CudaEvent& to);

}  // namespace xcuda::device::cuda
