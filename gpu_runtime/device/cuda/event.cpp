#include "device/cuda/event.hpp"

#include <fmt/format.h>

#include "device/cuda/context.hpp"
#include "device/cuda/wait.hpp"

namespace xcuda::device::cuda {

namespace {

struct Retired {
    std::mutex mutex;
    std::vector<std::shared_ptr<Queue>> queues;
};
Retired& retired() {
    static Retired& all = *new Retired;
    return all;
}

}  // namespace

CudaStream::~CudaStream() {
    try {
        const Current here(queue->context());
        if (queue->poll()) return;
        const std::lock_guard lock(retired().mutex);
        retired().queues.push_back(queue);
    } catch (...) {
        // A context that is lost, or no memory for the list: the stream stays.
    }
}

void retire_streams() {
    std::vector<std::shared_ptr<Queue>> over;  // destroyed without the lock
    const std::lock_guard lock(retired().mutex);
    auto& queues = retired().queues;
    for (std::size_t i = 0; i < queues.size();) {
        const Current here(queues[i]->context());
        if (!queues[i]->poll()) {
            ++i;
            continue;
        }
        over.push_back(std::move(queues[i]));
        queues[i] = std::move(queues.back());
        queues.pop_back();
    }
}

CudaEvent::CudaEvent(CUcontext c, bool wants_timing) : timing(wants_timing), context(c) {
    check(driver().cuEventCreate(&handle, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
          "making an event");
}

CudaEvent::~CudaEvent() {
    try {
        const Current here(context);
        driver().cuEventDestroy(handle);
    } catch (...) {
        // The context is lost, and the event with it.
    }
}

void CudaEvent::record(const std::shared_ptr<Queue>& queue) {
    const std::lock_guard lock(mutex_);
    before_ = queue->next();
    check(driver().cuEventRecord(handle, queue->stream()), "recording an event");
    queue_ = queue;
}

void CudaEvent::wait_on(CUstream stream) {
    check(driver().cuStreamWaitEvent(stream, handle, CU_EVENT_WAIT_DEFAULT), "waiting for an event");
}

void CudaEvent::passed() const {
    const std::lock_guard lock(mutex_);
    if (queue_) queue_->settle(before_);
}

void CudaEvent::wait() {
    const Driver& d = driver();
    wait_until([&] { return d.cuEventQuery(handle); }, "waiting for an event");
    passed();
}

bool CudaEvent::happened() const {
    const CUresult result = driver().cuEventQuery(handle);
    if (result == CUDA_ERROR_NOT_READY) return false;
    check(result, "looking at an event");
    passed();
    return true;
}

double seconds(const CudaEvent& from, const CudaEvent& to) {
    const auto refuse = [](const std::string& message) { throw Error(Fault::user, "ValueError", message); };
    if (!from.timing || !to.timing)
        refuse("one of the events was made without timing: Event(timing=True) has it");
    float milliseconds = 0;
    const CUresult result = driver().cuEventElapsedTime(&milliseconds, from.handle, to.handle);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        refuse("one of the events was never recorded: call record() on it first");
    if (result == CUDA_ERROR_NOT_READY)
        refuse("one of the events has not happened yet: synchronize() on it first");
    check(result, "measuring between events");
    return milliseconds * 1e-3;
}

}  // namespace xcuda::device::cuda
