#include "device/cpu/workers.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/cpu/host.hpp"

namespace xcuda::device::cpu {

namespace {

constexpr double spin_seconds = 20e-6;  // so long a helper stays awake for the next launch
constexpr std::int64_t chunks_a_worker = 8;
constexpr int most_placed = 15;  // helpers that are told where to run: with more, some core is idle anyway

/// True as soon as `ready` is; false after spin_seconds.
template <class Ready>
bool spin(Ready ready) {
    const double until = now() + spin_seconds;
    do {
        for (int i = 0; i < 64; ++i) {
            if (ready()) return true;
            __builtin_ia32_pause();
        }
    } while (now() < until);
    return ready();
}

void timed_work(WorkerState& worker, LaunchState& launch) noexcept {
    const double begin = now();
    work(worker, launch);
    launch.took_part(now() - begin);
}

class Pool {
public:
    explicit Pool(int workers) : helpers_(workers - 1) {
        CPU_ZERO(&allowed_);
        if (helpers_ > most_placed || sched_getaffinity(0, sizeof allowed_, &allowed_) != 0)
            CPU_ZERO(&allowed_);
        for (int i = 0; i < helpers_; ++i)
            start_quiet_thread([](void* self) { static_cast<Pool*>(self)->help(); }, this);
    }

    int workers() const { return helpers_ + 1; }

    void run(LaunchState& launch) {
        {
            const std::lock_guard lock(mutex_);
            keep_away_from(sched_getcpu());
            launches_.push_back(&launch);
            asked_.fetch_add(1);
        }
        const auto wanted =
            std::min<std::int64_t>(helpers_, (launch.units + launch.grain - 1) / launch.grain - 1);
        for (std::int64_t i = 0; i < wanted; ++i) asked_.notify_one();  // no system call if none sleeps
        timed_work(this_worker(), launch);
        {
            const std::lock_guard lock(mutex_);
            std::erase(launches_, &launch);
        }
        const auto alone = [&] { return launch.helpers.load() == 0; };
        while (!spin(alone)) {
            const unsigned seen = finished_.load();
            if (!alone()) finished_.wait(seen);
        }
    }

private:
    // A helper that wakes on the core of the thread that launches waits there until that is done (Linux 6.18, 2 cores: five
    // launches of six of 3.6 ms had one core, and took 1.9 with this). With mutex_.
    void keep_away_from(int core) {
        if (core < 0 || core >= CPU_SETSIZE || core == shunned_ || CPU_COUNT(&allowed_) < 2) return;
        cpu_set_t own, others;  // what the user bound this thread to since then binds its helpers
        if (sched_getaffinity(0, sizeof own, &own) != 0) return;
        CPU_AND(&others, &allowed_, &own);
        CPU_CLR(core, &others);
        if (CPU_COUNT(&others) == 0) return;
        for (const pid_t id : ids_) sched_setaffinity(id, sizeof others, &others);
        shunned_ = ids_.size() == static_cast<std::size_t>(helpers_) ? core : -1;
    }

    LaunchState* join() {
        const std::lock_guard lock(mutex_);
        for (LaunchState* launch : launches_) {
            if (!launch->has_pieces()) continue;
            launch->helpers.fetch_add(1);
            return launch;
        }
        return nullptr;
    }

    void help() {
        WorkerState& worker = this_worker();
        {
            const std::lock_guard lock(mutex_);
            ids_.push_back(gettid());
        }
        for (;;) {
            const unsigned seen = asked_.load();
            if (LaunchState* launch = join()) {
                try {
                    prepare(worker, *launch);
                    timed_work(worker, *launch);
                } catch (...) {
                    // No memory for this helper: the others do its share.
                    launch->helpers.fetch_sub(1);
                    finished_.fetch_add(1);
                    finished_.notify_all();
                    std::this_thread::yield();
                    continue;
                }
                // From here on the launch may be gone: its thread waits for the count only.
                launch->helpers.fetch_sub(1);
                finished_.fetch_add(1);
                finished_.notify_all();
                continue;
            }
            if (!spin([&] { return asked_.load(std::memory_order_relaxed) != seen; })) asked_.wait(seen);
        }
    }

    const int helpers_;
    cpu_set_t allowed_;  // what helpers may have, none where they are left alone
    std::mutex mutex_;   // of launches_ to shunned_; never held while a kernel runs
    std::vector<LaunchState*> launches_;
    std::vector<pid_t> ids_;
    int shunned_ = -1;  // the core that helpers keep away from
    std::atomic<unsigned> asked_{0}, finished_{0};
};

// Never destroyed: its threads sleep in it until the process ends.
std::atomic<Pool*> pool{nullptr};
std::mutex pool_mutex;
std::atomic<unsigned> forks{0};

void in_child() {
    pool.store(nullptr);
    new (&pool_mutex) std::mutex;  // whoever held it in the parent is not here
    forks.fetch_add(1);
}

Pool& the_pool() {
    if (Pool* made = pool.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(pool_mutex);
    if (!pool.load()) {
        static const int once = pthread_atfork(nullptr, nullptr, in_child);
        (void)once;
        pool.store(new Pool(worker_count()), std::memory_order_release);
    }
    return *pool.load();
}

}  // namespace

void start_quiet_thread(void (*body)(void*), void* context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([body, context] { body(context); }).detach();
    } catch (const std::system_error& error) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw Error(Fault::machine, "RuntimeError",
                    std::string("the CPU device can't start a thread: ") + error.what() +
                        "; set XCUDA_WORKERS=1 or raise the limit of threads (ulimit -u)");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

unsigned fork_count() { return forks.load(); }

void run_on_workers(LaunchState& launch) {
    prepare(this_worker(), launch);
    if (launch.units == 1) {
        launch.grain = 1;
        work(this_worker(), launch);
        return;
    }
    Pool& all = the_pool();
    launch.grain = std::max<std::int64_t>(1, launch.units / (all.workers() * chunks_a_worker));
    if (all.workers() == 1)
        work(this_worker(), launch);
    else
        all.run(launch);
}

}  // namespace xcuda::device::cpu
