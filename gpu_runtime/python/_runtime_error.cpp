#include "_runtime_error.hpp"

#include <cstring>
#include <new>

namespace xcuda::python {

namespace {

bool is_ours(PyFrameObject* frame) {
    static PyObject* const key = PyUnicode_InternFromString("__name__");
    const nb::object globals = nb::steal(PyFrame_GetGlobals(frame));
    PyObject* name = PyDict_GetItem(globals.ptr(), key);  // borrowed
    const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    return text && std::strncmp(text, "xcuda.", 6) == 0;
}

}  // namespace

void wrong(const char* type, const std::string& message, std::string hint) {
    throw Error(Fault::user, type, message, std::nullopt, std::move(hint));
}

std::string type_name(PyObject* object) {
    std::string name = Py_TYPE(object)->tp_name;
    return name.substr(name.rfind('.') + 1);
}

LaunchSite LaunchSite::here() {
    LaunchSite site;
    nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    const auto raw = [&frame] { return reinterpret_cast<PyFrameObject*>(frame.ptr()); };
    static PyObject* last = nullptr;  // the user's code that was met last: a loop's launches are from one
    for (; frame.is_valid(); frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw())))) {
        nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw())));
        if (code.ptr() != last) {
            if (is_ours(raw())) continue;
            Py_XSETREF(last, Py_NewRef(code.ptr()));
        }
        site.code = std::move(code);
        site.instruction = PyFrame_GetLasti(raw());
        break;
    }
    return site;
}

int LaunchSite::line() const {
    return code.is_valid() ? PyCode_Addr2Line(reinterpret_cast<PyCodeObject*>(code.ptr()), instruction) : 0;
}

void set_error(const Error& error, const char* kernel, const LaunchSite* launched) {
    // The signal that interrupted us is told once: by Python's own handler.
    if (error.python_type == "KeyboardInterrupt" && PyErr_CheckSignals() < 0) return;
    try {
        nb::object place = nb::none(), site = nb::none();
        if (error.place && error.place->known()) {
            const Place& p = *error.place;
            place = nb::make_tuple(nb::str(p.file.c_str(), p.file.size()), p.line, p.column, p.end_line,
                                   p.end_column);
        }
        if (launched && launched->code.is_valid())
            site = nb::make_tuple(launched->code.attr("co_filename"), launched->line());
        nb::object name = kernel ? nb::object(nb::str(kernel)) : nb::none();
        const char* fault = error.fault == Fault::user      ? "user"
                            : error.fault == Fault::machine ? "machine"
                                                            : "internal";
        nb::object exception = nb::module_::import_("xcuda.core._raise")
                                   .attr("build")(fault, error.python_type.c_str(), error.what(),
                                                  error.hint.c_str(), place, name, site);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    } catch (nb::python_error& e) {
        e.restore();
    }
}

void raise(const Error& error, const char* kernel, const LaunchSite* launched) {
    set_error(error, kernel, launched);
    throw nb::python_error();
}

void raise(const char* python_type, const std::string& message) {
    throw Error(Fault::user, python_type, message);
}

void bind_error(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& e, void*) {
        try {
            std::rethrow_exception(e);
        } catch (const Error& error) {
            set_error(error);
        }
    });
}

}  // namespace xcuda::python
