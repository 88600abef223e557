// Python's lock given up for what may take as long as a kernel runs, with no interrupt lost on the way.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "device/interrupt.hpp"
#include "python/gil.hpp"

namespace xcuda::python {

/// As Released, around a wait for a device and around kernels that run in place. A signal that Python has noted and not
/// yet handled is raised at once: nothing would look for it before the wait is over. One that comes later stops kernels
/// and ends waits. `may_last` false: what follows only starts work, and this is Released.
class Waiting {
public:
    explicit Waiting(bool may_last = true) {
        if (may_last) {
            guard_.emplace();  // before the look, so that none falls in between
            if (PyErr_CheckSignals() < 0) throw nanobind::python_error();
        }
        released_.emplace();
    }

private:
    std::optional<device::InterruptGuard> guard_;
    std::optional<Released> released_;
};

}  // namespace xcuda::python
