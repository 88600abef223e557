#include "device/cpu/stream.hpp"

#include <chrono>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/cpu/interrupt.hpp"
#include "device/cpu/workers.hpp"

namespace xcuda::device::cpu {

namespace {

/// Waits on `changed` until `done`, looking for interrupts between; a signal wakes no condition variable.
template <class Done>
void wait_or_interrupt(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Done done) {
    const InterruptGuard guard;
    while (!done()) {
        if (interrupts() != guard.since())
            throw Error(Fault::user, "KeyboardInterrupt", "interrupted while waiting for the CPU device");
        changed.wait_for(lock, std::chrono::milliseconds(20));
    }
}

}  // namespace

void Queue::push(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (!has_thread_) {
        auto* self = new std::shared_ptr<Queue>(shared_from_this());
        try {
            start_quiet_thread(
                [](void* context) {
                    const std::unique_ptr<std::shared_ptr<Queue>> queue(
                        static_cast<std::shared_ptr<Queue>*>(context));
                    (*queue)->serve();
                },
                self);
        } catch (...) {
            delete self;
            tasks_.pop_back();
            throw;
        }
        has_thread_ = true;
    }
    changed_.notify_all();
}

void Queue::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return !tasks_.empty() || closing_; });
        if (tasks_.empty()) return;
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        running_ = true;
        lock.unlock();
        std::exception_ptr error;
        try {
            task();
        } catch (...) {
            error = std::current_exception();
        }
        task = nullptr;  // what it holds goes before the stream counts as idle
        lock.lock();
        running_ = false;
        if (error && !error_) error_ = error;
        if (tasks_.empty()) changed_.notify_all();
    }
}

bool Queue::idle() const {
    const std::lock_guard lock(mutex_);
    return tasks_.empty() && !running_;
}

void Queue::wait_idle() {
    std::unique_lock lock(mutex_);
    wait_or_interrupt(lock, changed_, [&] { return tasks_.empty() && !running_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Queue::close() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
}

std::shared_ptr<Queue>& QueueStream::queue() {
    // A child of fork() finds a copy of a queue whose thread stayed in the parent: its tasks are the
    // parent's, and its locks may be held for ever, so it is left as it lies.
    if (forks_ != fork_count()) {
        new std::shared_ptr<Queue>(std::exchange(queue_, std::make_shared<Queue>()));
        forks_ = fork_count();
    }
    return queue_;
}

QueueStream::~QueueStream() { queue()->close(); }

std::shared_ptr<Queue> queue_of(Stream* stream) {
    if (!stream) return nullptr;
    if (auto* own = dynamic_cast<QueueStream*>(stream)) return own->queue();
    if (stream->captures)
        throw Error(Fault::user, "ValueError", "work that is captured can't be waited for or timed",
                    std::nullopt, "replay the graph, then wait for the stream that it was launched on");
    throw bug("a stream of another device was given to the CPU device");
}

Mark& mark_of(Event& event) {
    if (auto* own = dynamic_cast<Mark*>(&event)) return *own;
    throw bug("an event of another device was given to the CPU device");
}

const Mark& mark_of(const Event& event) { return mark_of(const_cast<Event&>(event)); }

void record(Mark& mark, Queue* queue) {
    std::uint64_t number;
    {
        const std::lock_guard lock(mark.state->mutex);
        number = ++mark.state->asked;
    }
    auto reach = [state = mark.state, number] {
        const std::lock_guard lock(state->mutex);
        if (number < state->reached) return;
        state->reached = number;
        state->seconds = now();
        state->changed.notify_all();
    };
    if (queue)
        queue->push(reach);
    else
        reach();
}

void wait(Mark& mark, Queue* queue) {
    if (!queue) return synchronize(mark);
    std::uint64_t number;
    {
        const std::lock_guard lock(mark.state->mutex);
        number = mark.state->asked;
        if (mark.state->reached >= number) return;
    }
    queue->push([state = mark.state, number] {
        std::unique_lock lock(state->mutex);
        state->changed.wait(lock, [&] { return state->reached >= number; });
    });
}

void synchronize(Mark& mark) {
    std::unique_lock lock(mark.state->mutex);
    const std::uint64_t number = mark.state->asked;
    wait_or_interrupt(lock, mark.state->changed, [&] { return mark.state->reached >= number; });
}

bool happened(const Mark& mark) {
    const std::lock_guard lock(mark.state->mutex);
    return mark.state->reached >= mark.state->asked;
}

double seconds(const Mark& from, const Mark& to) {
    const auto at = [](const Mark& mark, const char* which) {
        const std::lock_guard lock(mark.state->mutex);
        if (mark.state->asked == 0)
            throw Error(Fault::user, "ValueError",
                        std::string("the ") + which +
                            " event was never recorded: call "
                            "record() on it first");
        if (mark.state->reached < mark.state->asked)
            throw Error(Fault::user, "ValueError",
                        std::string("the ") + which +
                            " event has not happened yet: "
                            "synchronize() on it first");
        return mark.state->seconds;
    };
    const double begin = at(from, "first");
    return at(to, "second") - begin;
}

}  // namespace xcuda::device::cpu
