// Arrays of other libraries as they lie: `__cuda_array_interface__`, DLPack (its capsules and its C exchange).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "launch/signature.hpp"

namespace nb = nanobind;

namespace xcuda::python {

/// An array of another library. Its object keeps it, and what DLPack handed over, where it did.
struct Foreign {
    launch::Argument view;
    std::shared_ptr<device::Device> device;  // null: host memory
    std::optional<std::uintptr_t>
        stream;                     // with work on it that ours must wait for, and that must wait for ours
    void (*drop)(void*) = nullptr;  // DLPack's deleter; needs the GIL
    void* dropped = nullptr;
    const char* why_readonly = "";
};

/// Reads `__cuda_array_interface__`. False where the object has none. Throws a TypeError or ValueError naming `name`.
bool read_cuda_interface(Foreign& to, PyObject* object, const std::string& name);
/// Reads DLPack; work on the array waits in `consumer` (null: the default stream) where that is of its device.
void read_dlpack(Foreign& to, PyObject* object, const std::string& name,
                 const std::shared_ptr<device::Device>& consumer_device, device::Stream* consumer);

/// Version 3 of the interface or later: it tells its stream, and is cheaper to read than DLPack.
bool has_streamed_interface(PyObject* object);

}  // namespace xcuda::python
