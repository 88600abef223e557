// Basic indexing: ints, slices, None and Ellipsis to a view, with NumPy's errors.
#include <fmt/format.h>

#include "_runtime_numeric.hpp"
#include "arrays/plan.hpp"

namespace xcuda::python {
namespace {

bool is_int(PyObject* o) { return PyLong_Check(o) && !PyBool_Check(o); }

struct Parsed {
    PyObject* const* items;
    Py_ssize_t count;
};

// How many axes the key takes; -1: it is not basic.
int axes_taken(const Parsed& key) {
    int taken = 0;
    bool ellipsis = false;
    for (Py_ssize_t i = 0; i < key.count; ++i) {
        PyObject* item = key.items[i];
        if (item == Py_None) continue;
        if (item == Py_Ellipsis) {
            if (ellipsis) wrong("IndexError", "an index can only have a single ellipsis ('...')");
            ellipsis = true;
        } else if (is_int(item) || PySlice_Check(item)) {
            ++taken;
        } else {
            return -1;
        }
    }
    return taken;
}

std::int64_t place_of(PyObject* item, std::int64_t length, int axis) {
    int overflow = 0;
    std::int64_t i = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow) wrong("IndexError", "cannot fit 'int' into an index-sized integer");
    if (i < -length || i >= length)
        wrong("IndexError",
              fmt::format("index {} is out of bounds for axis {} with size {}", i, axis, length));
    return i < 0 ? i + length : i;
}

}  // namespace

std::optional<arrays::View> index_view(const arrays::View& of, PyObject* key, bool& scalar) {
    const Parsed parsed =
        PyTuple_Check(key) ? Parsed{&PyTuple_GET_ITEM(key, 0), PyTuple_GET_SIZE(key)} : Parsed{&key, 1};
    const int taken = axes_taken(parsed);
    if (taken < 0) return std::nullopt;
    if (taken > of.ndim)
        wrong("IndexError",
              fmt::format("too many indices for array: array is {}-dimensional, but {} were indexed", of.ndim,
                          taken));
    arrays::View out;
    out.offset = of.offset;
    int axis = 0;
    bool sliced = false;
    const auto put = [&](std::int64_t length, std::int64_t stride) {
        if (out.ndim == arrays::max_axes)
            wrong("IndexError",
                  fmt::format("number of dimensions must be within [0, {0}], indexing result would have {1}",
                              arrays::max_axes, arrays::max_axes + 1));
        out.lengths[static_cast<std::size_t>(out.ndim)] = length;
        out.strides[static_cast<std::size_t>(out.ndim++)] = stride;
        sliced = true;
    };
    const auto keep = [&](int axes) {
        for (int i = 0; i < axes; ++i, ++axis)
            put(of.lengths[static_cast<std::size_t>(axis)], of.strides[static_cast<std::size_t>(axis)]);
    };
    for (Py_ssize_t i = 0; i < parsed.count; ++i) {
        PyObject* item = parsed.items[i];
        const auto a = static_cast<std::size_t>(axis);
        if (item == Py_None) {
            put(1, 0);
        } else if (item == Py_Ellipsis) {
            sliced = true;
            keep(of.ndim - taken);
        } else if (PySlice_Check(item)) {
            Py_ssize_t start = 0, stop = 0, step = 0;
            if (PySlice_Unpack(item, &start, &stop, &step) < 0) throw nb::python_error();
            const Py_ssize_t length = PySlice_AdjustIndices(of.lengths[a], &start, &stop, step);
            if (length > 0) out.offset += start * of.strides[a];
            put(length, of.strides[a] * step);
            ++axis;
        } else {
            out.offset += place_of(item, of.lengths[a], axis) * of.strides[a];
            ++axis;
        }
    }
    keep(of.ndim - axis);
    scalar = !sliced;
    return out;
}

void join_along(NumericArray& array, nb::list arrays, int axis) {
    std::vector<arrays::Part> parts;
    std::int64_t first = 0;
    const auto along = static_cast<std::size_t>(axis);
    for (nb::handle each : arrays) {
        const NumericArray* from = numeric_array(each.ptr());
        if (!from || from->value->device != array.value->device)
            wrong("ValueError", "the arrays live on different devices");
        arrays::View view = array.view;
        view.offset += first * view.strides[along];
        view.lengths[along] = from->view.lengths[along];
        first += view.lengths[along];
        parts.push_back({view, from->operand()});
    }
    arrays::join(*array.value, parts, site_here(), queue_on(array.value->device));
}

}  // namespace xcuda::python
