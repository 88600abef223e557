#include "_runtime_numeric.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "_runtime_dtype.hpp"
#include "arrays/rows.hpp"
#include "arrays/small.hpp"
#include "launch/program.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {
namespace {

using arrays::Operand;
using arrays::ValueP;
using arrays::View;

constexpr std::size_t most_pending = 256;  // that arrays hold

PyTypeObject* numeric_class = nullptr;
PyObject* dtypes[16] = {};  // NumPy's dtype objects, each asked of numpy_dtype_of at its first use
PyObject* numpy_dtype_of = nullptr;

using Lengths = std::vector<std::int64_t>;

arrays::Shape shape_of(const Lengths& lengths) {
    if (lengths.size() > arrays::max_axes)
        wrong("ValueError",
              fmt::format("maximum supported dimension for an ndarray is currently {}, found {}",
                          arrays::max_axes, lengths.size()));
    return lengths;
}

View packed(arrays::Shape shape, const std::vector<int>& slowest_first) {
    return slowest_first.empty() ? arrays::dense(shape) : arrays::dense_in_order(shape, slowest_first);
}

// A new array's bytes can be counted, as NumPy counts them: without the axes of length 0.
void expect_addressable(const Lengths& lengths, DType d) {
    std::int64_t bytes = static_cast<std::int64_t>(info(d).size);
    bool over = false;
    for (const std::int64_t n : lengths) {
        if (n < 0) wrong("ValueError", "negative dimensions are not allowed");
        over |= n > 0 && __builtin_mul_overflow(bytes, n, &bytes);
    }
    if (over)
        wrong("ValueError",
              "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
}

Place place_of(const arrays::Site& site) {
    auto* code = static_cast<PyObject*>(site.code.get());
    Place place;
    place.line = PyCode_Addr2Line(reinterpret_cast<PyCodeObject*>(code), site.instruction);
    place.file = nb::cast<std::string>(nb::handle(code).attr("co_filename"));
    return place;
}

nb::tuple as_tuple(const std::int64_t* values, int n, std::int64_t factor = 1) {
    nb::object out = nb::steal(PyTuple_New(n));
    for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(out.ptr(), i, PyLong_FromLongLong(values[i] * factor));
    return nb::borrow<nb::tuple>(out);
}

std::int64_t itemsize(const NumericArray& a) { return static_cast<std::int64_t>(info(a.value->dtype).size); }

// As kernels and core's arrays see it.
DeviceArray device_view(NumericArray& a) {
    expose(a);
    DeviceArray out{a.value->buffer, {}, LaunchSite::here()};
    launch::Argument& v = out.view;
    v.is_array = true;
    v.dtype = a.value->dtype;
    v.readonly = a.readonly || a.value->readonly;
    v.address = a.value->address + a.view.offset * itemsize(a);
    if (a.view.ndim > launch::max_ndim)
        wrong("ValueError", fmt::format("kernels take arrays of at most {} dimensions, not {}",
                                        launch::max_ndim, a.view.ndim));
    v.ndim = static_cast<std::int8_t>(a.view.ndim);
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.view.ndim); ++i) {
        v.lengths[i] = a.view.lengths[i];
        v.strides[i] = a.view.strides[i];
    }
    v.layout = launch::layout_of(v.ndim, v.lengths.data(), v.strides.data());
    return out;
}

nb::object one_element(NumericArray& a, std::int64_t offset) {
    ready(a);
    alignas(16) char bytes[16];
    const auto size = static_cast<std::size_t>(itemsize(a));
    const auto& device = a.value->device;
    const char* from = a.value->address + offset * itemsize(a);
    for (const auto& stream : a.value->buffer->streams()) synchronize(device, stream);
    if (device->host_accessible()) {
        std::memcpy(bytes, from, size);
    } else {
        const auto stream = stream_on(device);
        {
            const Waiting waiting;
            launch::copy_out(*device, bytes, from, size, stream.get());
        }
        synchronize(device, stream);
    }
    const auto read = [&]<class T>(T) {
        T x;
        std::memcpy(&x, bytes, sizeof x);
        return x;
    };
    switch (a.value->dtype) {
        case DType::b1: return nb::bool_(bytes[0] != 0);
        case DType::i8: return nb::int_(read(std::int8_t{}));
        case DType::i16: return nb::int_(read(std::int16_t{}));
        case DType::i32: return nb::int_(read(std::int32_t{}));
        case DType::i64: return nb::int_(read(std::int64_t{}));
        case DType::u8: return nb::int_(read(std::uint8_t{}));
        case DType::u16: return nb::int_(read(std::uint16_t{}));
        case DType::u32: return nb::int_(read(std::uint32_t{}));
        case DType::u64: return nb::int_(read(std::uint64_t{}));
        case DType::f16: return nb::float_(static_cast<double>(read(_Float16{})));
        case DType::f32: return nb::float_(static_cast<double>(read(float{})));
        case DType::f64: return nb::float_(read(double{}));
        case DType::c64: {
            const auto z = read(std::array<float, 2>{});
            return nb::steal(PyComplex_FromDoubles(z[0], z[1]));
        }
        case DType::c128: {
            const auto z = read(std::array<double, 2>{});
            return nb::steal(PyComplex_FromDoubles(z[0], z[1]));
        }
        default: break;  // bfloat16: no other is left
    }
    const std::uint32_t bits = static_cast<std::uint32_t>(read(std::uint16_t{})) << 16;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return nb::float_(static_cast<double>(x));
}

nb::object view_of(const NumericArray& a, std::int64_t offset, const Lengths& lengths,
                   const Lengths& strides) {
    View view = arrays::dense(shape_of(lengths));
    view.offset = a.view.offset + offset;
    std::copy(strides.begin(), strides.end(), view.strides.begin());
    return numeric_object(viewed(a), view, a.readonly);
}

// The memory as elements of another dtype: offset and strides in those.
nb::object seen_array(NumericArray& a, std::int64_t offset, const Lengths& lengths, const Lengths& strides,
                      const std::string& dtype) {
    ready(a);
    const DType d = dtype_named(dtype);
    View layout = arrays::dense(shape_of(lengths));
    std::copy(strides.begin(), strides.end(), layout.strides.begin());
    char* address =
        a.value->address + a.view.offset * itemsize(a) + offset * static_cast<std::int64_t>(info(d).size);
    const ValueP made = arrays::seen_as(*a.value, address, d, layout);
    return numeric_object(made, layout, a.readonly);
}

// The elements' memory as a buffer, where the host can read it.
int get_buffer(PyObject* self, Py_buffer* out, int flags) {
    out->obj = nullptr;
    try {
        NumericArray& a = *numeric_array(self);
        if (a.value->dtype == DType::bf16) raise("BufferError", "buffers have no bfloat16");
        if (a.view.ndim > launch::max_ndim || !a.value->device->host_accessible())
            raise("BufferError", "the array has no buffer; x.get() gives a host array");
        nb::object seen = nb::inst_alloc(nb::type<DeviceArray>());
        new (nb::inst_ptr<DeviceArray>(seen)) DeviceArray(device_view(a));
        nb::inst_mark_ready(seen);
        return PyObject_GetBuffer(seen.ptr(), out, flags);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_BufferError, error.what());
    }
    return -1;
}

// `x.shape = ...`: the same elements in C order, without a copy.
void set_shape_in_place(NumericArray& a, nb::handle shape) {
    const nb::tuple lengths = nb::isinstance<nb::int_>(shape) ? nb::make_tuple(shape) : nb::tuple(shape);
    Lengths wanted;
    std::int64_t known = 1;
    int unknown = -1;
    for (const nb::handle n : lengths) {
        wanted.push_back(nb::cast<std::int64_t>(n));
        if (wanted.back() < 0) {
            if (unknown >= 0) wrong("ValueError", "can only specify one unknown dimension");
            unknown = static_cast<int>(wanted.size()) - 1;
        } else {
            known *= wanted.back();
        }
    }
    if (unknown >= 0 && known > 0) wanted[static_cast<std::size_t>(unknown)] = a.view.size() / known;
    std::int64_t size = 1;
    for (const std::int64_t n : wanted) size *= n;
    if (size != a.view.size())
        wrong("ValueError", fmt::format("cannot reshape array of size {} into shape {}", a.view.size(),
                                        arrays::shown(shape_of(wanted))));
    const auto view = arrays::reshape(a.view, shape_of(wanted));
    if (!view)
        wrong("AttributeError", "the array has no view of that shape", "x.reshape(...) makes a copy of it");
    a.view = *view;
}

}  // namespace

NumericArray* numeric_array(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    if (type == numeric_class || (numeric_class && PyType_IsSubtype(type, numeric_class)))
        return nb::inst_ptr<NumericArray>(object);
    return nullptr;
}

nb::object numeric_object(ValueP value, const View& view, bool readonly) {
    nb::object made = nb::inst_alloc(reinterpret_cast<PyObject*>(numeric_class));
    auto* array = new (nb::inst_ptr<NumericArray>(made)) NumericArray(std::move(value), view);
    array->readonly = readonly;
    nb::inst_mark_ready(made);
    return made;
}

nb::object numeric_result(const ValueP& value) {
    nb::object made = numeric_object(value, value->layout);
    nb::inst_ptr<NumericArray>(made)->scalar = value->layout.ndim == 0;
    return made;
}

namespace {

arrays::Site site_of(const LaunchSite& at) {
    if (!at.code.is_valid()) return {};
    return {std::shared_ptr<void>(nb::object(at.code).release().ptr(),
                                  [](void* code) {
                                      if (PyGILState_Check()) [[likely]]
                                          return Py_DECREF(static_cast<PyObject*>(code));
                                      if (!Py_IsInitialized()) return;
                                      const Held gil;
                                      Py_DECREF(static_cast<PyObject*>(code));
                                  }),
            at.instruction};
}

}  // namespace

ValueP viewed(const NumericArray& a) {
    if (!a.scalar) return a.value;
    return applied(arrays::cast_loop(a.value->dtype, a.value->dtype), {a.operand()}, nullptr);
}

nb::object numeric_over(const DeviceArray& a) {
    if (a.view.dtype > DType::c128)  // float8 and times: codes from there on are Python's numbers
        wrong("TypeError", "numeric has no arrays of " + std::string(info(a.view.dtype).name),
              "copy_to_host() gives NumPy's array");
    View view;
    view.ndim = a.view.ndim;
    for (std::size_t i = 0; i < static_cast<std::size_t>(view.ndim); ++i) {
        view.lengths[i] = a.view.lengths[i];
        view.strides[i] = a.view.strides[i];
    }
    if (a.view.layout == ir::Layout::bytes) wrong("ValueError", "the array's elements are not aligned");
    const ValueP value = arrays::in_memory(a.buffer, static_cast<char*>(a.view.address), a.view.dtype, view);
    value->readonly = a.view.readonly;
    value->site = site_of(a.made);
    return numeric_object(value, value->layout, a.view.readonly);
}

arrays::Site site_here() { return site_of(LaunchSite::here()); }

arrays::Queue queue_on(const std::shared_ptr<device::Device>& device) {
    arrays::Queue queue{device, stream_on(device), {}};
    const bool runs_inline = !queue.stream && device->host_accessible();
    queue.launched = [runs_inline, device, stream = queue.stream](launch::Started started) {
        if (!started.timing) return;
        if (runs_inline && started.timing->done.load(std::memory_order_acquire)) {
            if (const auto error = started.error()) [[unlikely]]
                throw *error;
            return;
        }
        auto work = make_recycled<InFlight>();
        work->device = device;
        work->stream = stream;
        work->started = std::move(started);
        in_flight(std::move(work));
    };
    return queue;
}

void flush_all() {
    const std::vector<ValueP> all = arrays::held_pending();
    std::vector<ValueP> here;
    std::vector<bool> done(all.size(), false);
    for (std::size_t i = 0; i < all.size(); ++i) {  // one device after the other
        if (done[i]) continue;
        here.clear();
        for (std::size_t k = i; k < all.size(); ++k)
            if (!done[k] && all[k]->device == all[i]->device) {
                here.push_back(all[k]);
                done[k] = true;
            }
        arrays::compute(here, queue_on(all[i]->device));
    }
}

void ready(NumericArray& array) {
    if (!array.value->pending()) return;
    try {
        flush_all();
    } catch (const Error&) {  // of another value, perhaps
        if (array.value->pending())
            arrays::compute(std::span(&array.value, 1), queue_on(array.value->device));
    }
}

void expose(NumericArray& array) {
    ready(array);
    const std::vector<ValueP> readers = arrays::pending_readers(*array.value);
    if (!readers.empty()) arrays::compute(readers, queue_on(array.value->device));
}

ValueP applied(const arrays::Loop& loop, std::vector<Operand> operands, const View* like) {
    const Operand* first = nullptr;
    bool shared = false;
    for (const Operand& o : operands) {
        if (!o.value) continue;
        if (!first) first = &o;
        shared |= o.value->shared();
        if (o.value->device != first->value->device)
            wrong("ValueError", fmt::format("the arrays live on different devices: {} and {}",
                                            launch::device_label(first->value->device->info()),
                                            launch::device_label(o.value->device->info())));
    }
    if (!first) throw std::logic_error("a loop over numbers alone");
    const auto device = first->value->device;
    const View shape = first->view;
    if (!stream_on(device))
        if (ValueP made = arrays::applied_small(device, loop, operands, shape.shape(), like)) return made;
    const ValueP made = arrays::apply(device, loop, std::move(operands), shape.shape(), like, site_here());
    if (shared || made->depth > most_depth) [[unlikely]]
        arrays::compute(std::span(&made, 1), queue_on(device));
    else if (arrays::pending_count() > most_pending) [[unlikely]]
        flush_all();
    return made;
}

bool take(NumericArray& array, const ValueP& from) {
    arrays::Value& old = *array.value;
    const bool alone =
        old.arrays == 1 && array.whole() && !old.shared() && old.relatives() == 1 && !old.readonly;
    if (!alone || !from || from->layout != old.layout || from->dtype != old.dtype) return false;
    const ValueP keeps = array.value;
    arrays::hold(from);
    arrays::let_go(old);
    array.value = from;
    return true;
}

void assign(NumericArray& array, const Operand& from) {
    if (array.readonly) wrong("ValueError", "output array is read-only");
    if (from.value && from.value->arrays == 0 && take(array, from.value)) return;
    assign_view(array, array.view, from);
}

void assign_view(NumericArray& array, const View& view, Operand from, bool dies) {
    if (array.readonly) wrong("ValueError", "assignment destination is read-only");
    if (from.value) {
        View trimmed = from.view;  // leading axes of length 1 are no matter
        int extra = 0;
        while (extra < trimmed.ndim - view.ndim && trimmed.lengths[static_cast<std::size_t>(extra)] == 1)
            ++extra;
        for (int i = 0; extra > 0 && i + extra < trimmed.ndim; ++i) {
            trimmed.lengths[static_cast<std::size_t>(i)] =
                trimmed.lengths[static_cast<std::size_t>(i + extra)];
            trimmed.strides[static_cast<std::size_t>(i)] =
                trimmed.strides[static_cast<std::size_t>(i + extra)];
        }
        trimmed.ndim -= extra;
        const auto fitted = arrays::broadcast_to(trimmed, view.shape());
        if (!fitted)
            wrong("ValueError", fmt::format("could not broadcast input array from shape {} into shape {}",
                                            arrays::shown(from.view.shape()), arrays::shown(view.shape())));
        from.view = *fitted;
        if (from.value->device != array.value->device)
            wrong("ValueError", "the arrays live on different devices");
    }
    // What `a[k] += b` ends with: the view, which has been written to, is put where it is.
    if (from.value == array.value && from.view == view) return;
    const arrays::Queue queue = queue_on(array.value->device);
    std::vector<ValueP> first = arrays::pending_readers(*array.value);
    // The source's own chain may read the memory; it is written by the same kernel.
    const int holders = dies ? 1 : 0;
    std::erase_if(first, [&](const ValueP& v) { return v == from.value && v->arrays <= holders; });
    if (array.value->pending()) first.push_back(array.value);
    if (!first.empty()) arrays::compute(first, queue);
    arrays::store(*array.value, view, from, site_here(), queue, dies);
}

void bind_numeric(nb::module_& module) {
    module.def("numeric_among", [](nb::list objects) {
        nb::list out;
        for (nb::handle o : objects)
            if (nb::isinstance<NumericArray>(o) && nb::inst_ready(o)) out.append(o);
        return out;
    });
    static std::vector<PyType_Slot> slots;
    const auto operators = numeric_operator_slots();
    slots = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}};
    slots.insert(slots.end(), operators.begin(), operators.end());
    nb::class_<NumericArray>(module, "NumericBase", nb::type_slots(slots.data()), nb::is_weak_referenceable())
        .def_prop_rw(
            "shape", [](const NumericArray& a) { return as_tuple(a.view.lengths.data(), a.view.ndim); },
            &set_shape_in_place)
        .def_prop_ro(
            "strides",
            [](const NumericArray& a) { return as_tuple(a.view.strides.data(), a.view.ndim, itemsize(a)); })
        .def_prop_ro("dtype",
                     [](const NumericArray& a) {
                         const auto place = static_cast<std::size_t>(a.value->dtype);
                         if (!dtypes[place])
                             dtypes[place] = nb::handle(numpy_dtype_of)(place).release().ptr();
                         return nb::borrow(dtypes[place]);
                     })
        .def_prop_ro("ndim", [](const NumericArray& a) { return a.view.ndim; })
        .def_prop_ro("size", [](const NumericArray& a) { return a.view.size(); })
        .def_prop_ro("itemsize", &itemsize)
        .def_prop_ro("nbytes", [](const NumericArray& a) { return a.view.size() * itemsize(a); })
        .def_prop_ro("_pending", [](const NumericArray& a) { return a.value->pending(); })
        .def_prop_ro("_c_contiguous", [](const NumericArray& a) { return arrays::is_c_contiguous(a.view); })
        .def_prop_ro("_f_contiguous", [](const NumericArray& a) { return arrays::is_f_contiguous(a.view); })
        .def_prop_ro("_owns", [](const NumericArray& a) { return a.whole() && !a.value->seen; })
        .def_prop_rw(
            "_readonly", [](const NumericArray& a) { return a.readonly; },
            [](NumericArray& a, bool readonly) { a.readonly = readonly; })
        .def_rw("_scalar", &NumericArray::scalar)
        .def_prop_ro("_device_label",
                     [](const NumericArray& a) { return launch::device_label(a.value->device->info()); })
        .def_prop_ro("_host_accessible",
                     [](const NumericArray& a) { return a.value->device->host_accessible(); })
        .def_prop_ro("_memory",
                     [](const NumericArray& a) {  // as of a device array; nothing while it is pending
                         const launch::Buffer* buffer = a.value->buffer.get();
                         nb::object made = nb::none();
                         if (a.value->site.code) {
                             const Place place = place_of(a.value->site);
                             made = nb::make_tuple(place.file, place.line);
                         }
                         return nb::make_tuple(reinterpret_cast<std::uintptr_t>(buffer),
                                               buffer ? buffer->bytes() : 0, made, nb::none());
                     })
        .def("_same_memory", [](const NumericArray& a, const NumericArray& b) { return a.value == b.value; })
        .def("_memory_of",
             [](const NumericArray& a) { return reinterpret_cast<std::uintptr_t>(a.value.get()); })
        .def("_into",
             [](NumericArray& a, nb::handle device_array_class) {
                 const DeviceArray made = device_view(a);
                 nb::object out = nb::inst_alloc(device_array_class);
                 new (nb::inst_ptr<DeviceArray>(out)) DeviceArray(made);
                 nb::inst_mark_ready(out);
                 return out;
             })
        .def("_expose_for_good",
             [](NumericArray& a) {
                 expose(a);
                 a.value->exposed = true;
                 if (a.value->family) a.value->family->exposed = true;
             })
        .def("_compute", [](NumericArray& a) { ready(a); })
        .def("_join", &join_along)
        .def("_mark_ramp",  // its elements are 0, 1, 2..., and nobody else has it
             [](NumericArray& a) {
                 ready(a);
                 a.value->ramp = a.value->dtype == DType::i64;
             })
        .def("_copied",  // with its axes in this order of memory, slowest first; none named: C order
             [](const NumericArray& a, const std::vector<int>& order) {
                 const View lies = packed(a.view.shape(), order);
                 const DType dtype = a.value->dtype;
                 const ValueP made =
                     applied(*arrays::find_loop("copy", {&dtype, 1}, dtype), {a.operand()}, &lies);
                 return numeric_object(made, made->layout);
             })
        .def("_order",  // its axes, slowest first, as a ufunc's result has them
             [](const NumericArray& a) {
                 const View* const view = &a.view;
                 std::array<int, arrays::max_axes> order;
                 const std::span axes(order.data(), static_cast<std::size_t>(a.view.ndim));
                 arrays::memory_order(a.view.shape(), {&view, 1}, axes);
                 return std::vector<int>(axes.begin(), axes.end());
             })
        .def("_one", [](NumericArray& a) { return one_element(a, a.view.offset); })
        .def("_view", &view_of, nb::arg("offset"), nb::arg("lengths"), nb::arg("strides"))
        .def("_seen", &seen_array, nb::arg("offset"), nb::arg("lengths"), nb::arg("strides"),
             nb::arg("dtype"))
        .def("_reshaped",
             [](const NumericArray& a, const Lengths& shape) -> nb::object {  // None: it takes a copy
                 const auto view = arrays::reshape(a.view, shape_of(shape));
                 return view ? numeric_object(viewed(a), *view, a.readonly) : nb::none();
             })
        .def("_broadcast",
             [](const NumericArray& a, const Lengths& shape) -> nb::object {
                 const auto view = arrays::broadcast_to(a.view, shape_of(shape));
                 return view ? numeric_object(viewed(a), *view, true) : nb::none();
             })
        .def("_fold", &fold_array)
        .def("_assign", [](NumericArray& a, nb::handle from) {
            Operand o;
            int code = 0;
            if (!read_operand(from.ptr(), o, code)) return false;
            if (code >= weak_int && !convert_number(from.ptr(), a.value->dtype, o)) return false;
            if (o.value && std::ranges::equal(o.view.shape(), a.view.shape())) {
                const View layout = a.value->layout;
                const ValueP fresh = applied(arrays::cast_loop(o.value->dtype, a.value->dtype), {o},
                                             a.whole() ? &layout : nullptr);
                assign(a, {fresh, fresh->layout, fresh->dtype});
            } else {
                assign_view(a, a.view, std::move(o));
            }
            return true;
        });
    module.def("numeric_from_device", [](const DeviceArray& a) { return numeric_over(a); });
    // Every element a number, which is not in memory until somebody needs it.
    module.def(
        "numeric_full",
        [](const Lengths& shape, const std::string& dtype, nb::handle value, bool fortran) -> nb::object {
            const DType d = dtype_named(dtype);
            Operand number;
            if (PyFloat_Check(value.ptr()) && is_integer(d)) return nb::none();
            if (!convert_number(value.ptr(), d, number)) return nb::none();
            expect_addressable(shape, d);
            View layout = arrays::dense(shape_of(shape));
            if (fortran) {
                std::array<int, arrays::max_axes> order;
                for (std::size_t i = 0; i < shape.size(); ++i)
                    order[i] = static_cast<int>(shape.size() - 1 - i);
                layout = arrays::dense_in_order(layout.shape(), std::span(order.data(), shape.size()));
            }
            const ValueP made = arrays::apply(current_device(), arrays::cast_loop(d, d), {number},
                                              layout.shape(), &layout, site_here());
            return numeric_object(made, made->layout);
        });
    module.def("numeric_empty", [](const Lengths& shape, const std::string& dtype,
                                   const std::vector<int>& order) {  // of its axes, as `_copied` has it
        const DType d = dtype_named(dtype);
        expect_addressable(shape, d);
        const View layout = packed(shape_of(shape), order);
        const auto& device = current_device();
        const ValueP made = arrays::allocated(device, d, layout, stream_on(device));
        return numeric_object(made, made->layout);
    });
    module.def("numeric_flush", &flush_all);
    module.def("numeric_counts", [] {
        const arrays::Counts c = arrays::counts();
        return nb::make_tuple(c.launches, c.structures, arrays::held_pending().size(), arrays::small_count());
    });
    module.def("set_numeric_class", [](nb::type_object type, nb::object dtype_of) {
        numpy_dtype_of = dtype_of.release().ptr();
        numeric_class = reinterpret_cast<PyTypeObject*>(type.release().ptr());
        refuse_concat(numeric_class);
        arrays::set_place_of(&place_of);
        set_numeric_reader([](PyObject* object) -> std::optional<DeviceArray> {
            NumericArray* a = numeric_array(object);
            if (!a) return std::nullopt;
            return device_view(*a);
        });
    });
    bind_numeric_operators(module);
    bind_numeric_capture(module);
    bind_numeric_direct(module);
    bind_numeric_choices(module);
}

}  // namespace xcuda::python
