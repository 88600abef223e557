// xcuda::Error as a Python exception, raised in a frame that shows the user's kernel line.
#pragma once

#include <nanobind/nanobind.h>

#include "base/error.hpp"

namespace nb = nanobind;

namespace xcuda::python {

/// Where a launch was asked for: told with errors that surface later. Owns its code object.
struct LaunchSite {
    nb::object code;
    int instruction = 0;  // its line is looked up only for those who ask: that walks the code's table
    int line() const;
    static LaunchSite here();  // of the innermost Python frame that is not xcuda.core's own
};

/// Sets the Python error indicator; the kernel's name titles the frame of its line.
void set_error(const Error& error, const char* kernel = nullptr, const LaunchSite* launched = nullptr);
[[noreturn]] void raise(const Error& error, const char* kernel = nullptr,
                        const LaunchSite* launched = nullptr);
[[noreturn]] void raise(const char* python_type, const std::string& message);

/// A user's error of this Python type, thrown as C++ has it.
[[noreturn]] void wrong(const char* type, const std::string& message, std::string hint = {});
/// "Tensor": an object's type, without its module.
std::string type_name(PyObject* object);

/// Runs `work` and turns C++ exceptions into Python's; for functions that CPython calls directly.
template <typename Work, typename Result>
Result guarded(Result failed, Work&& work) noexcept {
    try {
        return work();
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const Error& e) {
        set_error(e);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        set_error(bug(e.what()));
    }
    return failed;
}

void bind_error(nb::module_& module);

}  // namespace xcuda::python
