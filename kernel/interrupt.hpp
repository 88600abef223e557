// SIGINT means "stop this cell" while user code runs, and nothing at any other time.
#pragma once

#include <signal.h>

namespace xcuda::kernel {

// Ignores SIGINT from now on, keeping CPython's handler for the windows. Call with the GIL, on the main
// thread.
void ignore_interrupts_while_idle();

// While one lives, SIGINT reaches CPython's handler. Windows nest. Its end swallows an interrupt that came
// too late to stop anything. Needs the GIL at both ends, and the main thread.
class interrupt_window {
public:
    interrupt_window();
    ~interrupt_window();
    interrupt_window(const interrupt_window&) = delete;
    interrupt_window& operator=(const interrupt_window&) = delete;
};

// From any thread: as if the user had pressed "interrupt". Does nothing while no window is open.
void interrupt_main_thread();

}  // namespace xcuda::kernel
