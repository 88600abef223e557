#include "device/cuda/callbacks.hpp"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <thread>

#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

namespace {

struct Call {
    std::shared_ptr<Queue> queue;
    std::uint64_t until;
    Callback callback;
};

struct Line {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Call*> calls;
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
        std::unique_ptr<Call> call;
        {
            std::unique_lock lock(l.mutex);
            l.changed.wait(lock, [&] { return !l.calls.empty(); });
            call.reset(l.calls.front());
            l.calls.pop_front();
        }
        try {
            const Current here(call->queue->context());
            call->queue->settle(call->until);
        } catch (...) {
            // A lost context: the callback's own look at the launch tells.
        }
        call->callback();
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

void hand_over(void* call) {
    Line& l = line();
    const std::lock_guard lock(l.mutex);
    l.calls.push_back(static_cast<Call*>(call));
    l.changed.notify_one();
}

}  // namespace

void call_on_host(const std::shared_ptr<Queue>& queue, Callback callback) {
    start_serving();
    auto call = std::make_unique<Call>(Call{queue, queue->next(), std::move(callback)});
    check(driver().cuLaunchHostFunc(queue->stream(), hand_over, call.get()), "adding a callback to a stream");
    call.release();
}

}  // namespace xcuda::device::cuda
