#include "device/interrupt.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "device/device.hpp"
#ifdef XCUDA_CPU_DEVICE
#include "device/cpu/interrupt.hpp"
#endif
#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/faults.hpp"
#endif

namespace xcuda::device {

namespace {

std::atomic<std::uint64_t> interrupt_count{0};

// The guard's state; only the main thread changes it.
struct sigaction previous;
int depth = 0;
std::uint64_t outermost_since = 0;

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

void interrupt_all() noexcept {
    interrupt_count.fetch_add(1);
#ifdef XCUDA_CPU_DEVICE
    cpu::stop_all();
#endif
#ifdef XCUDA_CUDA_DEVICE
    cuda::stop_all();
#endif
}

std::uint64_t interrupts() { return interrupt_count.load(); }

InterruptGuard::InterruptGuard() : since_(interrupts()) {
    if (!on_main_thread()) return;
    if (depth++ > 0) {
        since_ = outermost_since;
        return;
    }
    outermost_since = since_;
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

}  // namespace xcuda::device
