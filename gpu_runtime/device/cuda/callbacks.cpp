#include "device/cuda/callbacks.hpp"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

namespace {

struct Call {
    std::shared_ptr<Queue> queue;
    std::uint64_t until;
    Callback callback;
    CUresult status = CUDA_SUCCESS;
};

struct Line {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Call> calls;                   // whose stream is there
    std::map<std::uintptr_t, Call> expected;  // those that the driver has, by number
    std::uintptr_t last = 0;
    bool served = false;
};
// Never destroyed: the driver may still hand calls over while the process ends.
Line& line() {
    static Line& the_line = *new Line;
    return the_line;
}

void serve() {
    Line& l = line();
    for (;;) {
        Call call;
        {
            std::unique_lock lock(l.mutex);
            l.changed.wait(lock, [&] { return !l.calls.empty(); });
            call = std::move(l.calls.front());
            l.calls.pop_front();
        }
        try {
            const Current here(call.queue->context());
            check(call.status, "running a stream");
            call.queue->settle(call.until);
        } catch (...) {
            // The GPU is lost: the callback's own look at the launch tells.
            answer_all(call.queue->context());
        }
        call.callback();
    }
}

void start_serving() {
    Line& l = line();
    const std::lock_guard lock(l.mutex);
    if (l.served) return;
    // Signals are the main thread's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(serve).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    l.served = true;
}

void CUDA_CB hand_over(CUstream, CUresult status, void* number) {
    Line& l = line();
    const std::lock_guard lock(l.mutex);
    auto expected = l.expected.extract(reinterpret_cast<std::uintptr_t>(number));
    if (!expected) return;  // called already, when its GPU was lost
    expected.mapped().status = status;
    l.calls.push_back(std::move(expected.mapped()));
    l.changed.notify_one();
}

}  // namespace

void call_on_host(const std::shared_ptr<Queue>& queue, Callback callback) {
    start_serving();
    Line& l = line();
    std::uintptr_t number = 0;
    {
        const std::lock_guard lock(l.mutex);
        number = ++l.last;
        l.expected.emplace(number, Call{queue, queue->next(), std::move(callback)});
    }
    // Not cuLaunchHostFunc, which calls nobody once a fault has ended the context.
    const CUresult result =
        driver().cuStreamAddCallback(queue->stream(), hand_over, reinterpret_cast<void*>(number), 0);
    if (result == CUDA_SUCCESS) return;
    {
        const std::lock_guard lock(l.mutex);
        l.expected.erase(number);
    }
    throw driver_error(result, "adding a callback to a stream");
}

void answer_all(CUcontext context) {
    Queue::abandon_all(context);
    Line& l = line();
    const std::lock_guard lock(l.mutex);
    for (auto at = l.expected.begin(); at != l.expected.end();) {
        if (at->second.queue->context() != context) {
            ++at;
            continue;
        }
        l.calls.push_back(std::move(at->second));
        at = l.expected.erase(at);
    }
    l.changed.notify_one();
}

}  // namespace xcuda::device::cuda
