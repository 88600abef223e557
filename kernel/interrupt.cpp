#include "interrupt.hpp"

#include <pthread.h>
#include <pybind11/pybind11.h>

namespace xcuda::kernel {

namespace {

struct sigaction python_action;  // what SIGINT does inside a window; a cell may change it
pthread_t main_thread;
int depth = 0;

void ignore() {
    struct sigaction action{};
    action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, &python_action);
}

}  // namespace

void ignore_interrupts_while_idle() {
    main_thread = pthread_self();
    ignore();
}

interrupt_window::interrupt_window() {
    if (depth++ == 0) {
        sigaction(SIGINT, &python_action, nullptr);
    }
}

interrupt_window::~interrupt_window() {
    if (--depth > 0) {
        return;
    }
    ignore();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);  // the destructor may run while an exception is on its way
    if (PyErr_CheckSignals() != 0) {
        PyErr_Clear();
    }
    PyErr_Restore(type, value, trace);
}

void interrupt_main_thread() { pthread_kill(main_thread, SIGINT); }

}  // namespace xcuda::kernel
