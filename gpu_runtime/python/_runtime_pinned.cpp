#include "_runtime_pinned.hpp"

#include <cstddef>
#include <memory>
#include <utility>

#include "_runtime_error.hpp"
#include "_runtime_stream.hpp"

namespace xcuda::python {
namespace {

/// Memory of its own, writable through the buffer protocol.
struct PinnedMemory {
    std::shared_ptr<device::Device> device;
    std::size_t bytes;
    void* address;

    explicit PinnedMemory(std::size_t n)
        : device(current_device()),
          bytes(n),
          address(device->allocate_pinned(n)) {}
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    ~PinnedMemory() { device->release_pinned(address); }
};

int get_buffer(PyObject* self, Py_buffer* out, int flags) {
    return guarded(-1, [&] {
        const PinnedMemory& m = *nb::inst_ptr<PinnedMemory>(self);
        return PyBuffer_FillInfo(out, self, m.address, static_cast<Py_ssize_t>(m.bytes), 0, flags);
    });
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

/// Another array's memory, pinned until it is released.
struct Pin {
    std::shared_ptr<device::Device> device = current_device();
    Py_buffer view{};
    bool held = false;

    explicit Pin(nb::handle array) {
        if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS) < 0) throw nb::python_error();
        try {
            if (view.len > 0 && !device->is_pinned(view.buf)) {
                device->pin(view.buf, static_cast<std::size_t>(view.len));
                held = true;
            }
        } catch (...) {
            PyBuffer_Release(&view);
            throw;
        }
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    ~Pin() { release(); }

    void release() {
        if (std::exchange(held, false)) device->unpin(view.buf);
        PyBuffer_Release(&view);
    }
};

bool is_pinned(nb::handle array) {
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDED_RO) < 0) throw nb::python_error();
    const void* at = view.buf;
    PyBuffer_Release(&view);
    return current_device()->is_pinned(at);
}

}  // namespace

void bind_pinned(nb::module_& module) {
    nb::class_<PinnedMemory>(module, "PinnedMemory", nb::type_slots(memory_slots)).def(nb::init<std::size_t>());
    nb::class_<Pin>(module, "Pin").def(nb::init<nb::handle>()).def("release", &Pin::release);
    module.def("is_pinned", &is_pinned);
}

}  // namespace xcuda::python
