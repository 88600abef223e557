#include "device/cpu/interrupt.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace xcuda::device::cpu {

namespace {

struct alignas(64) Slot {
    std::atomic<std::int32_t> stop{0};
    std::atomic<bool> used{false};
};
static_assert(std::atomic<std::int32_t>::is_always_lock_free && sizeof(std::atomic<std::int32_t>) == 4);

// As many launches may run at once as threads launch; one more waits for a slot.
std::array<Slot, 512> slots;
std::atomic<std::uint64_t> interrupt_count{0};

// The guard's state; only the main thread changes it.
struct sigaction previous;
int depth = 0;

void on_interrupt(int signal, siginfo_t* info, void* context) {
    interrupt_all();
    if (previous.sa_flags & SA_SIGINFO) {
        if (previous.sa_sigaction) previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    }
}

bool on_main_thread() {
    static thread_local const bool main = getpid() == static_cast<pid_t>(syscall(SYS_gettid));
    return main;
}

}  // namespace

StopFlag::StopFlag() {
    static thread_local int last = 0;
    for (int tried = 0;; ++tried) {
        const int at = (last + tried) % static_cast<int>(slots.size());
        if (!slots[at].used.load(std::memory_order_relaxed) && !slots[at].used.exchange(true)) {
            slot_ = last = at;
            slots[at].stop.store(0, std::memory_order_relaxed);
            return;
        }
        if (tried >= static_cast<int>(slots.size())) std::this_thread::yield();
    }
}

StopFlag::~StopFlag() { slots[slot_].used.store(false, std::memory_order_release); }

const volatile std::int32_t* StopFlag::address() const {
    return reinterpret_cast<const volatile std::int32_t*>(&slots[slot_].stop);
}

Stop StopFlag::reason() const { return static_cast<Stop>(slots[slot_].stop.load(std::memory_order_relaxed)); }

void StopFlag::raise_fault() {
    std::int32_t none = 0;
    slots[slot_].stop.compare_exchange_strong(none, static_cast<std::int32_t>(Stop::fault));
}

void interrupt_all() noexcept {
    interrupt_count.fetch_add(1);
    for (Slot& slot : slots)
        if (slot.used.load(std::memory_order_relaxed))
            slot.stop.store(static_cast<std::int32_t>(Stop::interrupt));
}

std::uint64_t interrupts() { return interrupt_count.load(); }

InterruptGuard::InterruptGuard() {
    if (!on_main_thread()) return;
    if (depth++ > 0) return;
    struct sigaction ours{};
    ours.sa_sigaction = on_interrupt;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, &ours, &previous);
    const bool handled = (previous.sa_flags & SA_SIGINFO) ||
                         (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
    if (handled)
        installed_ = true;
    else
        sigaction(SIGINT, &previous, nullptr);
}

InterruptGuard::~InterruptGuard() {
    if (!on_main_thread()) return;
    --depth;
    if (installed_) sigaction(SIGINT, &previous, nullptr);
}

}  // namespace xcuda::device::cpu
