#include "_runtime_array.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "_runtime_dtype.hpp"
#include "_runtime_export.hpp"
#include "_runtime_graph.hpp"
#include "_runtime_stream.hpp"
#include "device/pressure.hpp"
#include "launch/held.hpp"
#include "launch/program.hpp"
#include "python/gil.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {
namespace {

using Lengths = std::vector<std::int64_t>;

PyTypeObject* array_class = nullptr;  // xcuda.core's class over ArrayBase
NumericReader numeric_reader = nullptr;

void set_shape(launch::Argument& view, const Lengths& lengths, const Lengths* strides) {
    if (lengths.size() > launch::max_ndim)
        raise("ValueError", "device arrays have at most 8 dimensions, not " + std::to_string(lengths.size()));
    view.ndim = static_cast<std::int8_t>(lengths.size());
    std::int64_t stride = 1;
    for (std::size_t i = lengths.size(); i-- > 0;) {
        view.lengths[i] = lengths[i];
        view.strides[i] = strides ? (*strides)[i] : stride;
        stride *= std::max<std::int64_t>(lengths[i], 1);
    }
    view.layout = launch::layout_of(view.ndim, view.lengths.data(), view.strides.data());
}

// Whole elements where the view's elements are aligned, else bytes.
void set_byte_strides(launch::Argument& view, const Lengths& lengths, Lengths strides) {
    const auto size = static_cast<std::int64_t>(info(view.dtype).size);
    bool aligned = reinterpret_cast<std::uintptr_t>(view.address) % static_cast<std::size_t>(size) == 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) aligned &= lengths[i] <= 1 || strides[i] % size == 0;
    if (aligned)
        for (std::int64_t& stride : strides) stride /= size;
    set_shape(view, lengths, &strides);
    if (!aligned) view.layout = ir::Layout::bytes;
}

void allocate(DeviceArray* self, const Lengths& lengths, const std::string& dtype) {
    launch::Argument view;
    view.is_array = true;
    view.dtype = dtype_named(dtype);
    std::int64_t bytes = static_cast<std::int64_t>(info(view.dtype).size);
    for (const std::int64_t n : lengths) {
        if (n < 0) raise("ValueError", "an array's length can't be negative: " + std::to_string(n));
        if (__builtin_mul_overflow(bytes, n, &bytes))
            raise("MemoryError", "the array is larger than any memory");
    }
    set_shape(view, lengths, nullptr);
    const auto& device = current_device();
    auto buffer =
        std::make_shared<launch::Buffer>(device, static_cast<std::size_t>(bytes), stream_on(device));
    view.address = buffer->address();
    new (self) DeviceArray{std::move(buffer), view, LaunchSite::here()};
}

// `strides` in elements, or in bytes.
void make_view(DeviceArray* self, const DeviceArray& base, std::int64_t offset, const Lengths& lengths,
               const Lengths& strides, const std::string& dtype, bool in_bytes) {
    launch::Argument view = base.view;
    view.dtype = dtype_named(dtype);
    if (lengths.size() != strides.size()) raise("ValueError", "a view needs one stride an axis");
    view.address = static_cast<char*>(base.view.address) + offset;
    if (in_bytes)
        set_byte_strides(view, lengths, strides);
    else
        set_shape(view, lengths, &strides);
    const launch::Extent e = launch::extent(view);
    const auto* begin = static_cast<const char*>(base.buffer->address());
    if (e.begin != e.end && (e.begin < begin || e.end > begin + base.buffer->bytes()))
        raise("ValueError", "the view reaches outside its array's memory");
    new (self) DeviceArray{base.buffer, view, base.made, base.since};
}

nb::tuple as_tuple(const std::int64_t* values, int n, std::int64_t factor = 1) {
    nb::object out = nb::steal(PyTuple_New(n));
    for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(out.ptr(), i, PyLong_FromLongLong(values[i] * factor));
    return nb::borrow<nb::tuple>(out);
}

/// Waits for all work on the array's memory and raises what went wrong in it.
void settle(const DeviceArray& a) {
    for (const auto& stream : a.buffer->streams()) synchronize(a.buffer->device(), stream);
}

/// Work in `stream` from now on comes after what was asked for on the array's memory.
void order_after_work(const DeviceArray& a, const std::shared_ptr<device::Stream>& stream) {
    device::Device& device = *a.buffer->device();
    for (const auto& other : a.buffer->streams()) {
        if (other == stream || device.finished(other.get())) continue;
        const auto reached = device.make_event(false);
        device.record(*reached, other.get());
        device.wait(*reached, stream.get());
    }
}

// Where copies and fills of the array go: the current stream, and in a capture the graph that keeps the array then.
struct Working {
    std::shared_ptr<device::Stream> stream;
    Graph* graph = nullptr;

    explicit Working(const DeviceArray& a) {
        const Stream* current = current_stream();
        if (!current || current->device != a.buffer->device()) return;
        stream = current->stream;
        graph = current->graph.get();
    }
    void uses(const DeviceArray& a) const {
        if (graph)
            graph->keeps.push_back(a.buffer);
        else
            a.buffer->used_on(stream);
    }
};

struct HostBytes {
    Py_buffer view{};
    HostBytes(nb::handle object, int flags) {
        if (PyObject_GetBuffer(object.ptr(), &view, flags) < 0) throw nb::python_error();
    }
    ~HostBytes() { PyBuffer_Release(&view); }
};

void expect_bytes(const launch::Extent& e, const Py_buffer& host) {
    if (host.len != e.end - e.begin)
        raise("ValueError", "the host memory has " + std::to_string(host.len) + " bytes; " +
                                std::to_string(e.end - e.begin) + " are needed");
}

// A copy that goes on while the caller does: what it uses is kept until then.
void keep_until_copied(const std::shared_ptr<device::Device>& device,
                       const std::shared_ptr<device::Stream>& stream, std::shared_ptr<void> keeps) {
    auto work = make_recycled<InFlight>();
    work->device = device;
    work->stream = stream;
    work->keeps = std::move(keeps);
    work->copied = device->make_event(false);
    device->record(*work->copied, stream.get());
    in_flight(std::move(work));
}

struct Kept {
    std::shared_ptr<launch::Buffer> buffer;
    std::shared_ptr<void> host;
};

// The bytes from the view's first to its last, so that strided views keep their strides on the host. `waits` false: if
// the host memory is pinned, the copy goes on in the current stream when this returns.
void extent_to_host(const DeviceArray& a, nb::handle to, bool waits) {
    HostBytes host(to, PyBUF_CONTIG);
    const launch::Extent e = launch::extent(a.view);
    expect_bytes(e, host.view);
    const auto& device = a.buffer->device();
    const Working on(a);
    const auto bytes = static_cast<std::size_t>(host.view.len);
    if (on.graph) {
        device->copy_to_host(host.view.buf, e.begin, bytes, on.stream.get());
        on.uses(a);
        on.graph->keeps.push_back(kept_object(to));
        ++on.graph->copies;
        return;
    }
    const bool goes_on = !waits && on.stream && device->is_pinned(host.view.buf);
    if (goes_on)
        order_after_work(a, on.stream);
    else
        settle(a);
    on.uses(a);
    {
        const Waiting waiting;
        launch::copy_out(*device, host.view.buf, e.begin, bytes, on.stream.get());
    }
    if (goes_on)
        keep_until_copied(device, on.stream, std::make_shared<Kept>(Kept{a.buffer, kept_object(to)}));
    else
        synchronize(device, on.stream);
}

void expect_writable(const DeviceArray& a) {
    if (a.view.readonly) raise("ValueError", "the array is read-only: its library said so");
}

void extent_from_host(const DeviceArray& a, nb::handle from, bool waits) {
    expect_writable(a);
    HostBytes host(from, PyBUF_CONTIG_RO);
    const launch::Extent e = launch::extent(a.view);
    expect_bytes(e, host.view);
    const auto& device = a.buffer->device();
    const Working on(a);
    const auto bytes = static_cast<std::size_t>(host.view.len);
    if (on.graph) {
        device->copy_to_device(const_cast<char*>(e.begin), host.view.buf, bytes, on.stream.get());
        on.uses(a);
        on.graph->keeps.push_back(kept_object(from));
        ++on.graph->copies;
        return;
    }
    const bool goes_on = !waits && on.stream && device->is_pinned(host.view.buf);
    on.uses(a);
    {
        const Waiting waiting;
        launch::copy_in(*device, const_cast<char*>(e.begin), host.view.buf, bytes, on.stream.get());
    }
    if (goes_on)
        keep_until_copied(device, on.stream, std::make_shared<Kept>(Kept{a.buffer, kept_object(from)}));
    else if (on.stream)  // the host memory is the caller's again when this returns
        synchronize(device, on.stream);
}

// Between GPUs, with nothing in the host's memory.
void copy_from_peer(const DeviceArray& to, const DeviceArray& from, const Working& on) {
    device::Device& there = *from.buffer->device();
    const auto stream_there = stream_on(from.buffer->device());
    order_after_work(from, stream_there);
    const auto ready = there.make_event(false);
    there.record(*ready, stream_there.get());
    if (on.graph ||
        !to.buffer->device()->copy_from_peer(to.view.address, there, from.view.address,
                                             static_cast<std::size_t>(to.nbytes()), *ready, on.stream.get()))
        raise("ValueError",
              "an array of " + there.info().name + " is copied to another device through the host only");
    on.uses(to);
    keep_until_copied(to.buffer->device(), on.stream, std::make_shared<Kept>(Kept{from.buffer, nullptr}));
}

void copy_from(const DeviceArray& to, const DeviceArray& from) {
    expect_writable(to);
    const bool plain = to.view.layout == ir::Layout::contiguous && from.view.layout == ir::Layout::contiguous;
    if (!plain || to.view.dtype != from.view.dtype || to.nbytes() != from.nbytes())
        raise("ValueError", "only contiguous arrays of one dtype and size are copied on the device");
    const Working on(to);
    if (to.buffer->device() != from.buffer->device()) return copy_from_peer(to, from, on);
    on.uses(to);
    on.uses(from);
    if (on.graph) ++on.graph->copies;
    launch::copy_within(*to.buffer->device(), to.view.address, from.view.address,
                        static_cast<std::size_t>(to.nbytes()), on.stream.get());
}

void fill_bytes(const DeviceArray& a, int byte) {
    expect_writable(a);
    if (a.view.layout != ir::Layout::contiguous)
        raise("ValueError", "only contiguous arrays are filled by bytes");
    const Working on(a);
    on.uses(a);
    if (on.graph) ++on.graph->copies;
    launch::fill(*a.buffer->device(), a.view.address, byte, static_cast<std::size_t>(a.nbytes()),
                 on.stream.get());
}

// Buffer protocol: the CPU device's memory is the host's, so NumPy sees it in place.
struct Exported {
    std::shared_ptr<launch::Buffer> buffer;
    Py_ssize_t lengths[launch::max_ndim], strides[launch::max_ndim];
};

int get_buffer(PyObject* self, Py_buffer* out, int flags) {
    return guarded(-1, [&] {
        const DeviceArray& a = *nb::inst_ptr<DeviceArray>(self);
        out->obj = nullptr;
        if (!a.buffer->device()->host_accessible())
            raise("BufferError",
                  "the array lives on " + a.buffer->device()->info().name + "; use copy_to_host()");
        const bool contiguous = a.view.layout == ir::Layout::contiguous;
        if (!contiguous && (flags & PyBUF_STRIDES) != PyBUF_STRIDES)
            raise("BufferError", "the array is a strided view; ask for strides or copy_to_host()");
        settle(a);
        auto* exported = new Exported{a.buffer, {}, {}};
        const auto size = static_cast<Py_ssize_t>(info(a.view.dtype).size);
        for (int i = 0; i < a.view.ndim; ++i) {
            exported->lengths[i] = a.view.lengths[i];
            exported->strides[i] = a.view.strides[i] * a.view.stride_unit();
        }
        static char nothing[8];
        out->buf = a.view.address ? a.view.address : nothing;
        out->len = a.nbytes();
        out->itemsize = size;
        if (a.view.readonly && (flags & PyBUF_WRITABLE)) raise("BufferError", "the array is read-only");
        out->readonly = a.view.readonly;
        out->ndim = (flags & PyBUF_ND) ? a.view.ndim : 1;  // bytes to who asks for no axes
        out->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(to_format(a.view.dtype)) : nullptr;
        out->shape = (flags & PyBUF_ND) ? exported->lengths : nullptr;
        out->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides : nullptr;
        out->suboffsets = nullptr;
        out->internal = exported;
        out->obj = self;
        Py_INCREF(self);
        return 0;
    });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

PyType_Slot array_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

}  // namespace

DeviceArray* device_array(PyObject* object) {
    if (Py_TYPE(object) == array_class) return nb::inst_ptr<DeviceArray>(object);
    DeviceArray* found = nullptr;
    return nb::try_cast<DeviceArray*>(nb::handle(object), found) ? found : nullptr;
}

void set_numeric_reader(NumericReader reader) { numeric_reader = reader; }

std::optional<DeviceArray> numeric_as_device(PyObject* object) {
    return numeric_reader ? numeric_reader(object) : std::nullopt;
}

void bind_array(nb::module_& module) {
    nb::class_<DeviceArray>(module, "ArrayBase", nb::type_slots(array_slots), nb::is_weak_referenceable())
        .def("__init__", &allocate, nb::arg("shape"), nb::arg("dtype"))
        .def("__init__", &make_view, nb::arg("base"), nb::arg("offset"), nb::arg("shape"), nb::arg("strides"),
             nb::arg("dtype"), nb::arg("in_bytes") = false)
        .def("__init__", &adopt_array, nb::arg("foreign"))
        .def_prop_ro("shape",
                     [](const DeviceArray& a) { return as_tuple(a.view.lengths.data(), a.view.ndim); })
        .def_prop_ro("strides",
                     [](const DeviceArray& a) {
                         return as_tuple(a.view.strides.data(), a.view.ndim, a.view.stride_unit());
                     })
        .def_prop_ro("_readonly", [](const DeviceArray& a) { return a.view.readonly; })
        .def_prop_ro("ndim", [](const DeviceArray& a) { return static_cast<int>(a.view.ndim); })
        .def_prop_ro("size", [](const DeviceArray& a) { return a.view.elements(); })
        .def_prop_ro("nbytes", &DeviceArray::nbytes)
        .def_prop_ro("itemsize", [](const DeviceArray& a) { return info(a.view.dtype).size; })
        .def_prop_ro("_dtype_name", [](const DeviceArray& a) { return std::string(info(a.view.dtype).name); })
        .def_prop_ro("_typestr", [](const DeviceArray& a) { return std::string(info(a.view.dtype).typestr); })
        .def_prop_ro("_address",
                     [](const DeviceArray& a) {
                         if (const auto& device = a.buffer->device(); device->lost_by() != 0)
                             throw device->lost_error();
                         return reinterpret_cast<std::uintptr_t>(a.view.address);
                     })
        .def_prop_ro("_contiguous",
                     [](const DeviceArray& a) { return a.view.layout == ir::Layout::contiguous; })
        .def_prop_ro("_host_accessible",
                     [](const DeviceArray& a) { return a.buffer->device()->host_accessible(); })
        .def_prop_ro("_device_label",
                     [](const DeviceArray& a) { return launch::device_label(a.buffer->device()->info()); })
        .def_prop_ro(
            "_memory",
            [](const DeviceArray& a) {  // which, bytes, (file, line) that asked for it, seconds since then
                nb::object site = nb::none();
                if (a.made.code.is_valid())
                    site = nb::make_tuple(a.made.code.attr("co_filename"), a.made.line());
                return nb::make_tuple(reinterpret_cast<std::uintptr_t>(a.buffer.get()), a.buffer->bytes(),
                                      site, now() - a.since);
            })
        .def("_extent",
             [](const DeviceArray& a) {  // bytes before the first element, bytes in all
                 const launch::Extent e = launch::extent(a.view);
                 return nb::make_tuple(static_cast<const char*>(a.view.address) - e.begin, e.end - e.begin);
             })
        .def(
            "_to_host", [](const DeviceArray& a, nb::object to, bool waits) { extent_to_host(a, to, waits); },
            nb::arg("to"), nb::arg("waits") = true)
        .def(
            "_from_host",
            [](const DeviceArray& a, nb::object from, bool waits) { extent_from_host(a, from, waits); },
            nb::arg("from"), nb::arg("waits") = true)
        .def("_copy_from", [](const DeviceArray& a, const DeviceArray& from) { copy_from(a, from); })
        .def("_fill_bytes", &fill_bytes)
        .def("_settle", &settle);
    module.def("arrays_among", [](nb::list objects) {  // without those that are being made
        nb::list out;
        for (nb::handle o : objects)
            if (nb::isinstance<DeviceArray>(o) && nb::inst_ready(o)) out.append(o);
        return out;
    });
    module.def("array_peaks", [] {  // [(device, bytes held when the peaks began, most since then)]
        std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> out;
        for (const launch::Held& h : launch::held()) out.emplace_back(h.device, h.at_begin, h.peak);
        return out;
    });
    module.def("restart_array_peaks", &launch::restart_peaks);
    module.def("set_relief", [](nb::callable relief) {
        PyObject* call = relief.release().ptr();  // for as long as the process lives
        device::set_relief([call] {
            if (!Py_IsInitialized()) return;
            Held gil;
            if (PyObject* result = PyObject_CallNoArgs(call))
                Py_DECREF(result);
            else
                PyErr_WriteUnraisable(call);
            const Released released;
            launch::wait_for_late_releases();
        });
    });
    module.def("set_array_class", [](nb::type_object type) {
        array_class = reinterpret_cast<PyTypeObject*>(type.release().ptr());
    });
}

}  // namespace xcuda::python
