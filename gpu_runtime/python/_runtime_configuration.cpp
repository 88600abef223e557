// kernel[grid, block, stream, shared]: what stands in a launch's brackets.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "_runtime_kernel.hpp"

namespace xcuda::python {

Configuration configuration_from(const KernelState& kernel, PyObject* key) {
    const auto invalid = [&](const std::string& message, const char* hint = "") {
        throw Error(Fault::user, "TypeError", kernel.name + message, std::nullopt, hint);
    };
    if (!PyTuple_Check(key) || PyTuple_GET_SIZE(key) < 2 || PyTuple_GET_SIZE(key) > 4)
        invalid("[...] takes a grid and a block, then at most a stream and bytes of shared memory",
                "write kernel[grid, block], each an int or a tuple of 1 to 3 ints");
    const auto integer = [&](PyObject* value, const char* what) -> std::int64_t {
        PyObject* index = PyBool_Check(value) ? nullptr : PyNumber_Index(value);
        if (!index) {
            PyErr_Clear();
            const std::string text = nb::cast<std::string>(nb::repr(nb::handle(value)));
            invalid(fmt::format(": {} must be made of ints, not {}", what, text),
                    PyFloat_Check(value) ? "divide with // or round up with math.ceil(...)" : "");
        }
        const nb::object held = nb::steal(index);
        int overflow = 0;
        const std::int64_t number = PyLong_AsLongLongAndOverflow(index, &overflow);
        if (overflow) invalid(fmt::format(": a length of {} does not fit into 64 bits", what));
        return number;
    };
    const auto dim3 = [&](PyObject* value, const char* what) {
        device::Dim3 d;
        std::int64_t* lengths[3] = {&d.x, &d.y, &d.z};
        if (PyTuple_Check(value) || PyList_Check(value)) {
            const Py_ssize_t n = PySequence_Fast_GET_SIZE(value);
            if (n < 1 || n > 3) invalid(fmt::format(": {} has 1 to 3 lengths, not {}", what, n));
            for (Py_ssize_t i = 0; i < n; ++i)
                *lengths[i] = integer(PySequence_Fast_GET_ITEM(value, i), what);
        } else {
            d.x = integer(value, what);
        }
        return d;
    };
    Configuration out;
    device::Shape shape;
    shape.grid = dim3(PyTuple_GET_ITEM(key, 0), "the grid");
    shape.block = dim3(PyTuple_GET_ITEM(key, 1), "the block");
    if (PyTuple_GET_SIZE(key) > 2) {
        PyObject* stream = PyTuple_GET_ITEM(key, 2);
        if (nb::isinstance<Stream>(nb::handle(stream)))
            out.stream = nb::borrow(stream);
        else if (PyLong_Check(stream) ? !PyObject_Not(stream) : PyUnicode_Check(stream))
            invalid(": the third item of [grid, block, stream] must be a Stream", "cuda.stream() makes one");
        else if (stream != Py_None && !PyLong_Check(stream))  // another library's
            out.stream = nb::module_::import_("xcuda.core.streams").attr("a_stream")(nb::handle(stream));
    }
    if (PyTuple_GET_SIZE(key) > 3)
        shape.dynamic_shared_bytes = integer(PyTuple_GET_ITEM(key, 3), "the shared memory's bytes");
    out.shape = shape;
    return out;
}

}  // namespace xcuda::python
