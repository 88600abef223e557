// SIGINT means "stop this cell" while user code runs, and "stop what cells have left on a device" at any other time.
#pragma once

#include <signal.h>

namespace xcuda::kernel {

// Only notes SIGINT from now on, keeping CPython's handler for the windows. Call with the GIL, on the main
// thread.
void ignore_interrupts_while_idle();

// While one lives, SIGINT reaches CPython's handler. Windows nest. An interrupt that came too late to
// stop anything in it counts as one that came while no cell ran. Needs the GIL at both ends. On another thread, where a
// request on the control channel is answered, it does nothing: CPython's handler would interrupt the main thread, wherever
// that is.
class interrupt_window {
public:
    interrupt_window();
    ~interrupt_window();
    interrupt_window(const interrupt_window&) = delete;
    interrupt_window& operator=(const interrupt_window&) = delete;
};

// The event that wakes the main thread from its wait for messages where an interrupt comes while no window is open: kernels
// may run on that a cell has left behind.
void wake_by(int event_descriptor);

// Whether an interrupt came while there was nothing to stop but those; asked once for each, with the GIL.
bool take_idle_interrupt();

// From any thread: as if the user had pressed "interrupt". Does nothing while no window is open.
void interrupt_main_thread();

}  // namespace xcuda::kernel
