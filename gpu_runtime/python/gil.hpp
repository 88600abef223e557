// Python's lock, given up and taken. A thread that takes it while the interpreter goes down is ended by CPython before 3.14 within the
// call (pthread_exit), which unwinds through destructors and aborts the process. Here such a thread sleeps until the process is gone,
// as CPython has it from 3.14 on.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace xcuda::python {

namespace gil {

[[noreturn]] inline void sleep_for_ever() noexcept {
    for (;;) pause();
}

// A handler that is never left need not throw on what ends a thread.
template <class Take>
auto taken(Take take) noexcept {
    try {
        return take();
    } catch (...) {
        sleep_for_ever();
    }
}

}  // namespace gil

/// Not held while this lives.
class Released {
public:
    Released() noexcept : state_(PyEval_SaveThread()) {}
    ~Released() {
        gil::taken([this] { PyEval_RestoreThread(state_); });
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

private:
    PyThreadState* state_;
};

/// Held while this lives.
class Held {
public:
    Held() noexcept : state_(gil::taken([] { return PyGILState_Ensure(); })) {}
    ~Held() { PyGILState_Release(state_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace xcuda::python
