#include "_runtime_export.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "_runtime_dlpack.hpp"
#include "_runtime_dtype.hpp"
#include "_runtime_error.hpp"
#include "_runtime_foreign.hpp"
#include "_runtime_stream.hpp"
#include "device/spilling.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

// Work asked for in the stream `handle` from now on finds the array's values. Errors of launches are told at waits.
void make_ready(const DeviceArray& a, std::uintptr_t handle) {
    device::Device& device = *a.buffer->device();
    for (const auto& stream : a.buffer->streams())
        if (!device.finished(stream.get())) device.order(device.handle(stream.get()), handle);
}

void shared(const DeviceArray& a) {
    a.buffer->share();
    if (auto* other_place = device::spilling_of(*a.buffer->device()); other_place && device::spilling.load())
        other_place->keep_in_place(a.buffer->address());
}

std::uintptr_t export_stream(const DeviceArray& a) {
    device::Device& device = *a.buffer->device();
    const std::uintptr_t handle =
        std::max<std::uintptr_t>(device.handle(stream_on(a.buffer->device()).get()), 1);
    make_ready(a, handle);
    shared(a);
    return handle;
}

// What a capsule's tensor points to: it lives until the consumer calls the deleter.
template <typename Managed>
struct Handed {
    Managed managed{};
    std::array<std::int64_t, launch::max_ndim> lengths, strides;
    std::shared_ptr<launch::Buffer> buffer;
};

dlpack::DataType data_type(DType dtype) {
    const DTypeInfo& d = info(dtype);
    const auto code = dlpack_code(dtype);
    if (!code)
        raise("BufferError", "DLPack has no type for " + std::string(d.name) + "; export the view as int64");
    return {*code, static_cast<std::uint8_t>(d.size * 8), 1};
}

template <typename Managed>
nb::object capsule(const DeviceArray& a, const char* name, std::uint64_t flags) {
    auto* handed = new Handed<Managed>;
    const device::Info& where = a.buffer->device()->info();
    handed->buffer = a.buffer;
    handed->lengths = a.view.lengths;
    handed->strides = a.view.strides;
    handed->managed.context = handed;
    handed->managed.deleter = [](Managed* m) { delete static_cast<Handed<Managed>*>(m->context); };
    dlpack::Tensor& t = handed->managed.tensor;
    t.data = a.view.address;
    t.device = where.kind == "cuda" ? dlpack::Device{2, where.ordinal} : dlpack::Device{1, 0};
    t.ndim = a.view.ndim;
    t.dtype = data_type(a.view.dtype);
    t.shape = handed->lengths.data();
    t.strides = handed->strides.data();
    if constexpr (std::is_same_v<Managed, dlpack::Versioned>) {
        handed->managed.version = {1, 0};
        handed->managed.flags = flags;
    }
    PyObject* made = PyCapsule_New(&handed->managed, name, [](PyObject* unused) {
        const char* now = PyCapsule_GetName(unused);  // another name: the consumer has it
        if (!now || std::string_view(now).starts_with("used")) return;
        auto* m = static_cast<Managed*>(PyCapsule_GetPointer(unused, now));
        m->deleter(m);
    });
    if (!made) {
        delete handed;
        throw nb::python_error();
    }
    return nb::steal(made);
}

nb::object to_dlpack(const DeviceArray& a, std::optional<std::int64_t> stream, bool versioned, bool copied) {
    device::Device& device = *a.buffer->device();
    if (device.info().kind == "cuda") {
        if (stream && (*stream == 0 || *stream < -1))
            raise("ValueError",
                  fmt::format("stream={} means nothing to DLPack: -1 is none, 1 the legacy default stream, "
                              "2 the thread's own, or a stream's pointer",
                              *stream));
        if (!stream || *stream != -1) make_ready(a, static_cast<std::uintptr_t>(stream.value_or(1)));
        shared(a);
    } else {
        if (stream)
            raise("ValueError", "an array of the CPU device has no stream: DLPack's stream must be None");
        for (const auto& s : a.buffer->streams()) synchronize(a.buffer->device(), s);
    }
    if (!versioned) {
        if (a.view.readonly)
            raise("BufferError",
                  "the array is read-only, which DLPack before 1.0 can't tell: ask with max_version");
        return capsule<dlpack::Managed>(a, "dltensor", 0);
    }
    return capsule<dlpack::Versioned>(
        a, "dltensor_versioned",
        (a.view.readonly ? dlpack::read_only : 0) | (copied ? dlpack::is_copied : 0));
}

// What keeps another library's memory: its object, and what DLPack handed over.
std::shared_ptr<void> owner_of(nb::handle object, const Foreign& found) {
    struct Kept {
        PyObject* object;
        void (*drop)(void*);
        void* dropped;
    };
    return {new Kept{object.inc_ref().ptr(), found.drop, found.dropped}, [](Kept* kept) {
                const std::unique_ptr<Kept> held(kept);
                if (!Py_IsInitialized()) return;
                const Held gil;
                if (held->drop) held->drop(held->dropped);
                Py_DECREF(held->object);
            }};
}

}  // namespace

void adopt_array(DeviceArray* self, nb::object object) {
    const Stream* current = current_stream();
    Foreign found;
    try {
        const bool streamed = has_streamed_interface(object.ptr());
        const bool speaks = nb::hasattr(object, "__dlpack__");
        if (!streamed && speaks)
            read_dlpack(found, object.ptr(), "array", current ? current->device : nullptr,
                        current ? current->stream.get() : nullptr);
        else if (!read_cuda_interface(found, object.ptr(), "array"))
            raise("TypeError", fmt::format("{} is no array of another library: it has neither __dlpack__ nor "
                                           "__cuda_array_interface__; cuda.to_device(...) copies it",
                                           Py_TYPE(object.ptr())->tp_name));
    } catch (...) {
        if (found.drop) found.drop(found.dropped);
        throw;
    }
    const std::shared_ptr<void> owner = owner_of(object, found);
    std::shared_ptr<device::Device> device = found.device;
    if (!device) {
        device = current ? current->device : current_device();
        if (!device->host_accessible())
            raise("ValueError", "the array lives in host memory: cuda.to_device(...) copies it to the GPU");
    }
    auto home = stream_on(device);
    if (found.stream) device->order(*found.stream, device->handle(home.get()));
    const launch::Extent e = launch::extent(found.view);
    new (self) DeviceArray{
        std::make_shared<launch::Buffer>(device, const_cast<char*>(e.begin),
                                         static_cast<std::size_t>(e.end - e.begin), owner, std::move(home)),
        found.view};
}

void bind_export(nb::module_& module) {
    module.def("export_stream", &export_stream);
    module.def("to_dlpack", &to_dlpack, nb::arg("array"), nb::arg("stream").none(), nb::arg("versioned"),
               nb::arg("copied"));
}

}  // namespace xcuda::python
