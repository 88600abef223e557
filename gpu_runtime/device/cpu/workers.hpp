// The worker pool: threads that help the thread that launches. That thread is worker 0 of its launch.
#pragma once

#include "device/cpu/worker.hpp"

namespace xcuda::device::cpu {

/// Runs all pieces of `launch` on this thread and the pool's; returns when no one works on it any more. One
/// piece, or a pool of one worker, runs here and wakes nobody.
void run_on_workers(LaunchState& launch);

/// A thread that takes no signals: those are for threads that Python knows.
void start_quiet_thread(void (*body)(void*), void* context);

/// Rises in a child of fork(), where no thread of ours lives on.
unsigned fork_count();

}  // namespace xcuda::device::cpu
