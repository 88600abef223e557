// Expressions: immutable trees, each node an operation, a type, a place in the user's source and a payload.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "ir/type.hpp"

namespace xcuda::ir {

using VarId = int;  // index into Function::vars

enum class Op : std::uint8_t {
    constant,  // payload Number
    var,       // payload VarId
    neg,
    bit_not,
    logic_not,
    add,
    sub,
    mul,
    truediv,
    floordiv,
    mod,
    pow,
    shl,
    shr,
    bit_and,
    bit_or,
    bit_xor,  // args of the node's type
    lt,
    le,
    gt,
    ge,
    eq,
    ne,  // args of one type; the node is bool
    logic_and,
    logic_or,  // short-circuit, on bool
    select,    // (condition, if true, if false); only the taken side is evaluated
    cast,      // to the node's type; NumPy's astype on x86-64
    call,  // a function of frontend/functions' table; payload OverloadId; with an effect: only whole in a statement
    invoke,  // a device function of this module; payload FunctionId; only whole in a statement
    load,    // (array var, index per axis); payload Access
    dim,     // (array var); payload Axis: its length there, a weak int; from ndim on its stride
    coord,   // payload Coord, a weak int
    atomic,  // (array var, index per axis, value[, compare]); payload Atomic; gives the old value
    print,   // (numbers); payload Access, whose site has the format; gives nothing, only whole in a statement
    bound,   // (index, length): the index in a view; payload Access, whose bit is the view's axis
    // Of tile kernels, until gpu_runtime/tiles has lowered them (ir/tile.hpp): leaves of an expression that stands for
    // each element of a tile. The node's type has the extents of the tile that the leaf is.
    element,  // (tile var[, index per axis of it]): an element; the indices are over this leaf's own positions
    position,  // payload Axis: the element's index along that axis
    spread,    // (value): the same value, or a smaller tile's, over these extents
    // From here on: only after the passes.
    address,  // (array var, index per axis); payload Access: of an element, for a machine statement
    apart,    // (array var, array var): no byte is in both; a bool
    ramp,     // (base): base, base + 1, ... over the node's lanes
    splat,    // (scalar): the same in each lane
};

using Number = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>>;
struct OverloadId {
    int value;
    bool operator==(const OverloadId&) const = default;
};
struct FunctionId {
    int value;
    bool operator==(const FunctionId&) const = default;
};  // index into Module::functions
struct Axis {
    int value;
    bool operator==(const Axis&) const = default;
};

/// PTX' cache operators, of global memory on CUDA; elsewhere they change nothing.
enum class CacheHint : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };

/// How an array is indexed. `check[axis]` false: proven, or tested before; negative wraps only where checked or `wrap`.
struct Access {
    int site = -1;             // index into Module::sites
    std::uint8_t checked = 0;  // bit per axis: tested at the access
    std::uint8_t wrap = 0;     // bit per axis: may be negative and then counts from the end
    bool aligned = false;      // of lanes: lane 0 lies at a multiple of the vector's size
    bool joined = false;       // of several axes as one: its indices run over their lengths
    bool masked = false;       // CPU passes: only the first `tail` lanes are touched (see Function::tail)
    CacheHint hint = CacheHint::none;
    bool operator==(const Access&) const = default;
};

struct Coord {
    enum class Kind : std::uint8_t { thread, block, block_dim, grid_dim, global, grid_size };
    Kind kind;  // global: block * block_dim + thread; grid_size: grid_dim * block_dim
    int axis;   // 0 is x
    bool operator==(const Coord&) const = default;
};

struct Atomic {
    enum class Kind : std::uint8_t {
        add,
        sub,
        max,
        min,
        exch,
        cas,
        bit_and,
        bit_or,
        bit_xor,
        inc,
        dec,
        nanmax,
        nanmin,
        address,  // no operation: the element's address as a uint64, through which anything may be done
    };
    enum class Part : std::uint8_t { whole, real, imag };  // of a complex element
    Kind kind;
    Access access;
    Part part = Part::whole;
    bool operator==(const Atomic&) const = default;
};

/// What a call does beside giving a value, weakest first; each is one more than those before it.
enum class Effect : std::uint8_t {
    none,
    order,  // is seen by others or reads what changes by itself: stays where it is, as often as it is
    warp,   // threads of a warp meet
    block,  // all threads of the block meet
    grid,   // all threads of the grid meet
};

struct Expr;
using ExprP = std::shared_ptr<const Expr>;

struct Expr {
    Op op;
    Type type;
    Place place;
    std::vector<ExprP> args;
    std::variant<std::monostate, Number, VarId, OverloadId, FunctionId, Axis, Access, Coord, Atomic> payload;
};

// Builders; types are the caller's to get right (ir/verify checks them).
XCUDA_API ExprP make(Op op, Type type, std::vector<ExprP> args, const Place& place = {});
XCUDA_API ExprP constant(Number value, Type type, const Place& place = {});
XCUDA_API ExprP int_constant(std::int64_t value, const Place& place = {});  // weak int64
XCUDA_API ExprP var(VarId id, Type type, const Place& place = {});
XCUDA_API ExprP dim(ExprP array, int axis, const Place& place = {});
XCUDA_API ExprP coord(Coord::Kind kind, int axis, const Place& place = {});
XCUDA_API ExprP cast(ExprP value, Type type);  // the value itself where the type is already so
/// The same node over other arguments.
XCUDA_API ExprP with_args(const Expr& node, std::vector<ExprP> args);

XCUDA_API bool same_number(const Number& a,
                           const Number& b);        // of one kind and bits: nan is nan, -0.0 is not 0.0
XCUDA_API bool same(const Expr& a, const Expr& b);  // structurally equal, places aside
XCUDA_API Effect effect_of(const Expr& e);          // of this node alone, where it is a call
XCUDA_API bool has_effect(const Expr& e);           // holds an atomic, an invoke or a call with an effect
XCUDA_API bool may_fault(const Expr& e);  // holds a checked access, or a division by a number that may be 0

inline VarId var_of(const Expr& e) { return std::get<VarId>(e.payload); }
inline const Access& access_of(const Expr& e) { return std::get<Access>(e.payload); }
inline const Coord& coord_of(const Expr& e) { return std::get<Coord>(e.payload); }
inline const Number& number_of(const Expr& e) { return std::get<Number>(e.payload); }
/// As a double; of a complex number its real part.
XCUDA_API double real_of(const Number& n);

}  // namespace xcuda::ir
