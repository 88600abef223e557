// Arrays that live on a device, as Python holds them: a buffer and a view of it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>

#include "_runtime_error.hpp"
#include "base/clock.hpp"
#include "launch/buffer.hpp"
#include "launch/signature.hpp"

namespace nb = nanobind;

namespace xcuda::python {

struct DeviceArray {
    std::shared_ptr<launch::Buffer> buffer;
    launch::Argument view;  // address inside the buffer, lengths, strides in elements
    LaunchSite made;        // where the memory was asked for
    double since = now();   // when
    launch::Key key = 0;    // of the view, once a launch has asked

    std::int64_t nbytes() const { return view.elements() * static_cast<std::int64_t>(info(view.dtype).size); }
};

/// The array behind a Python object, null where it is none; a pointer comparison for xcuda's own class.
DeviceArray* device_array(PyObject* object);

/// How numeric's arrays are seen as device arrays; nothing for other objects. Set by their binding.
using NumericReader = std::optional<DeviceArray> (*)(PyObject*);
void set_numeric_reader(NumericReader reader);
std::optional<DeviceArray> numeric_as_device(PyObject* object);

void bind_array(nb::module_& module);

}  // namespace xcuda::python
