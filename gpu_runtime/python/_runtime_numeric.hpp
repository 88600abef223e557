// numeric's arrays as Python holds them: a view of a value of the lazy graph.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "_runtime_array.hpp"
#include "_runtime_stream.hpp"
#include "arrays/plan.hpp"

namespace xcuda::python {

constexpr int most_depth = 48;  // of pending values under one

struct NumericArray {
    arrays::ValueP value;
    arrays::View view;
    bool readonly = false;
    bool scalar =
        false;  // where NumPy has one of its scalars: operators in place leave it alone and make another

    NumericArray(arrays::ValueP v, const arrays::View& of) : value(std::move(v)), view(of) {
        arrays::hold(value);
    }
    ~NumericArray() { arrays::let_go(*value); }
    NumericArray(const NumericArray&) = delete;
    NumericArray& operator=(const NumericArray&) = delete;

    /// The value's elements, all in their order.
    bool whole() const { return view == value->layout; }
    arrays::Operand operand() const { return {value, view, value->dtype}; }
};

/// Null where the object is no array of numeric's.
NumericArray* numeric_array(PyObject* object);
nb::object numeric_object(arrays::ValueP value, const arrays::View& view, bool readonly = false);
/// What an operation gives: the value's array, where it has no axes as a scalar.
nb::object numeric_result(const arrays::ValueP& value);
/// What views of the array are of: its value, of a scalar's a copy.
arrays::ValueP viewed(const NumericArray& array);
/// numeric's array over a device array's memory.
nb::object numeric_over(const DeviceArray& array);

/// Launches of the device's current stream.
arrays::Queue queue_on(const std::shared_ptr<device::Device>& device);
/// All that arrays hold and is pending.
void flush_all();
/// The array's elements are in memory; all else that is pending comes with them.
void ready(NumericArray& array);
/// The same, for others who may write to the memory: who still has to read it reads it now.
void expose(NumericArray& array);

/// Where the user's program asks for a value.
arrays::Site site_here();

/// A new value of a loop; computed at once where others may write to what it reads, or where the graph is large.
arrays::ValueP applied(const arrays::Loop& loop, std::vector<arrays::Operand> operands,
                       const arrays::View* like);
/// The value in place of the array's own, where nobody else sees that one's memory and it lies alike; false elsewhere.
bool take(NumericArray& array, const arrays::ValueP& from);
/// Elements for the array: by another value in its place where nobody else sees its memory, else by a write.
void assign(NumericArray& array, const arrays::Operand& from);
/// A write to a view of the array. `dies`: the array that holds the operand's value, all of it, ends with the write, so that
/// what is pending need not be in memory of its own.
void assign_view(NumericArray& array, const arrays::View& view, arrays::Operand from, bool dies = false);

/// Python's and NumPy's numbers and numeric's arrays, as operands. `code`: their kind for promotion.
constexpr int weak_int = 15, weak_float = 16, weak_complex = 17, codes = 18;
bool read_operand(PyObject* object, arrays::Operand& to, int& code);
/// The number as one of another dtype; false where it does not fit.
bool convert_number(PyObject* number, DType to, arrays::Operand& operand);

/// The view that a key of ints, slices, None and Ellipsis selects; nothing for other keys. `scalar`: it names one element.
std::optional<arrays::View> index_view(const arrays::View& of, PyObject* key, bool& scalar);

/// The array folded by a ufunc's loop over a dtype; None where there is no such loop.
nb::object fold_array(NumericArray& array, const std::string& ufunc, const std::string& loop_dtype,
                      const std::string& out, const std::vector<int>& axes, bool keepdims,
                      nb::handle identity);

/// Arrays one after the other along an axis of one that nobody has seen yet; their other lengths are its own.
void join_along(NumericArray& array, nb::list arrays, int axis);

void bind_numeric(nb::module_& module);
void bind_numeric_operators(nb::module_& module);
void bind_numeric_capture(nb::module_& module);
void bind_numeric_direct(nb::module_& module);
void bind_numeric_choices(nb::module_& module);
/// Slots of the class: operators and indexing.
std::span<const PyType_Slot> numeric_operator_slots();
void refuse_concat(PyTypeObject* type);

}  // namespace xcuda::python
