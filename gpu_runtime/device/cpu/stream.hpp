// Streams and events of the CPU device: a first-in-first-out queue with one thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "device/cpu/workers.hpp"
#include "device/device.hpp"

namespace xcuda::device::cpu {

using Task = std::function<void()>;

/// Work in order on one thread, started with the first task. Lives on until its last task has run.
class Queue : public std::enable_shared_from_this<Queue> {
public:
    void push(Task task);
    bool idle() const;
    /// Waits until all that was pushed has run; rethrows the first error of a task. Interrupted:
    /// KeyboardInterrupt.
    void wait_idle();
    void close();  // the thread ends once the queue is empty

private:
    void serve();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    bool running_ = false, has_thread_ = false, closing_ = false;
    std::exception_ptr error_;
};

class QueueStream : public Stream {
public:
    ~QueueStream() override;
    std::shared_ptr<Queue>& queue();

private:
    unsigned forks_ = fork_count();
    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

/// A mark in a stream's order. Recording again moves it.
class Mark : public Event {
public:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::uint64_t asked = 0, reached = 0;
        double seconds = 0;
    };
    const std::shared_ptr<State> state = std::make_shared<State>();
};

/// The stream's queue; null for the default stream. Throws bug() for another device's stream.
std::shared_ptr<Queue> queue_of(Stream* stream);
Mark& mark_of(Event& event);
const Mark& mark_of(const Event& event);

void record(Mark& mark, Queue* queue);
/// On the default stream (null) the calling thread waits.
void wait(Mark& mark, Queue* queue);
void synchronize(Mark& mark);
bool happened(const Mark& mark);
double seconds(const Mark& from, const Mark& to);

}  // namespace xcuda::device::cpu
