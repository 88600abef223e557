#include "_runtime_argument.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "_runtime_again.hpp"
#include "_runtime_dtype.hpp"
#include "_runtime_error.hpp"
#include "_runtime_foreign.hpp"
#include "python/waiting.hpp"

namespace xcuda::python {
namespace {

// How objects of a type are read, decided once a type. The types are kept for ever, so that no address comes back.
enum class How : std::uint8_t { buffer, numpy_scalar, numpy_bits, dlpack, cuda, array, structured, refused };

bool derives(PyTypeObject* type, const char* full_name) {
    PyObject* order = type->tp_mro;
    for (Py_ssize_t i = 0; order && i < PyTuple_GET_SIZE(order); ++i)
        if (std::strcmp(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, i))->tp_name, full_name) == 0)
            return true;
    return false;
}

// What structured.py takes apart, or takes as fixed: strings, functions, types, dtypes, dataclasses, enums' members.
bool is_structured(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    const nb::handle of(reinterpret_cast<PyObject*>(type));
    return PyUnicode_Check(object) || PyFunction_Check(object) || PyCFunction_Check(object) ||
           derives(type, "numpy.ufunc") || PyType_Check(object) || derives(type, "numpy.dtype") ||
           derives(type, "Enum") || nb::hasattr(of, "__dataclass_fields__") ||
           nb::hasattr(of, "mangling_args");  // a type of a signature, xcuda's or numba's
}

// NumPy scalars that export no format: ml_dtypes' and times.
bool has_no_format(PyObject* scalar) {
    static constexpr std::string_view names[] = {"bfloat16",       "float8_e4m3fn", "float8_e5m2",
                                                 "float8_e8m0fnu", "datetime64",    "timedelta64"};
    return std::find(std::begin(names), std::end(names), type_name(scalar)) != std::end(names);
}

How how_to_read(PyObject* object) {
    static auto& known = *new std::unordered_map<PyTypeObject*, How>;
    PyTypeObject* type = Py_TYPE(object);
    if (const auto at = known.find(type); at != known.end()) return at->second;
    How how = How::refused;
    const nb::handle h(object);
    if (PyType_Check(object) || derives(type, "numpy.void") || nb::hasattr(h, "__xcuda_records__"))
        how = How::structured;
    else if (derives(type, "numpy.generic"))
        how = has_no_format(object) ? How::numpy_bits : How::numpy_scalar;
    else if (PyObject_CheckBuffer(object))
        how = How::buffer;
    else if (has_streamed_interface(object))
        how = How::cuda;
    else if (nb::hasattr(h, "__dlpack__"))
        how = How::dlpack;
    else if (nb::hasattr(h, "__cuda_array_interface__"))
        how = How::cuda;
    else if (!PyUnicode_Check(object) && nb::hasattr(h, "__array__"))
        how = How::array;
    const bool flags = PyLong_Check(object) && derives(type, "Flag");
    if (how == How::refused && !flags && is_structured(object)) how = How::structured;
    Py_INCREF(type);
    known.emplace(type, how);
    return how;
}

// A member of an IntEnum: fixed, so that it has a name and a value. Flags are numbers: they are too many.
bool is_number_of_enum(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && (PyLong_Check(object) || PyFloat_Check(object)) &&
           how_to_read(object) == How::structured;
}

bool has_fields(PyObject* array) {
    const nb::object dtype = nb::getattr(nb::handle(array), "dtype", nb::none());
    return !nb::object(nb::getattr(dtype, "names", nb::none())).is_none();
}

bool is_record(const char* format) { return format && std::strncmp(format, "T{", 2) == 0; }

std::uint64_t zero_extended(const void* from, std::size_t size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, size);
    return bits;
}

}  // namespace

bool is_array_argument(PyObject* object) {
    if (PyTuple_Check(object) || object == Py_None || PyBool_Check(object) || PyLong_Check(object) ||
        PyFloat_Check(object) || PyComplex_Check(object))
        return false;
    if (device_array(object)) return true;
    const How how = how_to_read(object);
    return how == How::buffer || how == How::dlpack || how == How::cuda || how == How::array;
}

void Arguments::clear() noexcept {
    for (Item& item : items_) {
        if (item.has_view) PyBuffer_Release(&item.view);
        if (item.drop) item.drop(item.dropped);
        Py_XDECREF(item.given);
        Py_XDECREF(item.stand_in);
    }
    items_.clear();
    values_.clear();
    staged_.clear();
    foreign_streams_.clear();
    expected_device_ = nullptr;
    device_ = nullptr;
    foreign_device_.reset();
    host_arrays_ = foreign_arrays_ = false;
}

// What structured.py reads instead.
bool Arguments::leave() {
    Item& item = items_.back();
    if (item.has_view) PyBuffer_Release(&item.view);
    Py_XDECREF(item.given);
    Py_XDECREF(item.stand_in);
    items_.pop_back();
    values_.pop_back();
    return false;
}

// Of an object that holds arrays, the first of them, as one that may be passed: "; pass what it holds, such as m.w".
static std::string held_array(PyObject* object, const std::string& name) {
    PyObject** dict = _PyObject_GetDictPtr(object);
    if (!dict || !*dict || !PyDict_Check(*dict)) return "";
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(*dict, &at, &key, &value);)
        if (PyUnicode_Check(key) && PyObject_CheckBuffer(value) && !PyBytes_Check(value))
            return fmt::format("; pass what it holds, such as {}.{}", name, PyUnicode_AsUTF8(key));
    return "";
}

bool Arguments::read(PyObject* object, const std::string& name) {
    if (PyTuple_Check(object) || object == Py_None) return false;
    Item& item = items_.emplace_back();
    item.given = Py_NewRef(object);
    if (DeviceArray* array = device_array(object)) {
        if (array->key == 0) array->key = launch::key(array->view);
        values_.emplace_back(array->view).known_key = array->key;
        item.buffer = array->buffer.get();
        take_device(array->buffer->device(), name);
        return true;
    }
    if (const auto array = numeric_as_device(object)) {
        values_.push_back(array->view);
        item.held = array->buffer;
        item.buffer = item.held.get();
        take_device(item.buffer->device(), name);
        return true;
    }
    launch::Argument& value = values_.emplace_back();
    if (is_number_of_enum(object)) [[unlikely]]
        return leave();
    if (read_scalar(value, object, name)) return true;
    value.is_array = true;
    switch (how_to_read(object)) {
        case How::buffer:
            if (!read_view(item, value, object, name)) return leave();
            break;
        case How::dlpack: read_foreign(item, value, object, name, true); break;
        case How::array: read_stand_in(item, value, object, name); break;
        case How::cuda:
            if (!read_foreign(item, value, object, name, false))  // other objects of its type had it
                wrong("TypeError", fmt::format("'{}' ({}) has no array interface", name, type_name(object)),
                      "kernels take arrays and numbers");
            break;
        case How::structured: return leave();
        default: {
            const std::string hint = PyList_Check(object) || PyTuple_Check(object)
                                         ? "numpy.asarray(...) makes an array of it"
                                         : "kernels take arrays and numbers" + held_array(object, name);
            wrong(
                "TypeError",
                fmt::format("'{}' is {} {}", name,
                            std::strchr("aeiouAEIOU", type_name(object)[0]) ? "an" : "a", type_name(object)),
                hint);
        }
    }
    return true;
}

bool Arguments::read_scalar(launch::Argument& value, PyObject* object, const std::string& name) {
    value.is_array = false;
    value.weak = true;
    if (PyFloat_CheckExact(object)) {
        value.dtype = DType::f64;
        value.bits = std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(object));
        return true;
    }
    if (PyBool_Check(object)) {
        value.dtype = DType::b1;
        value.bits = object == Py_True;
        return true;
    }
    if (PyLong_Check(object)) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow == 0) {
            if (number == -1 && PyErr_Occurred()) throw nb::python_error();
            value.dtype = DType::i64;
            value.bits = static_cast<std::uint64_t>(number);
            return true;
        }
        const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
        if (overflow < 0 || PyErr_Occurred()) {
            PyErr_Clear();
            wrong("OverflowError", fmt::format("'{}' is an int that does not fit into 64 bits", name));
        }
        value.dtype = DType::u64;
        value.bits = large;
        return true;
    }
    if (PyComplex_CheckExact(object)) {
        value.dtype = DType::c128;
        value.bits = std::bit_cast<std::uint64_t>(PyComplex_RealAsDouble(object));
        value.more_bits = std::bit_cast<std::uint64_t>(PyComplex_ImagAsDouble(object));
        return true;
    }
    if (how_to_read(object) == How::numpy_bits) {
        const nb::object read =
            nb::module_::import_("xcuda.core.dtypes").attr("scalar_bits")(nb::handle(object));
        value.dtype = dtype_named(nb::cast<std::string>(nb::object(read[0])));
        value.bits = nb::cast<std::uint64_t>(nb::object(read[1]));
        value.weak = false;
        return true;
    }
    if (how_to_read(object) == How::numpy_scalar) {
        Py_buffer view;
        const bool text = PyBytes_Check(object) || PyUnicode_Check(object);  // their bytes are no number
        if (text || PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
            PyErr_Clear();
            wrong("TypeError",
                  fmt::format("'{}' is a NumPy {}, which kernels don't take", name, type_name(object)));
        }
        const Format format = from_format(view.format, static_cast<std::size_t>(view.itemsize));
        if (format.dtype && view.len <= 8)
            value.bits = zero_extended(view.buf, static_cast<std::size_t>(view.len));
        if (format.dtype && view.len == 16) {
            value.bits = zero_extended(view.buf, 8);
            value.more_bits = zero_extended(static_cast<const char*>(view.buf) + 8, 8);
        }
        PyBuffer_Release(&view);
        if (!format.dtype)
            wrong("TypeError",
                  fmt::format("'{}' is a NumPy {}, which kernels don't take", name, type_name(object)));
        value.weak = false;
        value.dtype = *format.dtype;
        return true;
    }
    if (PyFloat_Check(object)) {
        value.dtype = DType::f64;
        value.bits = std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(object));
        return true;
    }
    value.weak = false;
    return false;
}

bool Arguments::read_view(Item& item, launch::Argument& value, PyObject* object, const std::string& name) {
    if (PyObject_GetBuffer(object, &item.view, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        // JAX's arrays have a buffer where they are on the host.
        if (!PyObject_TypeCheck(object, &PyMemoryView_Type) &&
            nb::hasattr(nb::handle(object), "__cuda_array_interface__")) {
            read_foreign(item, value, object, name, true);
            return true;
        }
        // datetime64, object and the like: NumPy has no PEP 3118 name for them
        if (has_fields(object)) return false;
        read_stand_in(item, value, object, name);
        return true;
    }
    item.has_view = true;
    const Py_buffer& view = item.view;
    const Format format = from_format(view.format, static_cast<std::size_t>(view.itemsize));
    if (is_record(view.format)) return false;
    if (!format.dtype || format.swapped) {
        read_stand_in(item, value, object, name);
        return true;
    }
    if (view.ndim > launch::max_ndim)
        wrong("ValueError", fmt::format("'{}' has {} dimensions; kernels take arrays of at most {}", name,
                                        view.ndim, launch::max_ndim));
    const auto size = view.itemsize;
    bool aligned = reinterpret_cast<std::uintptr_t>(view.buf) % static_cast<std::size_t>(size) == 0;
    for (int i = 0; i < view.ndim && aligned; ++i)
        aligned = view.shape[i] <= 1 || !view.strides || view.strides[i] % size == 0;
    const Py_ssize_t unit = aligned ? size : 1;
    value.dtype = *format.dtype;
    value.ndim = static_cast<std::int8_t>(view.ndim);
    value.address = view.buf;
    value.readonly = view.readonly != 0;
    std::int64_t c_stride = size / unit;  // ctypes tells no strides, whatever is asked for
    for (int i = view.ndim; i-- > 0;) {
        value.lengths[i] = view.shape[i];
        value.strides[i] = view.strides ? view.strides[i] / unit : c_stride;
        c_stride *= view.shape[i];
    }
    value.layout = aligned ? launch::layout_of(value.ndim, value.lengths.data(), value.strides.data())
                           : ir::Layout::bytes;
    host_arrays_ = true;
    return true;
}

bool Arguments::read_foreign(Item& item, launch::Argument& value, PyObject* object, const std::string& name,
                             bool dlpack) {
    static const std::shared_ptr<device::Device> unknown;
    Foreign found;
    const auto keep = [&] {  // also where it is refused
        item.drop = found.drop;
        item.dropped = found.dropped;
    };
    try {
        if (dlpack)
            read_dlpack(found, object, name, expected_device_ ? *expected_device_ : unknown,
                        expected_stream_);
        else if (!read_cuda_interface(found, object, name))
            return nb::hasattr(nb::handle(object), "__dlpack__") &&
                   read_foreign(item, value, object, name, true);
    } catch (...) {
        keep();
        throw;
    }
    keep();
    value = found.view;
    item.why_readonly = found.why_readonly;
    if (!found.device) {
        host_arrays_ = true;
        return true;
    }
    item.on_device = foreign_arrays_ = true;
    if (!foreign_device_) foreign_device_ = found.device;
    take_device(foreign_device_ == found.device ? foreign_device_ : found.device, name);
    if (found.stream &&
        std::find(foreign_streams_.begin(), foreign_streams_.end(), *found.stream) == foreign_streams_.end())
        foreign_streams_.push_back(*found.stream);
    return true;
}

void Arguments::take_address(std::size_t i, DType dtype) {
    launch::Argument& value = values_[i];
    value.is_array = true;
    value.weak = false;
    value.dtype = dtype;
    value.ndim = 1;
    value.layout = ir::Layout::contiguous;
    value.address = reinterpret_cast<void*>(value.bits);
    value.lengths[0] = (std::int64_t{1} << 62) / static_cast<std::int64_t>(info(dtype).size);
    value.strides[0] = 1;
    items_[i].on_device = true;  // where the caller says: nothing is copied
}

void Arguments::take_device(const std::shared_ptr<device::Device>& device, const std::string& name) {
    if (!device_)
        device_ = &device;
    else if (*device_ != device)
        wrong("ValueError",
              fmt::format("'{}' lives on {}, other arguments on {}", name, device->info().name,
                          (*device_)->info().name),
              "copy them to one device");
}

void Arguments::wait_for_others(device::Device& device, device::Stream* stream) const {
    const std::uintptr_t ours = device.handle(stream);
    for (const std::uintptr_t theirs : foreign_streams_) device.order(theirs, ours);
}

void Arguments::let_others_wait(device::Device& device, device::Stream* stream) const {
    const std::uintptr_t ours = device.handle(stream);
    for (const std::uintptr_t theirs : foreign_streams_) device.order(ours, theirs);
}

// What a kernel can't address as it lies works through a copy that Python makes.
void Arguments::read_stand_in(Item& item, launch::Argument& value, PyObject* object,
                              const std::string& name) {
    if (item.has_view) PyBuffer_Release(&item.view);
    item.has_view = false;
    if (item.stand_in) throw bug("a stand-in array is not addressable");
    const nb::object made =
        nb::module_::import_("xcuda.core._arguments").attr("stand_in")(nb::handle(object), name.c_str());
    item.stand_in = nb::object(made[0]).release().ptr();
    const bool comes_back = nb::cast<bool>(made[1]);
    read_view(item, value, item.stand_in, name);
    if (!nb::object(made[2]).is_none())  // the array is one of their bits
        value.dtype = dtype_named(nb::cast<std::string>(made[2]));
    value.readonly = !comes_back;
    item.why_readonly = comes_back ? "" : "it can only be read (through __array__)";
}

bool Arguments::stay_in_place() const {
    return std::none_of(items_.begin(), items_.end(), [](const Item& item) { return item.stand_in; });
}

void Arguments::used_on(const std::shared_ptr<device::Stream>& stream) {
    for (const Item& item : items_)
        if (item.buffer) item.buffer->used_on(stream);
}

void Arguments::stage(const std::shared_ptr<device::Device>& device,
                      const std::shared_ptr<device::Stream>& stream) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < values_.size(); ++i)
        if (on_host(i)) order.push_back(i);
    const auto begin_of = [this](std::size_t i) {
        return const_cast<char*>(launch::extent(values_[i]).begin);
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return begin_of(a) < begin_of(b); });
    for (const std::size_t i : order) {
        const launch::Extent e = launch::extent(values_[i]);
        auto* begin = const_cast<char*>(e.begin);
        auto* end = const_cast<char*>(e.end);
        if (!staged_.empty() && begin < staged_.back().end) {
            staged_.back().end = std::max(staged_.back().end, end);
            staged_.back().members.push_back(i);
        } else {
            staged_.push_back({nullptr, begin, end, nullptr, {i}});
        }
    }
    for (Staged& s : staged_) {
        // The place within a 64-byte line is kept: what was aligned stays so.
        const auto bytes = static_cast<std::size_t>(s.end - s.begin);
        const std::size_t lead = reinterpret_cast<std::uintptr_t>(s.begin) % 64;
        s.buffer = std::make_shared<launch::Buffer>(device, bytes + lead, stream);
        s.copy = static_cast<char*>(s.buffer->address()) + lead;
        {
            const double before = last_copy(s);
            const Waiting waiting;  // for the stream, it may be
            launch::copy_in(*device, s.copy, s.begin, bytes, stream.get(), before);
        }
        for (const std::size_t i : s.members)
            values_[i].address = s.copy + (static_cast<char*>(values_[i].address) - s.begin);
    }
}

double Arguments::last_copy(const Staged& s) const {
    double first = std::numeric_limits<double>::infinity();
    for (const std::size_t i : s.members)
        first = std::min(first, items_[i].stand_in ? 0.0 : noted_before(items_[i].given));
    return first;
}

void Arguments::unstage(const std::vector<bool>& written, const std::shared_ptr<device::Stream>& stream) {
    for (const Staged& s : staged_) {
        std::vector<launch::Extent> runs;  // members are in order of their begins
        for (const std::size_t i : s.members) {
            if (!written[i]) continue;
            const launch::Extent e = launch::extent(values_[i]);
            if (!runs.empty() && e.begin <= runs.back().end)  // fields of the same records go in one copy
                runs.back().end = std::max(runs.back().end, e.end);
            else
                runs.push_back(e);
        }
        for (const launch::Extent& e : runs) {
            const Waiting waiting;  // for the stream
            launch::copy_out(*s.buffer->device(), s.begin + (e.begin - s.copy), e.begin,
                             static_cast<std::size_t>(e.end - e.begin), stream.get());
        }
    }
}

void Arguments::write_back(const std::vector<bool>& written) {
    for (std::size_t i = 0; i < items_.size(); ++i)
        if (items_[i].stand_in && written[i])
            nb::module_::import_("xcuda.core._arguments")
                .attr("write_back")(nb::handle(items_[i].given), nb::handle(items_[i].stand_in));
}

}  // namespace xcuda::python
