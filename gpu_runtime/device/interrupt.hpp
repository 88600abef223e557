// Ctrl-C and the notebook's interrupt, as waits and kernels of any device meet them.
#pragma once

#include <cstdint>

#include "base/export.hpp"

namespace xcuda::device {

/// How often interrupt_all() was called; what was asked for under an older number is dropped.
std::uint64_t interrupts();

/// While it lives on the process' main thread, SIGINT first stops all kernels, then goes to the handler that
/// was there (CPython's). Where SIGINT was ignored or had no handler, and on other threads, it changes
/// nothing.
class XCUDA_API InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// interrupts() when the outermost guard around began: one that came in between is no less of this wait.
    std::uint64_t since() const { return since_; }

private:
    std::uint64_t since_;
    bool installed_ = false;
};

}  // namespace xcuda::device
