// `Kernel`, what @cuda.kernel gives, and `Configured`, what k[grid, block] gives: calls go from CPython straight here.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "_runtime_argument.hpp"
#include "_runtime_stream.hpp"
#include "launch/ahead.hpp"
#include "launch/bound.hpp"
#include "launch/program.hpp"
#include "launch/steady.hpp"

namespace xcuda::python {

/// A global, closure cell or helper that the kernel's source read, and the object it was then.
struct Capture {
    nb::object holder, name, value;
};

/// Argument types that a kernel was declared with; an address is passed where one is a pointer.
struct Declared {
    launch::Signature signature;
    std::vector<bool> pointers;
};

/// The state behind a Kernel object.
struct KernelState {
    nb::object about;  // xcuda.core.kernels.About: source, signatures, what people ask for
    std::string name;
    std::vector<std::string> parameters;
    nb::tuple parameter_names;  // interned, for keyword arguments
    nb::dict defaults;
    launch::Options options;
    std::string
        only_on;  // a device's kind or label, "cpu", "cuda": it runs nowhere else; empty: wherever its arguments are
    std::vector<Declared> declared;      // see _runtime_declared
    std::vector<bool> fixed_parameters;  // those whose values are constants of a variant each; empty: none
    bool carries = false;  // names device arrays outside itself: each call is a variant that takes them too
    bool routed = false;   // about.route(values, has a shape) gives the kernel that runs instead

    std::shared_ptr<launch::Program> program;  // null until the first call, and after a captured name changed
    std::vector<std::shared_ptr<launch::Ahead>> ahead;  // see _runtime_ahead
    launch::Steady steady;                              // of options.tuning.adaptive
    std::vector<Capture> captures;
    std::shared_ptr<const launch::Lowered> last_lowered;  // of the last calls
    std::shared_ptr<const launch::Specialisation> last;
    std::optional<device::Shape> passed;  // the shape of a call that was launched by `last`: it has been checked
    const launch::Specialisation* passed_by = nullptr;
    std::optional<device::Shape> last_shape;
    bool last_automatic = false;
    std::uint64_t launches = 0;

    /// The program for what the names mean now.
    launch::Program& current_program();
    std::shared_ptr<const launch::Lowered> lowered_for(std::span<const launch::Argument> arguments,
                                                       const device::Device* on = nullptr);
    std::shared_ptr<const launch::Specialisation> specialised_for(
        const std::shared_ptr<const launch::Lowered>& lowered, const std::shared_ptr<device::Device>& device,
        const device::Shape& shape, bool automatic);
};

/// Where and how a call runs; nothing given: chosen at the call.
struct Configuration {
    std::optional<device::Shape> shape;
    std::int64_t dynamic_shared_bytes = 0;
    nb::object stream;  // a StreamBase, or invalid
};

/// Where a call over host arrays runs, and what a kernel is compiled for before one.
std::shared_ptr<device::Device> device_for(const KernelState& kernel);

/// The state of a Kernel or Configured object, null for another object.
KernelState* kernel_state(PyObject* object);
/// The Configuration of a Configured object, null for another object.
const Configuration* configuration_of(PyObject* object);

/// Starts the kernel. `wait`: returns when host arrays hold the result; else gives what an await waits for.
std::shared_ptr<InFlight> launch_kernel(KernelState& kernel, const Configuration& where,
                                        PyObject* const* values, std::size_t count, PyObject* keyword_names,
                                        bool wait);

/// A launch with its arguments read and its kernel found, to be started many times.
struct BoundLaunch {
    nb::object kernel;                         // a Kernel: of a call with tuples, the variant
    std::shared_ptr<launch::Program> program;  // what its names meant then
    std::shared_ptr<device::Device> device;
    launch::Bound bound;
    std::shared_ptr<Arguments> arguments;
    std::vector<nb::object> values;
    bool plain;  // false: each call goes the whole way, as with copies of host arrays
};
BoundLaunch bind_launch(const nb::object& kernel, const Configuration& where,
                        const std::vector<PyObject*>& values);
/// As a call of the kernel, with what its globals mean now.
void launch_bound(BoundLaunch& bound, const Configuration& where);
void bind_bound(nb::module_& module);

/// For tests: host arrays are copied in and out as on a device that can't see them. Gives what was set before.
bool force_copies(bool forced);

/// The Configuration of k[...].
Configuration configuration_from(const KernelState& kernel, PyObject* key);

void bind_kernel(nb::module_& module);
void bind_kernel_types(nb::module_& module);

}  // namespace xcuda::python
