// Stopping kernels that run: by Ctrl-C, by the notebook's interrupt, or because another worker met a fault.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/interrupt.hpp"

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

/// Stops every launch that runs. Async-signal-safe; a part of device::interrupt_all().
void stop_all() noexcept;

}  // namespace xcuda::device::cpu
