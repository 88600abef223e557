// `Bound`, what k.bind(grid, block, ...) gives: a call without arguments, straight from CPython.
#include "_runtime_kernel.hpp"

#include <structmember.h>

#include <cstddef>
#include <new>

namespace xcuda::python {
namespace {

struct BoundObject {
    PyObject_HEAD vectorcallfunc call;
    PyObject* callee;  // the Kernel or Configured that was bound
    PyObject* given;   // a tuple: the arguments by place
    BoundLaunch launch;
};

PyTypeObject* bound_type = nullptr;

BoundObject* as_bound(PyObject* o) { return reinterpret_cast<BoundObject*>(o); }

const Configuration& where(const BoundObject& b) {
    static const Configuration automatic{};
    const Configuration* configured = configuration_of(b.callee);
    return configured ? *configured : automatic;
}

std::vector<PyObject*> items(PyObject* tuple) {
    std::vector<PyObject*> out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) out.push_back(PyTuple_GET_ITEM(tuple, i));
    return out;
}

PyObject* call_bound(PyObject* self, PyObject* const*, std::size_t flags, PyObject* names) {
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        if (PyVectorcall_NARGS(flags) != 0 || (names && PyTuple_GET_SIZE(names) != 0))
            raise("TypeError", "a bound launch takes no arguments: rebind(name=value) gives it others");
        BoundObject* b = as_bound(self);
        launch_bound(b->launch, where(*b));
        return Py_NewRef(Py_None);
    });
}

nb::object kernel_of(PyObject* callee) {
    if (configuration_of(callee)) return nb::handle(callee).attr("kernel");
    return nb::borrow(callee);
}

// Bound(kernel or configured, values)
PyObject* bound_new(PyTypeObject* type, PyObject* args, PyObject*) {
    return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
        PyObject *callee, *values;
        if (!PyArg_ParseTuple(args, "OO!", &callee, &PyTuple_Type, &values)) return nullptr;
        if (!kernel_state(callee)) raise("TypeError", "a kernel is wanted");
        static const Configuration automatic{};
        const Configuration* configured = configuration_of(callee);
        BoundLaunch launch =
            bind_launch(kernel_of(callee), configured ? *configured : automatic, items(values));
        auto* self = as_bound(type->tp_alloc(type, 0));
        if (!self) return nullptr;
        new (&self->launch) BoundLaunch(std::move(launch));
        self->call = call_bound;
        self->callee = Py_NewRef(callee);
        self->given = Py_NewRef(values);
        return reinterpret_cast<PyObject*>(self);
    });
}

int bound_traverse(PyObject* o, visitproc visit, void* arg) {
    BoundObject* self = as_bound(o);
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(self->callee);
    Py_VISIT(self->given);
    Py_VISIT(self->launch.kernel.ptr());
    for (const nb::object& value : self->launch.values) Py_VISIT(value.ptr());
    return 0;
}

void bound_dealloc(PyObject* o) {
    BoundObject* self = as_bound(o);
    PyTypeObject* type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    Py_CLEAR(self->callee);
    Py_CLEAR(self->given);
    self->launch.~BoundLaunch();
    type->tp_free(o);
    Py_DECREF(type);
}

PyObject* set_values(PyObject* o, PyObject* values) {
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        if (!PyTuple_Check(values)) raise("TypeError", "a tuple of values is wanted");
        BoundObject* self = as_bound(o);
        self->launch = bind_launch(kernel_of(self->callee), where(*self), items(values));
        Py_XSETREF(self->given, Py_NewRef(values));
        return Py_NewRef(Py_None);
    });
}

// rebind and what else people ask for: xcuda.core.kernels knows.
PyObject* bound_getattr(PyObject* o, PyObject* name) {
    PyObject* found = PyObject_GenericGetAttr(o, name);
    const char* text = PyUnicode_AsUTF8(name);
    if (found || !text || text[0] == '_' || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        return nb::module_::import_("xcuda.core.bound")
            .attr("attribute")(nb::handle(o), nb::handle(name))
            .release()
            .ptr();
    });
}

PyObject* bound_repr(PyObject* o) {
    return guarded(static_cast<PyObject*>(nullptr), [&] {
        return nb::module_::import_("xcuda.core.bound").attr("describe")(nb::handle(o)).release().ptr();
    });
}

PyObject* get_given(PyObject* o, void*) { return Py_NewRef(as_bound(o)->given); }
PyObject* get_callee(PyObject* o, void*) { return Py_NewRef(as_bound(o)->callee); }

template <typename F>
void* slot(F* function) {
    return reinterpret_cast<void*>(function);
}

PyMethodDef bound_methods[] = {
    {"_set_values", set_values, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef bound_getset[] = {
    {"_given", get_given, nullptr, nullptr, nullptr},
    {"_callee", get_callee, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot bound_slots[] = {
    {Py_tp_new, slot(bound_new)},           {Py_tp_dealloc, slot(bound_dealloc)},
    {Py_tp_traverse, slot(bound_traverse)}, {Py_tp_call, slot(PyVectorcall_Call)},
    {Py_tp_getattro, slot(bound_getattr)},  {Py_tp_repr, slot(bound_repr)},
    {Py_tp_methods, bound_methods},         {Py_tp_members, bound_members},
    {Py_tp_getset, bound_getset},           {0, nullptr},
};
PyType_Spec bound_spec = {"xcuda.core.Bound", sizeof(BoundObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, bound_slots};

}  // namespace

void bind_bound(nb::module_& module) {
    bound_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&bound_spec));
    if (!bound_type) throw nb::python_error();
    module.attr("Bound") = nb::borrow(reinterpret_cast<PyObject*>(bound_type));
}

}  // namespace xcuda::python
