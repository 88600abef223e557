// What an expression of the user's source can be while it is lowered, and what a variable's name holds.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/names.hpp"
#include "ir/module.hpp"

namespace xcuda::frontend {

/// One axis of a view: which axis of the array it is, and where it lies there; without start the whole of it.
struct ViewAxis {
    int base = -1;  // -1: an axis of length 1, made by None
    ir::ExprP start, length;
    std::int64_t step = 1;
    ir::ExprP by = nullptr;  // the step where only the run tells it
};

struct Seen;  // frontend/seen.hpp
struct ArrayExpression;

struct Value {
    enum class Kind {
        scalar,      // `expr`; of type none while its type is not known yet
        tuple,       // `items`
        array,       // `expr` is the array's variable
        view,        // a part of an array: `expr`, `indices`, `axes`
        expression,  // an array computed where it is used: `expression`
        records,  // an array of records, a part of one, or a record (`ndim` 0): `items` are its `fields` as arrays
        slice,  // start:stop:step, each a number or none: `items`
        ellipsis,
        range,  // start, stop, step: `items`
        lazy,   // enumerate, zip, reversed (`text`) of `items`; a generator expression: `node`
        none,
        seen,  // an array, or an expression of arrays, as a tile program sees it through its tile: `seen`
        string,
        dtype,
        closure,  // a lambda or an inner function: `node`, `names`, `captured`; `items` are its defaults
        meaning,  // a function, module, host object: `meaning`, written `text`
    };
    Kind kind = Kind::none;
    ir::ExprP expr;
    std::vector<Value> items;
    std::vector<std::string> fields;  // tuple: their names, of a struct whose type is `text`
    bool only_fields = false;         // a dataclass: no sequence
    std::vector<ir::ExprP> indices;  // view: by axis of the array; null where the view has an axis of its own
    std::vector<ViewAxis> axes;      // view
    std::size_t ndim = 0;            // records: axes left, beside those of array fields
    std::optional<DType> viewed;     // array or view that a name holds: its elements are read as this dtype
    bool joined = false;  // view: reshape made axes of several of the array's, which lie behind one another
    std::uint8_t tested = 0;  // view: bit per axis of the array whose index needs no test any more
    DType dtype = DType::i64;
    std::string text;
    std::string written;  // tuple: the name or attribute that gave it, `i` or `x.shape`, if one did
    const Meaning* meaning = nullptr;  // also of records and structured dtypes: the dtype
    std::shared_ptr<const ArrayExpression> expression;
    const ast::Node* node = nullptr;
    const NameTable* names = nullptr;  // closure: what its global names mean
    std::shared_ptr<const std::map<std::string, Value>>
        captured;  // closure met outside the function that made it
    std::shared_ptr<const Seen> seen;
    Place place;

    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_array() const { return kind == Kind::array; }
    bool is_indexed() const { return kind == Kind::array || kind == Kind::view; }
    bool is_tuple() const { return kind == Kind::tuple; }
    bool has_elements() const { return is_indexed() || kind == Kind::expression; }
};

Value scalar_value(ir::ExprP expr);
Value tuple_value(std::vector<Value> items);
std::vector<ir::ExprP*> view_parts(Value& view);  // every number it is made of, or its fields are
std::vector<Value*> array_leaves(Value& value);   // itself, or the arrays of its fields
ir::ExprP step_of(const ViewAxis& axis, const Place& place);
bool is_record_dtype(const Value& v);
bool is_array_attribute(std::string_view name);   // `shape`, `size` and the like
bool same_fixed(const Value& a, const Value& b);  // both name the same array, function, dtype, string or None
bool alike(const Value& a, const Value& b);  // arrays, or views of one form, of one dtype and as many axes

/// What a name holds through the whole function: one number type, a tuple of such, or one fixed thing.
struct Slot {
    enum class Kind { unknown, scalar, tuple, fixed };
    Kind kind = Kind::unknown;
    ir::Type type;          // scalar
    std::size_t arity = 0;  // tuple: its items are slots of their own, "name.0", "name.1"
    Value fixed;
    Place place;              // the assignment that gave it its present form
    bool nonnegative = true;  // every number assigned to it is known to be >= 0
    bool one_coord = true;    // every number assigned to it is `coord`
    std::optional<ir::Coord> coord;
    bool one_constant = true;  // the same literal each time
    std::optional<ir::Number> constant;

    bool operator==(const Slot& other) const;
};

/// Which names every path to here has assigned, and what is named by those that hold no number; dead after return, break
/// and the like. `torn`: names that mean one thing or another, by the path taken.
struct Flow {
    bool live = true;
    std::set<std::string> bound;
    std::map<std::string, Value> fixed{};
    std::map<std::string, std::string> torn{};  // which two, and where
    std::set<std::string> unlike{};             // of torn names: no number can say which of the two is meant
    std::map<std::string, std::string> shapes{};  // of names that hold a tile: the variable of its shape
    std::set<std::string> mixed{};                // names whose tiles have one shape or another
};
Flow meet(const Flow& a, const Flow& b);

/// What the names of parameters begin with that stand for a device array outside the kernel.
inline std::string captured_name(int number) { return "captured " + std::to_string(number) + " "; }
bool is_captured(const std::string& parameter);

bool is_time_value(const ir::ExprP& e);      // datetime64 or timedelta64
ir::ExprP time_bits(const ir::ExprP& time);  // its integer

}  // namespace xcuda::frontend
