// Stopping kernels that run: by Ctrl-C, by the notebook's interrupt, or because another worker met a fault.
#pragma once

#include <atomic>
#include <cstdint>

namespace xcuda::device::cpu {

enum class Stop : std::int32_t { no, fault, interrupt };

/// The stop flag of one running launch, on loan from a table that signal handlers may walk at any time.
class StopFlag {
public:
    StopFlag();
    ~StopFlag();
    StopFlag(const StopFlag&) = delete;
    StopFlag& operator=(const StopFlag&) = delete;

    const volatile std::int32_t* address() const;
    Stop reason() const;
    void raise_fault();  // an interrupt that came before stays

private:
    int slot_;
};

/// Stops every launch that runs and drops those that wait in streams. Async-signal-safe.
void interrupt_all() noexcept;
/// How often interrupt_all was called; what was asked for under an older number is dropped.
std::uint64_t interrupts();

/// While it lives on the process' main thread, SIGINT first stops all kernels, then goes to the handler that
/// was there (CPython's). Where SIGINT was ignored or had no handler, and on other threads, it changes
/// nothing.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

private:
    bool installed_ = false;
};

}  // namespace xcuda::device::cpu
