#include "_runtime_kernel.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <structmember.h>

#include <new>

#include "_runtime_check.hpp"
#include "_runtime_wrong_call.hpp"

namespace xcuda::python {
namespace {

struct KernelObject {
    PyObject_HEAD vectorcallfunc call;
    PyObject* dict;  // __name__, __doc__, __wrapped__, ...
    PyObject* weak;
    KernelState state;
};

struct ConfiguredObject {
    PyObject_HEAD vectorcallfunc call;
    KernelObject* kernel;
    Configuration where;
};

PyTypeObject* kernel_type = nullptr;
PyTypeObject* configured_type = nullptr;

PyObject* call_kernel(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        static const Configuration automatic{};
        launch_kernel(reinterpret_cast<KernelObject*>(self)->state, automatic, values,
                      static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names, true);
        return Py_NewRef(Py_None);
    });
}

PyObject* call_configured(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        auto* c = reinterpret_cast<ConfiguredObject*>(self);
        launch_kernel(c->kernel->state, c->where, values, static_cast<std::size_t>(PyVectorcall_NARGS(flags)),
                      names, true);
        return Py_NewRef(Py_None);
    });
}

// Kernel(about, name, parameters, defaults, checked, fastmath, fma, optimise, max_registers, most_threads, least_blocks,
// most_cluster)
PyObject* kernel_new(PyTypeObject* type, PyObject* args, PyObject*) {
    return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
        PyObject *about, *name, *parameters, *defaults;
        int checked, fastmath, fma, optimise = 1;
        launch::Options options;
        if (!PyArg_ParseTuple(args, "OUO!O!ppp|piiii", &about, &name, &PyTuple_Type, &parameters, &PyDict_Type,
                              &defaults, &checked, &fastmath, &fma, &optimise, &options.max_registers,
                              &options.most_threads, &options.least_blocks, &options.most_cluster))
            return nullptr;
        auto* self = reinterpret_cast<KernelObject*>(type->tp_alloc(type, 0));
        if (!self) return nullptr;
        new (&self->state) KernelState;
        self->call = call_kernel;
        self->dict = PyDict_New();
        self->state.about = nb::borrow(about);
        self->state.name = nb::cast<std::string>(nb::handle(name));
        self->state.parameter_names = nb::borrow<nb::tuple>(parameters);
        self->state.parameters = nb::cast<std::vector<std::string>>(nb::handle(parameters));
        self->state.defaults = nb::borrow<nb::dict>(defaults);
        options.checked = checked != 0;
        options.fastmath = fastmath != 0;
        options.fma = fma != 0;
        options.optimise = optimise != 0;
        self->state.options = options;
        return reinterpret_cast<PyObject*>(self);
    });
}

int kernel_traverse(PyObject* o, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<KernelObject*>(o);
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(self->dict);
    Py_VISIT(self->state.about.ptr());
    Py_VISIT(self->state.defaults.ptr());
    for (const Capture& c : self->state.captures) {
        Py_VISIT(c.holder.ptr());
        Py_VISIT(c.value.ptr());
    }
    return 0;
}

int kernel_clear(PyObject* o) {
    auto* self = reinterpret_cast<KernelObject*>(o);
    Py_CLEAR(self->dict);
    const auto captures = std::exchange(self->state.captures, {});
    const nb::object about = std::exchange(self->state.about, nb::object());
    const nb::dict defaults = std::exchange(self->state.defaults, nb::dict());
    return 0;
}

void kernel_dealloc(PyObject* o) {
    auto* self = reinterpret_cast<KernelObject*>(o);
    PyTypeObject* type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weak) PyObject_ClearWeakRefs(o);
    Py_CLEAR(self->dict);
    self->state.~KernelState();
    type->tp_free(o);
    Py_DECREF(type);
}

// What the type does not know, `about` does: compile, inspect_source, specialisations, async_call, ...
PyObject* kernel_getattr(PyObject* o, PyObject* name) {
    PyObject* found = PyObject_GenericGetAttr(o, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    auto* self = reinterpret_cast<KernelObject*>(o);
    const char* text = PyUnicode_AsUTF8(name);
    if (!text || !self->state.about.is_valid() || (text[0] == '_' && text[1] != 'r')) return nullptr;
    PyErr_Clear();
    return PyObject_GetAttr(self->state.about.ptr(), name);
}

PyObject* kernel_repr(PyObject* o) {
    return PyObject_CallMethod(reinterpret_cast<KernelObject*>(o)->state.about.ptr(), "describe_briefly",
                               nullptr);
}

PyObject* kernel_dir(PyObject* o, PyObject*) {
    return PyObject_CallMethod(reinterpret_cast<KernelObject*>(o)->state.about.ptr(), "attribute_names", "O",
                               o);
}

PyObject* configured(KernelObject* kernel, Configuration where) {
    auto* made = reinterpret_cast<ConfiguredObject*>(configured_type->tp_alloc(configured_type, 0));
    if (!made) return nullptr;
    new (&made->where) Configuration(std::move(where));
    made->call = call_configured;
    made->kernel = kernel;
    Py_INCREF(kernel);
    return reinterpret_cast<PyObject*>(made);
}

PyObject* kernel_subscript(PyObject* o, PyObject* key) {
    return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
        auto* self = reinterpret_cast<KernelObject*>(o);
        return configured(self, configuration_from(self->state, key));
    });
}

PyMethodDef kernel_methods[] = {
    {"__dir__", kernel_dir, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef kernel_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(KernelObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(KernelObject, weak), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(KernelObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef kernel_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
template <typename F>
void* slot(F* function) {
    return reinterpret_cast<void*>(function);
}

PyType_Slot kernel_slots[] = {
    {Py_tp_new, slot(kernel_new)},
    {Py_tp_dealloc, slot(kernel_dealloc)},
    {Py_tp_traverse, slot(kernel_traverse)},
    {Py_tp_clear, slot(kernel_clear)},
    {Py_tp_call, slot(PyVectorcall_Call)},
    {Py_tp_getattro, slot(kernel_getattr)},
    {Py_tp_setattro, slot(PyObject_GenericSetAttr)},
    {Py_tp_repr, slot(kernel_repr)},
    {Py_mp_subscript, slot(kernel_subscript)},
    {Py_tp_methods, kernel_methods},
    {Py_tp_members, kernel_members},
    {Py_tp_getset, kernel_getset},
    {0, nullptr},
};
PyType_Spec kernel_spec = {"xcuda.core.Kernel", sizeof(KernelObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                           kernel_slots};

int configured_traverse(PyObject* o, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<ConfiguredObject*>(o);
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(self->kernel);
    return 0;
}

int configured_clear(PyObject* o) {
    Py_CLEAR(reinterpret_cast<ConfiguredObject*>(o)->kernel);
    return 0;
}

void configured_dealloc(PyObject* o) {
    auto* self = reinterpret_cast<ConfiguredObject*>(o);
    PyTypeObject* type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    Py_CLEAR(self->kernel);
    self->where.~Configuration();
    type->tp_free(o);
    Py_DECREF(type);
}

PyObject* configured_getattr(PyObject* o, PyObject* name) {
    auto* self = reinterpret_cast<ConfiguredObject*>(o);
    if (PyUnicode_CompareWithASCIIString(name, "async_call") == 0)
        return PyObject_CallMethod(self->kernel->state.about.ptr(), "async_call_of", "O", o);
    if (PyUnicode_CompareWithASCIIString(name, "bind") == 0)
        return PyObject_CallMethod(self->kernel->state.about.ptr(), "bind_of", "O", o);
    const auto lengths = [](const device::Dim3& d) { return nb::make_tuple(d.x, d.y, d.z).release().ptr(); };
    // griddim and blockdim are numba's names.
    if (PyUnicode_CompareWithASCIIString(name, "griddim") == 0) return lengths(self->where.shape->grid);
    if (PyUnicode_CompareWithASCIIString(name, "blockdim") == 0) return lengths(self->where.shape->block);
    if (PyUnicode_CompareWithASCIIString(name, "sharedmem") == 0)
        return PyLong_FromLongLong(self->where.shape->dynamic_shared_bytes);
    if (PyUnicode_CompareWithASCIIString(name, "grid") == 0) return lengths(self->where.shape->grid);
    if (PyUnicode_CompareWithASCIIString(name, "block") == 0) return lengths(self->where.shape->block);
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0)
        return Py_NewRef(self->where.stream.is_valid() ? self->where.stream.ptr() : Py_None);
    return PyObject_GenericGetAttr(o, name);
}

PyObject* configured_repr(PyObject* o) {
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        auto* self = reinterpret_cast<ConfiguredObject*>(o);
        const device::Shape& s = *self->where.shape;
        return PyUnicode_FromString(fmt::format("{}[({}, {}, {}), ({}, {}, {})]", self->kernel->state.name,
                                                s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z)
                                        .c_str());
    });
}

PyMemberDef configured_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ConfiguredObject, call), READONLY, nullptr},
    {"kernel", T_OBJECT, offsetof(ConfiguredObject, kernel), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyType_Slot configured_slots[] = {
    {Py_tp_dealloc, slot(configured_dealloc)},  {Py_tp_traverse, slot(configured_traverse)},
    {Py_tp_clear, slot(configured_clear)},      {Py_tp_call, slot(PyVectorcall_Call)},
    {Py_tp_repr, slot(configured_repr)},        {Py_tp_members, configured_members},
    {Py_tp_getattro, slot(configured_getattr)}, {0, nullptr},
};
PyType_Spec configured_spec = {
    "xcuda.core.Configured", sizeof(ConfiguredObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    configured_slots};

}  // namespace

KernelState* kernel_state(PyObject* object) {
    if (Py_TYPE(object) == kernel_type) return &reinterpret_cast<KernelObject*>(object)->state;
    if (Py_TYPE(object) == configured_type)
        return &reinterpret_cast<ConfiguredObject*>(object)->kernel->state;
    return nullptr;
}

const Configuration* configuration_of(PyObject* object) {
    return Py_TYPE(object) == configured_type ? &reinterpret_cast<ConfiguredObject*>(object)->where : nullptr;
}

nb::object callee_of(KernelState& kernel, const Configuration& where) {
    auto* object =
        reinterpret_cast<KernelObject*>(reinterpret_cast<char*>(&kernel) - offsetof(KernelObject, state));
    if (!where.shape) return nb::borrow(reinterpret_cast<PyObject*>(object));
    PyObject* made = configured(object, where);
    if (!made) throw nb::python_error();
    return nb::steal(made);
}

void bind_kernel_types(nb::module_& module) {
    kernel_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kernel_spec));
    configured_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&configured_spec));
    if (!kernel_type || !configured_type) throw nb::python_error();
    // How the front end tells a kernel among the names that another kernel reads.
    if (PyDict_SetItemString(kernel_type->tp_dict, "__xcuda_kernel__", Py_True) < 0) throw nb::python_error();
    PyType_Modified(kernel_type);
    module.attr("Kernel") = nb::borrow(reinterpret_cast<PyObject*>(kernel_type));
    module.attr("Configured") = nb::borrow(reinterpret_cast<PyObject*>(configured_type));
    // A kernel launched as another configured one is.
    nb::set words;
    for (const std::string_view word : of_the_launch) words.add(nb::str(word.data(), word.size()));
    module.attr("LAUNCH_WORDS") = words;
    module.def("configured_like", [](nb::handle kernel, nb::handle like) {
        const Configuration* where = configuration_of(like.ptr());
        if (Py_TYPE(kernel.ptr()) != kernel_type || !where)
            raise("TypeError", "configured_like takes a kernel and kernel[grid, block]");
        PyObject* made = configured(reinterpret_cast<KernelObject*>(kernel.ptr()), *where);
        if (!made) throw nb::python_error();
        return nb::steal(made);
    });
}

}  // namespace xcuda::python
