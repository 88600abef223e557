// SIGINT means "stop this cell" while user code runs, and nothing at any other time.
#pragma once

#include <signal.h>

namespace xcuda::kernel {

// Ignores SIGINT from now on, keeping CPython's handler for the windows. Call with the GIL, on the main
// thread.
void ignore_interrupts_while_idle();

// While one lives, SIGINT reaches CPython's handler. Windows nest. An interrupt that came too late to
// stop anything in it counts as one that came while no cell ran. Needs the GIL at both ends, and the main thread.
class interrupt_window {
public:
    interrupt_window();
    ~interrupt_window();
    interrupt_window(const interrupt_window&) = delete;
    interrupt_window& operator=(const interrupt_window&) = delete;
};

// While one lives, which is while the main thread waits for messages, SIGINT is noted and wakes the waiting by the
// event descriptor: kernels may run on that a cell has left behind.
class idle_watch {
public:
    explicit idle_watch(int event_descriptor);
    ~idle_watch();
    idle_watch(const idle_watch&) = delete;
    idle_watch& operator=(const idle_watch&) = delete;
};

// Whether an interrupt came while there was nothing to stop but those; asked once for each.
bool take_idle_interrupt();

// From any thread: as if the user had pressed "interrupt". Does nothing while no window is open.
void interrupt_main_thread();

}  // namespace xcuda::kernel
