#include "_runtime_foreign.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "_runtime_dlpack.hpp"
#include "_runtime_dtype.hpp"
#include "_runtime_error.hpp"

namespace xcuda::python {
namespace {

std::string told(PyObject* object, const std::string& name) {
    return fmt::format("'{}' ({})", name, type_name(object));
}

PyObject* interned(const char* text) {
    PyObject* made = PyUnicode_InternFromString(text);
    if (!made) throw nb::python_error();
    return made;
}

/// The attribute, invalid where there is none; an object may have it for arrays on a GPU only.
nb::object attribute(PyObject* object, PyObject* name) {
    PyObject* found = PyObject_GetAttr(object, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    else if (!found)
        throw nb::python_error();
    return nb::steal(found);
}

nb::object cuda_interface(PyObject* object) {
    static PyObject* const name = interned("__cuda_array_interface__");
    return attribute(object, name);
}

PyObject* item(PyObject* dict, const char* key) {  // borrowed; null where absent or None
    PyObject* found = PyDict_GetItemString(dict, key);
    return found == Py_None ? nullptr : found;
}

std::int64_t integer(PyObject* value, const char* what, const std::string& who) {
    const nb::object index = nb::steal(PyNumber_Index(value));
    const long long number = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
    if (PyErr_Occurred()) {
        PyErr_Clear();
        wrong("TypeError", fmt::format("{}: {} in its __cuda_array_interface__ is no int", who, what));
    }
    return number;
}

DType element_type(PyObject* typestr, const std::string& who) {
    const char* text = typestr && PyUnicode_Check(typestr) ? PyUnicode_AsUTF8(typestr) : nullptr;
    if (!text || std::strlen(text) < 3)
        wrong("TypeError", fmt::format("{} tells no element type in its __cuda_array_interface__", who));
    if (text[0] == '>')
        wrong("TypeError", fmt::format("{} has another byte order than the machine ({})", who, text));
    for (const DTypeInfo& d : all_dtypes())
        if (d.typestr.substr(1) == text + 1 && d.typestr[1] != 'V' && !is_float8(d.dtype)) return d.dtype;
    wrong("TypeError", fmt::format("{} has elements of type {}, which kernels don't take", who, text));
}

void check_dimensions(std::int64_t ndim, const std::string& who) {
    if (ndim > launch::max_ndim)
        wrong("ValueError", fmt::format("{} has {} dimensions; kernels take arrays of at most {}", who, ndim,
                                        launch::max_ndim));
}

void check_aligned(const launch::Argument& view, const std::string& who) {
    if (view.elements() > 0 && reinterpret_cast<std::uintptr_t>(view.address) % info(view.dtype).size != 0)
        wrong("ValueError", fmt::format("{} does not begin at a multiple of its element size", who),
              "pass a copy of it");
}

// -- DLPack ----------------------------------------------------------------------------------------

using dlpack::ExchangeApi;

bool of_module(PyTypeObject* type, const char* module) {
    const std::size_t length = std::strlen(module);
    PyObject* order = type->tp_mro;
    for (Py_ssize_t i = 0; order && i < PyTuple_GET_SIZE(order); ++i) {
        auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, i));
        const nb::object name = attribute(reinterpret_cast<PyObject*>(base), interned("__module__"));
        const char* text =
            name.is_valid() && PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
        if (text && std::strncmp(text, module, length) == 0 && (text[length] == '.' || text[length] == 0))
            return true;
    }
    return false;
}

// What is known of a type that speaks DLPack. Types are kept for ever, so that no address comes back.
struct Speaker {
    const ExchangeApi* api = nullptr;
    bool is_torch = false, is_jax = false;
};

const Speaker& speaker(PyTypeObject* type) {
    static auto& known = *new std::unordered_map<PyTypeObject*, Speaker>;
    if (const auto at = known.find(type); at != known.end()) return at->second;
    Speaker made;
    const nb::object capsule =
        attribute(reinterpret_cast<PyObject*>(type), interned("__dlpack_c_exchange_api__"));
    if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) {
        made.api =
            static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
        while (made.api && made.api->header.version.major > 1) made.api = made.api->header.previous;
    }
    made.is_torch = of_module(type, "torch");
    made.is_jax = of_module(type, "jax") || of_module(type, "jaxlib");
    Py_INCREF(type);
    return known.emplace(type, made).first->second;
}

// torch tells its current stream to those who ask; its capsules leave no other way to let it wait for ours.
std::optional<std::uintptr_t> torch_stream(int device) {
    static PyObject* const ask = [] {
        const nb::object torch = nb::module_::import_("torch");
        return nb::object(torch.attr("_C").attr("_cuda_getCurrentRawStream")).release().ptr();
    }();
    return nb::cast<std::uintptr_t>(nb::handle(ask)(device));
}

std::shared_ptr<device::Device> gpu(int ordinal, const std::string& who) {
    for (const auto& d : device::devices())
        if (d->info().kind == "cuda" && d->info().ordinal == ordinal) return d;
    wrong("TypeError", fmt::format("{} lives on a GPU, and this launch runs on the CPU device", who),
          "copy it to the host first");
}

/// Where a tensor lives: null for the host's memory.
std::shared_ptr<device::Device> place(dlpack::Device where, const std::string& who) {
    switch (where.type) {
        case 1:
        case 3: return nullptr;  // host memory, and pinned by CUDA
        case 2:
        case 13: return gpu(where.id, who);  // a GPU's, and managed by CUDA
        default:
            wrong("TypeError",
                  fmt::format("{} lives on a device of another kind (DLPack's type {})", who, where.type),
                  "copy it to the host first");
    }
}

void take_tensor(Foreign& to, const dlpack::Tensor& tensor, const std::string& who) {
    std::optional<DType> dtype;
    for (const DTypeInfo& d : all_dtypes()) {
        if (tensor.dtype.lanes == 1 && tensor.dtype.code == dlpack_code(d.dtype) &&
            tensor.dtype.bits == d.size * 8)
            dtype = d.dtype;
    }
    if (!dtype)
        wrong("TypeError", fmt::format("{} has elements of type {}:{} of DLPack, which kernels don't take",
                                       who, tensor.dtype.code, tensor.dtype.bits));
    check_dimensions(tensor.ndim, who);
    launch::Argument& view = to.view;
    view.is_array = true;
    view.dtype = *dtype;
    view.ndim = static_cast<std::int8_t>(tensor.ndim);
    view.address = static_cast<char*>(tensor.data) + tensor.byte_offset;
    std::int64_t stride = 1;
    for (int i = tensor.ndim; i-- > 0;) {
        view.lengths[i] = tensor.shape[i];
        view.strides[i] = tensor.strides ? tensor.strides[i] : stride;
        stride *= tensor.shape[i];
    }
    view.layout = launch::layout_of(view.ndim, view.lengths.data(), view.strides.data());
    check_aligned(view, who);
}

template <typename Managed>
void drop_managed(void* held) {
    auto* managed = static_cast<Managed*>(held);
    if (managed->deleter) managed->deleter(managed);
}

template <typename Managed>
Managed* take_managed(Foreign& to, Managed* managed) {
    to.dropped = managed;
    to.drop = drop_managed<Managed>;
    return managed;
}

void read_exchange(Foreign& to, PyObject* object, const Speaker& by, const std::string& who) {
    dlpack::Tensor borrowed;  // the caller keeps the object
    const dlpack::Tensor* tensor = &borrowed;
    if (by.api->borrow) {
        if (by.api->borrow(object, &borrowed) != 0) throw nb::python_error();
    } else {
        dlpack::Versioned* managed = nullptr;
        if (by.api->take(object, &managed) != 0) throw nb::python_error();
        tensor = &take_managed(to, managed)->tensor;
        to.view.readonly = (managed->flags & dlpack::read_only) != 0;
    }
    to.device = place(tensor->device, who);
    take_tensor(to, *tensor, who);
    if (!to.device) return;
    void* stream = nullptr;
    if (by.api->current_stream(tensor->device.type, tensor->device.id, &stream) != 0)
        throw nb::python_error();
    to.stream = reinterpret_cast<std::uintptr_t>(stream);
}

nb::object capsule_of(PyObject* object, const nb::object& stream, const std::string& who) {
    const nb::object ask = nb::handle(object).attr("__dlpack__");
    nb::dict wanted;
    if (stream.is_valid()) wanted["stream"] = stream;
    try {
        nb::dict versioned;
        versioned.update(wanted);
        versioned["max_version"] = nb::make_tuple(1, 0);
        return ask(**versioned);
    } catch (nb::python_error& e) {
        if (e.matches(PyExc_BufferError))
            wrong("TypeError", fmt::format("{} can't be passed as it lies: {}", who,
                                           nb::cast<std::string>(nb::str(e.value()))));
        if (!e.matches(PyExc_TypeError)) throw;
        return ask(**wanted);  // a library from before the versions
    }
}

void read_capsule(Foreign& to, PyObject* capsule, const std::string& who) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        auto* v = static_cast<dlpack::Versioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        take_managed(to, v);
        if (v->version.major > 1)
            wrong("TypeError", fmt::format("{} speaks DLPack {}.{}; 1 is understood", who, v->version.major,
                                           v->version.minor));
        to.view.readonly = (v->flags & (dlpack::read_only | dlpack::is_copied)) != 0;
        if ((v->flags & dlpack::is_copied) != 0) to.why_readonly = "its library hands over a copy of it";
        return take_tensor(to, v->tensor, who);
    }
    if (!PyCapsule_IsValid(capsule, "dltensor"))
        wrong("TypeError", fmt::format("{}: its __dlpack__() gives no DLPack capsule", who));
    auto* m = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    PyCapsule_SetName(capsule, "used_dltensor");
    take_tensor(to, take_managed(to, m)->tensor, who);
}

}  // namespace

bool has_streamed_interface(PyObject* object) {
    nb::object told;
    try {
        told = cuda_interface(object);
    } catch (nb::python_error&) {  // torch, of a tensor with a gradient
    }
    if (!told.is_valid() || !PyDict_Check(told.ptr())) return false;
    PyObject* version = item(told.ptr(), "version");
    return version && PyLong_Check(version) && PyLong_AsLong(version) >= 3;
}

bool read_cuda_interface(Foreign& to, PyObject* object, const std::string& name) {
    const nb::object interface = cuda_interface(object);
    if (!interface.is_valid()) return false;
    const std::string who = told(object, name);
    PyObject* told = interface.ptr();
    PyObject *shape = nullptr, *data = nullptr;
    if (PyDict_Check(told)) {
        shape = item(told, "shape");
        data = item(told, "data");
    }
    if (!shape || !PyTuple_Check(shape) || !data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2)
        wrong("TypeError",
              fmt::format("{} has a __cuda_array_interface__ without a tuple 'shape' or 'data'", who));
    if (item(told, "mask"))
        wrong("TypeError", fmt::format("{} has a mask, which kernels don't see", who),
              "fill its masked elements first");
    launch::Argument& view = to.view;
    view.is_array = true;
    view.dtype = element_type(item(told, "typestr"), who);
    check_dimensions(PyTuple_GET_SIZE(shape), who);
    view.ndim = static_cast<std::int8_t>(PyTuple_GET_SIZE(shape));
    view.address = reinterpret_cast<void*>(
        static_cast<std::uintptr_t>(PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(data, 0))));
    if (PyErr_Occurred()) throw nb::python_error();
    const int readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    if (readonly < 0) throw nb::python_error();
    view.readonly = readonly != 0;
    PyObject* strides = item(told, "strides");
    if (strides && (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != view.ndim))
        wrong("TypeError", fmt::format("{} has 'strides' that don't fit its shape", who));
    const auto size = static_cast<std::int64_t>(info(view.dtype).size);
    std::int64_t c_stride = 1;
    for (int i = view.ndim; i-- > 0;) {
        view.lengths[i] = integer(PyTuple_GET_ITEM(shape, i), "a length", who);
        const std::int64_t stride =
            strides ? integer(PyTuple_GET_ITEM(strides, i), "a stride", who) : c_stride * size;
        if (stride % size != 0 && view.lengths[i] > 1)
            wrong("ValueError",
                  fmt::format("{} has a stride of {} bytes, no multiple of its element size", who, stride),
                  "pass a contiguous copy");
        view.strides[i] = stride / size;
        c_stride *= view.lengths[i];
    }
    view.layout = launch::layout_of(view.ndim, view.lengths.data(), view.strides.data());
    check_aligned(view, who);
    if (PyObject* stream = item(told, "stream")) {
        to.stream = static_cast<std::uintptr_t>(integer(stream, "the stream", who));
        if (*to.stream == 0)
            wrong("ValueError", fmt::format("{} names the stream 0, which is ambiguous", who),
                  "its library should give 1 for the legacy default stream, 2 for the thread's own");
    }
    to.device = device::device_of_memory(view.address);
    if (!to.device && view.elements() == 0) {
        for (const auto& d : device::devices())
            if (d->info().kind == "cuda") to.device = d;
    }
    if (!to.device)
        wrong("TypeError",
              fmt::format("'{}' lives on a GPU ({}), and this launch runs on the CPU device", name,
                          type_name(object)),
              "copy it to the host first");
    return true;
}

void read_dlpack(Foreign& to, PyObject* object, const std::string& name,
                 const std::shared_ptr<device::Device>& consumer_device, device::Stream* consumer) {
    const std::string who = told(object, name);
    const Speaker& by = speaker(Py_TYPE(object));
    if (by.api) {
        read_exchange(to, object, by, who);
    } else {
        const nb::object where = nb::handle(object).attr("__dlpack_device__")();
        const dlpack::Device at{nb::cast<int>(nb::int_(nb::object(where[0]))),
                                nb::cast<int>(nb::int_(nb::object(where[1])))};
        to.device = place(at, who);
        nb::object stream;
        if (to.device && by.is_torch) {
            to.stream = torch_stream(at.id);
            stream = nb::int_(-1);  // the order is ours to keep
        } else if (to.device) {
            const std::uintptr_t handle =
                to.device->handle(to.device == consumer_device ? consumer : nullptr);
            stream = nb::int_(handle == 0 ? 1 : handle);
        }
        read_capsule(to, capsule_of(object, stream, who).ptr(), who);
    }
    if (by.is_jax) {
        to.view.readonly = true;
        to.why_readonly = "JAX's arrays never change";
    }
    static PyObject* const requires_grad = interned("requires_grad");
    if (by.is_torch && by.api && attribute(object, requires_grad).is(nb::handle(Py_True))) {
        to.view.readonly = true;
        to.why_readonly = "it records a gradient, which kernels have no part in; x.detach() does not";
    }
}

}  // namespace xcuda::python
