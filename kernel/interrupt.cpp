#include "interrupt.hpp"

#include <pthread.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <cerrno>

#include "polling.hpp"

namespace xcuda::kernel {

namespace {

struct sigaction python_action;  // what SIGINT does inside a window; a cell may change it
pthread_t main_thread;
int depth = 0;
std::atomic<bool> came_while_idle = false;  // any thread may be the one that gets a signal
std::atomic<int> idle_event = -1;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void note_idle_interrupt(int) {
    const int kept = errno;
    came_while_idle = true;
    if (idle_event >= 0) signal_event(idle_event);
    errno = kept;
}

void ignore() {
    struct sigaction action{};
    action.sa_handler = note_idle_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &python_action);
}

bool on_main_thread() { return pthread_equal(pthread_self(), main_thread) != 0; }

}  // namespace

void ignore_interrupts_while_idle() {
    main_thread = pthread_self();
    ignore();
}

interrupt_window::interrupt_window() {
    if (on_main_thread() && depth++ == 0) {
        sigaction(SIGINT, &python_action, nullptr);
    }
}

interrupt_window::~interrupt_window() {
    if (!on_main_thread() || --depth > 0) {
        return;
    }
    ignore();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);  // the destructor may run while an exception is on its way
    if (PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        note_idle_interrupt(SIGINT);
    }
    PyErr_Restore(type, value, trace);
}

void wake_by(int event_descriptor) { idle_event = event_descriptor; }

bool take_idle_interrupt() {
    // _thread.interrupt_main() goes round the system's signal; in a window it is for what runs there.
    if (depth == 0 && PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        came_while_idle = true;
    }
    return came_while_idle.exchange(false);
}

void interrupt_main_thread() { pthread_kill(main_thread, SIGINT); }

}  // namespace xcuda::kernel
