// Operators of numeric's arrays without Python in between: operands, promotion (asked of NumPy once a combination), the
// graph's new value.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "_runtime_dtype.hpp"
#include "_runtime_numeric.hpp"

namespace xcuda::python {
namespace {

using arrays::Loop;
using arrays::Operand;

struct Resolved {
    const Loop* loop = nullptr;  // null: nothing native
    bool known = false;
};

struct Ufunc {
    std::string name;
    int inputs;
    std::unordered_map<int, Resolved> loops;  // by the operands' codes
};

std::vector<Ufunc>& ufuncs() {
    static auto& all = *new std::vector<Ufunc>;
    return all;
}

// xcuda.numeric's functions that this calls, for good.
struct Callbacks {
    PyObject* resolve = nullptr;  // (name, codes) -> (dtype names, dtype name) or None
    PyObject* slow = nullptr;  // (name, *operands): what the fast way does not know; may give NotImplemented
    PyObject* getitem = nullptr;
    PyObject* setitem = nullptr;
} callbacks;

std::array<std::array<bool, 16>, 16>& same_kind() {
    static std::array<std::array<bool, 16>, 16> table{};
    return table;
}

const Loop* resolve(int ufunc, const int* code, int n) {
    Ufunc& u = ufuncs()[static_cast<std::size_t>(ufunc)];
    int key = 0;
    for (int i = 0; i < n; ++i) key = key * 32 + code[i] + 1;
    Resolved& r = u.loops[key];
    if (r.known) return r.loop;
    nb::list given;
    for (int i = 0; i < n; ++i) given.append(code[i]);
    const nb::object found = nb::handle(callbacks.resolve)(u.name.c_str(), given);
    Resolved made{nullptr, true};
    if (!found.is_none()) {
        std::vector<DType> in;
        for (nb::handle name : nb::borrow<nb::tuple>(found[0]))
            in.push_back(dtype_named(nb::cast<std::string>(name)));
        made.loop = arrays::find_loop(u.name, in, dtype_named(nb::cast<std::string>(found[1])));
    }
    return (ufuncs()[static_cast<std::size_t>(ufunc)].loops[key] = made).loop;
}

template <class T>
std::uint64_t bits_of(T x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    return bits;
}

// A number as an element of a floating dtype.
std::uint64_t float_bits(double x, DType d) {
    if (d == DType::f64) return bits_of(x);
    if (d == DType::f32) return bits_of(static_cast<float>(x));
    if (d == DType::f16) return bits_of(static_cast<_Float16>(x));
    const std::uint32_t wide =
        std::bit_cast<std::uint32_t>(static_cast<float>(x));  // bfloat16: the nearest, ties even
    return std::isnan(x) ? wide >> 16 | 0x40 : (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
}

bool integer_bits(PyObject* number, DType d, std::uint64_t& bits) {
    int overflow = 0;
    const std::int64_t v = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (v == -1 && PyErr_Occurred()) throw nb::python_error();
    if (overflow > 0 && d == DType::u64) {
        bits = PyLong_AsUnsignedLongLong(number);
        if (!PyErr_Occurred()) return true;
        PyErr_Clear();
        return false;
    }
    if (overflow) return false;
    const int width = 8 * static_cast<int>(info(d).size);
    const bool is_signed_dtype = is_signed(d);
    if (is_signed_dtype && width < 64 &&
        (v < -(std::int64_t{1} << (width - 1)) || v >= std::int64_t{1} << (width - 1)))
        return false;
    if (!is_signed_dtype && (v < 0 || (width < 64 && v >= std::int64_t{1} << width))) return false;
    bits = static_cast<std::uint64_t>(v);
    return true;
}

bool is_numpy_scalar(PyObject* o) {
    static auto& known = *new std::unordered_map<PyTypeObject*, bool>;
    PyTypeObject* type = Py_TYPE(o);
    if (const auto at = known.find(type); at != known.end()) return at->second;
    bool found = false;
    for (Py_ssize_t i = 0; type->tp_mro && i < PyTuple_GET_SIZE(type->tp_mro); ++i)
        found |= std::strcmp(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, i))->tp_name,
                             "numpy.generic") == 0;
    Py_INCREF(type);
    known.emplace(type, found);
    return found;
}

bool read_numpy_scalar(PyObject* object, Operand& to, int& code) {
    if (!is_numpy_scalar(object) || !PyObject_CheckBuffer(object)) return false;
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        return false;
    }
    const Format format = from_format(view.format, static_cast<std::size_t>(view.itemsize));
    // Times show themselves as bytes.
    const bool good = format.dtype && *format.dtype <= DType::c128 && !format.swapped &&
                      view.len == view.itemsize && view.len <= 16;
    if (good) {
        to.dtype = *format.dtype;
        const auto n = static_cast<std::size_t>(view.len);
        std::memcpy(&to.bits, view.buf, std::min<std::size_t>(n, 8));
        if (n > 8) std::memcpy(&to.more_bits, static_cast<const char*>(view.buf) + 8, n - 8);
        code = static_cast<int>(to.dtype);
    }
    PyBuffer_Release(&view);
    return good;
}

// The weak number's bits as its loop has them.
bool fit(PyObject* const* objects, std::vector<Operand>& operands, const int* code, const Loop& loop) {
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (code[i] >= weak_int && !convert_number(objects[i], loop.in[i], operands[i])) return false;
    return true;
}

[[noreturn]] void cannot_broadcast(const std::vector<Operand>& operands) {
    std::string shapes;
    for (const Operand& o : operands)
        shapes += (o.value ? arrays::shown(o.view.shape()) : std::string("()")) + " ";
    wrong("ValueError", "operands could not be broadcast together with shapes " + shapes);
}

// Operands to one shape; gives it.
arrays::View broadcast(std::vector<Operand>& operands) {
    std::array<const arrays::View*, 8> views;
    std::size_t n = 0;
    for (const Operand& o : operands)
        if (o.value) views[n++] = &o.view;
    if (n == 1) return *views[0];
    const auto shape = arrays::broadcast_shapes(std::span(views.data(), n));
    if (!shape) cannot_broadcast(operands);
    for (Operand& o : operands)
        if (o.value && !std::ranges::equal(o.view.shape(), shape->shape()))
            o.view = *arrays::broadcast_to(o.view, shape->shape());
    return *shape;
}

// The operators' ufuncs, in the order that xcuda.numeric registers them.
enum Operator {
    add_,
    subtract_,
    multiply_,
    divide_,
    floor_divide_,
    remainder_,
    power_,
    left_shift_,
    right_shift_,
    and_,
    or_,
    xor_,
    less_,
    less_equal_,
    equal_,
    not_equal_,
    greater_,
    greater_equal_,
    negative_,
    positive_,
    absolute_,
    invert_,
    square_,
    sqrt_,
    reciprocal_
};

// An exponent that integers may not have: NumPy raises, so that somebody has to look.
bool perhaps_negative(const Operand& exponent, DType d) {
    if (!is_integer(d) || !is_signed(d)) return false;
    return exponent.value || static_cast<std::int64_t>(exponent.bits) < 0 || exponent.dtype != d;
}

struct Call {
    std::vector<Operand> operands;
    const Loop* loop = nullptr;
};

// Nothing where the fast way does not know the operands.
bool prepare(int ufunc, PyObject* const* objects, int n, Call& call) {
    int code[3] = {};
    call.operands.resize(static_cast<std::size_t>(n));
    bool any = false;
    for (int i = 0; i < n; ++i) {
        Operand& o = call.operands[static_cast<std::size_t>(i)];
        if (!read_operand(objects[i], o, code[i])) return false;
        any |= o.value != nullptr;
    }
    if (!any) return false;
    call.loop = resolve(ufunc, code, n);
    return call.loop && fit(objects, call.operands, code, *call.loop) &&
           (ufunc != power_ || !perhaps_negative(call.operands[1], call.loop->in[1]));
}

PyObject* slow(int ufunc, PyObject* const* objects, int n) {
    PyObject* args[4] = {PyUnicode_FromString(ufuncs()[static_cast<std::size_t>(ufunc)].name.c_str())};
    for (int i = 0; i < n; ++i) args[i + 1] = objects[i];
    PyObject* result = PyObject_Vectorcall(callbacks.slow, args, static_cast<std::size_t>(n + 1), nullptr);
    Py_XDECREF(args[0]);
    return result;
}

PyObject* result_of(Call& call) {
    broadcast(call.operands);
    return numeric_result(applied(*call.loop, std::move(call.operands), nullptr)).release().ptr();
}

PyObject* call_fast(int ufunc, PyObject* const* objects, int n, bool& known) {
    Call call;
    known = prepare(ufunc, objects, n, call);
    return known ? result_of(call) : nullptr;
}

PyObject* call_ufunc(int ufunc, PyObject* const* objects, int n) {
    return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
        bool known = false;
        if (PyObject* result = call_fast(ufunc, objects, n, known); known) return result;
        return slow(ufunc, objects, n);
    });
}

template <int op>
PyObject* binary(PyObject* a, PyObject* b) {
    PyObject* const objects[] = {a, b};
    return call_ufunc(op, objects, 2);
}

template <int op>
PyObject* unary(PyObject* a) {
    return call_ufunc(op, &a, 1);
}

// x ** 2 and the like are no powers, as in NumPy.
int simple_power(PyObject* a, PyObject* b) {
    const NumericArray* x = numeric_array(a);
    if (!x) return -1;
    const DType d = x->value->dtype;
    double exponent = 0;
    if (PyFloat_CheckExact(b) && (is_floating(d) || is_complex(d)))
        exponent = PyFloat_AS_DOUBLE(b);
    else if (PyLong_CheckExact(b))
        exponent = static_cast<double>(PyLong_AsLong(b));
    if (PyErr_Occurred()) PyErr_Clear();
    if (exponent == 2) return square_;
    if (!is_floating(d) && !is_complex(d)) return -1;
    return exponent == 0.5 ? sqrt_ : exponent == -1 ? reciprocal_ : exponent == 1 ? positive_ : -1;
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
    if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (const int op = simple_power(a, b); op >= 0) return call_ufunc(op, &a, 1);
    PyObject* const objects[] = {a, b};
    return call_ufunc(power_, objects, 2);
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
    static constexpr int ops[] = {less_, less_equal_, equal_, not_equal_, greater_, greater_equal_};
    PyObject* const objects[] = {a, b};
    return call_ufunc(ops[op], objects, 2);
}

PyObject* in_place(int ufunc, PyObject* a, PyObject* b, int inputs = 2) {
    return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
        NumericArray& x = *numeric_array(a);
        PyObject* const objects[] = {a, b};
        if (x.scalar) return call_ufunc(ufunc, objects, inputs);
        if (x.readonly) wrong("ValueError", "output array is read-only");
        Call call;
        if (!prepare(ufunc, objects, inputs, call) ||
            !same_kind()[static_cast<std::size_t>(call.loop->out)][static_cast<std::size_t>(x.value->dtype)]) {
            // (name, a, b, out=a)
            const nb::str name(ufuncs()[static_cast<std::size_t>(ufunc)].name.c_str());
            return nb::handle(callbacks.slow)(name, nb::handle(a), nb::handle(b),
                                              nb::arg("out") = nb::handle(a))
                .release()
                .ptr();
        }
        const arrays::View shape = broadcast(call.operands);
        if (!std::ranges::equal(shape.shape(), x.view.shape()))
            wrong("ValueError",
                  fmt::format(
                      "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
                      arrays::shown(x.view.shape()), arrays::shown(shape.shape())));
        const arrays::View layout = x.value->layout;
        const bool whole = x.whole();
        arrays::ValueP made = applied(*call.loop, std::move(call.operands), whole ? &layout : nullptr);
        if (made->dtype != x.value->dtype)
            made = applied(arrays::cast_loop(made->dtype, x.value->dtype),
                           {{made, made->layout, made->dtype}}, whole ? &layout : nullptr);
        assign(x, {made, made->layout, made->dtype});
        return Py_NewRef(a);
    });
}

template <int op>
PyObject* in_place_of(PyObject* a, PyObject* b) {
    return in_place(op, a, b);
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) {
    if (const int op = simple_power(a, b); op >= 0) return in_place(op, a, b, 1);
    return in_place(power_, a, b);
}

PyObject* get_item(PyObject* self, PyObject* key) {
    return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
        NumericArray& x = *numeric_array(self);
        bool scalar = false;
        const auto view = index_view(x.view, key, scalar);
        if (!view) return nb::handle(callbacks.getitem)(nb::handle(self), nb::handle(key)).release().ptr();
        if (!scalar) return numeric_object(viewed(x), *view, x.readonly).release().ptr();
        // One element is a value of its own, as NumPy's scalars are.
        const arrays::ValueP made = applied(arrays::cast_loop(x.value->dtype, x.value->dtype),
                                            {{x.value, *view, x.value->dtype}}, nullptr);
        return numeric_result(made).release().ptr();
    });
}

/// Only the expression that is being evaluated has it.
bool is_temporary(PyObject* object) {
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(object);
#else
    return Py_REFCNT(object) == 1;
#endif
}

int set_item(PyObject* self, PyObject* key, PyObject* given) {
    return guarded(-1, [&] {
        NumericArray& x = *numeric_array(self);
        if (!given) wrong("ValueError", "cannot delete array elements");
        bool scalar = false;
        const auto view = index_view(x.view, key, scalar);
        Operand from;
        int code = 0;
        const bool readable = view && read_operand(given, from, code);
        const bool fits = readable && (code < weak_int || convert_number(given, x.value->dtype, from));
        const bool loses = readable && is_complex(from.dtype) && !is_complex(x.value->dtype);
        // A number of another dtype becomes an integer as int() makes it, and fits or not.
        const bool whole = readable && !from.value && code < weak_int && is_integer(x.value->dtype) &&
                           from.dtype != x.value->dtype && from.dtype != DType::b1;
        if (!fits || loses || whole) {
            nb::handle(callbacks.setitem)(nb::handle(self), nb::handle(key), nb::handle(given));
            return 0;
        }
        const bool truth = x.value->dtype == DType::b1 && from.value && from.view.size() == 1;
        if (scalar && from.value && from.view.ndim > 0 && !truth) {
            if (is_complex(x.value->dtype))  // an element is made by complex() there
                wrong("TypeError", "only 0-dimensional arrays can be converted to Python scalars");
            wrong("ValueError", "setting an array element with a sequence.");
        }
        // x[...] = f(y): what is pending and has no other name is x's from now on, and need not be copied into it.
        const bool dies = from.value && from.value->pending() && from.value->arrays == 1 &&
                          from.view == from.value->layout && is_temporary(given);
        if (dies && !x.readonly && *view == x.view && take(x, from.value)) return 0;
        assign_view(x, *view, std::move(from), dies);
        return 0;
    });
}

PyObject* item(PyObject* self, Py_ssize_t i) {
    PyObject* key = PyLong_FromSsize_t(i);
    PyObject* made = key ? get_item(self, key) : nullptr;
    Py_XDECREF(key);
    return made;
}

int assign_item(PyObject* self, Py_ssize_t i, PyObject* given) {
    PyObject* key = PyLong_FromSsize_t(i);
    const int made = key ? set_item(self, key, given) : -1;
    Py_XDECREF(key);
    return made;
}

// operator.concat, and what + comes to where neither operand adds: sequences are put together so, arrays are not.
PyObject* concat(PyObject*, PyObject* other) {
    PyErr_Format(
        PyExc_TypeError,
        "unsupported operand type(s) for +: 'ndarray' and '%.100s'; np.concatenate([a, b]) puts arrays "
        "one after the other",
        Py_TYPE(other)->tp_name);
    return nullptr;
}

Py_ssize_t length(PyObject* self) {
    const NumericArray& x = *numeric_array(self);
    if (x.view.ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
        return -1;
    }
    return x.view.lengths[0];
}

#define SLOT(which, function) {which, reinterpret_cast<void*>(function)}
constexpr int slot_count = 36;

}  // namespace

bool convert_number(PyObject* number, DType to, Operand& operand) {
    operand.dtype = to;
    operand.more_bits = 0;
    if (to == DType::b1) {
        const int truth = PyObject_IsTrue(number);
        if (truth < 0) throw nb::python_error();
        operand.bits = static_cast<std::uint64_t>(truth);
        return true;
    }
    if (is_integer(to)) {
        if (PyLong_Check(number)) return integer_bits(number, to, operand.bits);
        return false;
    }
    if (is_complex(to)) {
        const Py_complex z = PyComplex_AsCComplex(number);
        if (z.real == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
        if (to == DType::c128) {
            operand.bits = bits_of(z.real);
            operand.more_bits = bits_of(z.imag);
        } else {
            operand.bits = bits_of(static_cast<float>(z.real)) | bits_of(static_cast<float>(z.imag)) << 32;
        }
        return true;
    }
    if (PyComplex_Check(number)) return false;
    const double x = PyFloat_AsDouble(number);
    if (x == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    operand.bits = float_bits(x, to);
    return true;
}

bool read_operand(PyObject* object, Operand& to, int& code) {
    if (const NumericArray* a = numeric_array(object)) {
        to = a->operand();
        code = static_cast<int>(to.dtype);
        return true;
    }
    if (PyFloat_CheckExact(object)) {
        code = weak_float;
        to.dtype = DType::f64;
        return true;
    }
    if (PyBool_Check(object)) {
        code = static_cast<int>(DType::b1);
        to.dtype = DType::b1;
        to.bits = object == Py_True;
        return true;
    }
    if (PyLong_CheckExact(object)) {
        code = weak_int;
        to.dtype = DType::i64;
        return true;
    }
    if (PyComplex_CheckExact(object)) {
        code = weak_complex;
        to.dtype = DType::c128;
        return true;
    }
    return read_numpy_scalar(object, to, code);
}

// Python classes inherit no such slot: it shares its name, __add__, with another.
void refuse_concat(PyTypeObject* type) { type->tp_as_sequence->sq_concat = concat; }

std::span<const PyType_Slot> numeric_operator_slots() {
    static const PyType_Slot slots[slot_count] = {
        SLOT(Py_nb_add, binary<add_>),
        SLOT(Py_nb_subtract, binary<subtract_>),
        SLOT(Py_nb_multiply, binary<multiply_>),
        SLOT(Py_nb_true_divide, binary<divide_>),
        SLOT(Py_nb_floor_divide, binary<floor_divide_>),
        SLOT(Py_nb_remainder, binary<remainder_>),
        SLOT(Py_nb_power, power),
        SLOT(Py_nb_lshift, binary<left_shift_>),
        SLOT(Py_nb_rshift, binary<right_shift_>),
        SLOT(Py_nb_and, binary<and_>),
        SLOT(Py_nb_or, binary<or_>),
        SLOT(Py_nb_xor, binary<xor_>),
        SLOT(Py_nb_negative, unary<negative_>),
        SLOT(Py_nb_positive, unary<positive_>),
        SLOT(Py_nb_absolute, unary<absolute_>),
        SLOT(Py_nb_invert, unary<invert_>),
        SLOT(Py_tp_richcompare, compare),
        SLOT(Py_nb_inplace_add, in_place_of<add_>),
        SLOT(Py_nb_inplace_subtract, in_place_of<subtract_>),
        SLOT(Py_nb_inplace_multiply, in_place_of<multiply_>),
        SLOT(Py_nb_inplace_true_divide, in_place_of<divide_>),
        SLOT(Py_nb_inplace_floor_divide, in_place_of<floor_divide_>),
        SLOT(Py_nb_inplace_remainder, in_place_of<remainder_>),
        SLOT(Py_nb_inplace_power, in_place_power),
        SLOT(Py_nb_inplace_lshift, in_place_of<left_shift_>),
        SLOT(Py_nb_inplace_rshift, in_place_of<right_shift_>),
        SLOT(Py_nb_inplace_and, in_place_of<and_>),
        SLOT(Py_nb_inplace_or, in_place_of<or_>),
        SLOT(Py_nb_inplace_xor, in_place_of<xor_>),
        SLOT(Py_mp_subscript, get_item),
        SLOT(Py_mp_ass_subscript, set_item),
        SLOT(Py_mp_length, length),
        SLOT(Py_sq_length, length),
        SLOT(Py_sq_item, item),
        SLOT(Py_sq_ass_item, assign_item),
        {0, nullptr}};
    return slots;
}

void bind_numeric_operators(nb::module_& module) {
    module.def("numeric_ufunc", [](std::string name, int inputs) {
        ufuncs().push_back({std::move(name), inputs, {}});
        return static_cast<int>(ufuncs().size()) - 1;
    });
    // The result; None where the fast way does not know the operands.
    // Scalars where NumPy has them, or arrays without axes.
    module.def("numeric_call", [](int ufunc, nb::args args) -> nb::object {
        const auto n = static_cast<int>(args.size());
        if (n != ufuncs()[static_cast<std::size_t>(ufunc)].inputs || n > 3) return nb::none();
        bool known = false;
        PyObject* result = call_fast(ufunc, &PyTuple_GET_ITEM(args.ptr(), 0), n, known);
        return known ? nb::steal(result) : nb::none();
    });
    // A loop by its dtypes; operands are arrays, or numbers to be converted to the loop's.
    module.def("numeric_apply",
               [](const std::string& name, const std::vector<std::string>& in, const std::string& out,
                  nb::tuple operands) -> nb::object {
                   std::vector<DType> dtypes;
                   for (const std::string& d : in) dtypes.push_back(dtype_named(d));
                   const Loop* loop = arrays::find_loop(name, dtypes, dtype_named(out));
                   if (!loop) return nb::none();
                   std::vector<Operand> given(operands.size());
                   bool any = false;
                   for (std::size_t i = 0; i < operands.size(); ++i) {
                       int code = 0;
                       PyObject* object = nb::handle(operands[i]).ptr();
                       if (!read_operand(object, given[i], code)) return nb::none();
                       if (code >= weak_int && !convert_number(object, dtypes[i], given[i]))
                           return nb::none();
                       any |= given[i].value != nullptr;
                   }
                   if (!any) return nb::none();
                   broadcast(given);
                   const arrays::ValueP made = applied(*loop, std::move(given), nullptr);
                   return numeric_object(made, made->layout);
               });
    module.def("numeric_has_loop",
               [](const std::string& name, const std::vector<std::string>& in, const std::string& out) {
                   std::vector<DType> dtypes;
                   for (const std::string& d : in) dtypes.push_back(dtype_named(d));
                   return arrays::find_loop(name, dtypes, dtype_named(out)) != nullptr;
               });
    module.def("numeric_loop_names", &arrays::loop_names);
    module.def("set_numeric_callbacks", [](nb::callable resolve, nb::callable slow, nb::callable getitem,
                                           nb::callable setitem, nb::list same_kind_pairs) {
        callbacks = {resolve.release().ptr(), slow.release().ptr(), getitem.release().ptr(),
                     setitem.release().ptr()};
        for (nb::handle pair : same_kind_pairs)
            same_kind()[nb::cast<std::size_t>(pair[0])][nb::cast<std::size_t>(pair[1])] = true;
    });
}

}  // namespace xcuda::python
