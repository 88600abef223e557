#include "launch/ahead.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "launch/shape.hpp"

namespace xcuda::launch {
namespace {

constexpr unsigned most_threads = 4;
constexpr std::chrono::seconds fork_patience{10};  // a compile takes less; then the child does without

struct Task {
    std::weak_ptr<Program> program;
    Signature signature;
    std::shared_ptr<device::Device> device;
    bool automatic, guess;
    std::shared_ptr<Ahead> ahead;
};

struct Pool {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;
    std::vector<Task> parked;  // until devices were found
    unsigned threads = 0;      // each ends when there is no task
    unsigned epoch = 0;
    bool held = false;  // a fork is under way
    bool ended = false;
};

// Never destroyed: a thread may work while the process ends. A fork's child has one of its own.
Pool*& present() {
    static Pool* pool = new Pool;
    return pool;
}

Pool& pool() { return *present(); }

thread_local bool at_work = false;

device::Dim3 usual_block(const Lowered& lowered, const device::Device& device, bool automatic) {
    constexpr std::int64_t long_axis = 1 << 20;
    const std::vector<std::int64_t> lengths(automatic ? lowered.domain.size() : 1, long_axis);
    const auto wanted = automatic ? lowered.block : std::nullopt;
    return automatic_shape(lengths, device.info(), "", wanted).block;
}

void make(const Task& task) {
    const std::shared_ptr<Program> program = task.program.lock();
    const bool nobodys = task.guess || task.automatic;  // a signature says nothing of shapes
    if (!program || (nobodys && program->called())) return;
    const auto device = task.device ? task.device : device::default_device();
    const bool cpu = device->info().kind == "cpu";
    if (cpu && task.automatic) return;  // one text there for both kinds
    const auto lowered = program->lower(task.signature, {}, program->key(target_of(device->info()), {}));
    if (lowered->key || (cpu && lowered->fixed_block)) return;  // the block's shape is a part of the text
    if (task.automatic && (lowered->domain.empty() || lowered->domain.size() > 3)) return;
    program->specialise(lowered, device, usual_block(*lowered, *device, task.automatic), task.automatic,
                        false, nobodys ? For::nobody : For::signature);
}

void work() {
    Pool& p = pool();
    at_work = true;
    std::unique_lock lock(p.mutex);
    while (!p.tasks.empty() && !p.held && !p.ended) {
        Task task = std::move(p.tasks.front());
        p.tasks.pop_front();
        lock.unlock();
        try {
            make(task);
        } catch (...) {  // the first launch meets it again, on the user's thread
        }
        const std::shared_ptr<Ahead> ahead = std::exchange(task, Task{}).ahead;
        lock.lock();
        --ahead->left;
        p.changed.notify_all();
    }
    --p.threads;
    p.changed.notify_all();
}

// With the mutex held. A process that can't have another thread compiles at the first launch.
void start_threads(Pool& p) {
    const unsigned most = std::clamp(std::thread::hardware_concurrency(), 1u, most_threads);
    sigset_t quiet, before;  // a signal is the main thread's, but for those that a fault of its own raises
    sigfillset(&quiet);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&quiet, own);
    pthread_sigmask(SIG_SETMASK, &quiet, &before);
    while (!p.held && !p.ended && p.threads < std::min<std::size_t>(most, p.tasks.size())) {
        try {
            std::thread(work).detach();
            ++p.threads;
        } catch (const std::system_error&) {
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (p.threads > 0 || p.held) return;
    for (const Task& task : p.tasks) --task.ahead->left;
    p.tasks.clear();
}

void queue(Pool& p, Task task) {
    ++task.ahead->left;
    p.tasks.push_back(std::move(task));
}

void unpark() {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    for (Task& task : std::exchange(p.parked, {})) {
        --task.ahead->parked;
        task.ahead->epoch = p.epoch;
        queue(p, std::move(task));
    }
    start_threads(p);
}

// A fork copies locks as they are: none of the compilers', nor ours, may be held by a thread that the child has not.
void before_fork() {
    Pool& p = pool();
    if (at_work) return;
    std::unique_lock lock(p.mutex);
    p.held = true;
    p.changed.wait_for(lock, fork_patience, [&p] { return p.threads == 0; });
    lock.release();
}

void after_fork_in_parent() {
    Pool& p = pool();
    if (at_work) return;
    p.held = false;
    start_threads(p);
    p.mutex.unlock();
}

void after_fork_in_child() {
    auto* fresh = new Pool;  // what the parent's threads hold or wait for stays as it is, unused
    fresh->parked = std::move(pool().parked);
    fresh->epoch = pool().epoch + 1;
    present() = fresh;
}

}  // namespace

std::shared_ptr<Ahead> compile_ahead(const std::shared_ptr<Program>& program, Signature signature,
                                     std::shared_ptr<device::Device> device, bool guess) {
    static const int watched = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    (void)watched;
    Pool& p = pool();
    auto ahead = std::make_shared<Ahead>();
    const bool ready = device || device::devices_found();
    {
        const std::lock_guard lock(p.mutex);
        ahead->epoch = p.epoch;
        if (p.ended) return ahead;
        for (const bool automatic : {false, true}) {
            Task task{program, signature, device, automatic, guess, ahead};
            if (ready) {
                queue(p, std::move(task));
                continue;
            }
            ++ahead->parked;
            p.parked.push_back(std::move(task));
        }
        if (ready) start_threads(p);
    }
    if (!ready) device::when_devices_found(unpark);  // at once where they were found meanwhile
    return ahead;
}

bool wait_for(const Ahead& ahead) {
    Pool& p = pool();
    std::unique_lock lock(p.mutex);
    p.changed.wait(lock, [&] { return ahead.left == 0 || ahead.epoch != p.epoch || p.ended; });
    return ahead.parked == 0 || p.ended;
}

void end_ahead() {
    Pool& p = pool();
    std::unique_lock lock(p.mutex);
    p.ended = true;
    p.tasks.clear();
    p.parked.clear();
    p.changed.notify_all();
    p.changed.wait_for(lock, fork_patience, [&p] { return p.threads == 0; });
}

}  // namespace xcuda::launch
