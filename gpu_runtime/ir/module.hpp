// A compiled unit: a kernel, the device functions it calls, and the places where it can fault.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ir/stmt.hpp"

namespace xcuda::ir {

struct Var {
    enum class Role : std::uint8_t { parameter, local, shared, local_array, hidden, constant };
    std::string name;  // the user's; hidden ones are the compiler's
    Type type;
    Role role = Role::local;
    Place place;                 // first assignment
    bool maybe_unbound = false;  // read where not every path has assigned it
    int constant = -1;           // role constant: index into Module::constants
    int alignment = 0;           // shared and local arrays: in bytes, where the user asks for one
    // Of an array parameter: the lengths known while compiling, -1 elsewhere; empty: none.
    std::vector<std::int64_t> lengths{};
    bool small = false;  // an integer parameter that fits 32 bits, with room for a step beyond
};

/// An array whose elements are known when the kernel is compiled.
struct Constant {
    Type type;
    std::string bytes;  // in C order
};

/// Where a thread may stop, and what the user is told then.
struct Site {
    enum class Kind : std::uint8_t { index, zero_division, assertion, raised, unbound, meeting, printed };
    Kind kind;
    Place place;
    std::string subject;  // index: the array's name; raised: the exception type; unbound: the variable;
                          // meeting: the function that threads wait in
    std::string message;  // assertion, raised: the text; printed: its format (frontend/lower_print)
    int ndim = 0;         // index: which parameter shape it belongs to
    int parameter = -1;   // index into Function::params, -1 for shared and local arrays
    std::vector<std::int64_t> extents;  // shared and local arrays
};

/// A function in the user's CUDA C++, extern "C": its parameters are the Function's, its body is not ours.
struct Foreign {
    std::string symbol;
    bool gives_status = false;  // it writes its result to a first parameter and returns 0 where all went well
    bool cooperative = false;   // the launch must be one of the whole grid
};

struct CudaSource {
    std::string name, text;
    bool operator==(const CudaSource&) const = default;
};

struct Function {
    std::optional<Foreign> foreign;
    std::string name;
    Place place;
    std::vector<VarId> params;
    std::vector<Var> vars;
    Body body;
    Type result;  // none for kernels
    bool is_kernel = true;

    // After passes/cpu.
    VarId begin = -1, end = -1;                              // the blocks to run, [begin, end)
    std::array<VarId, 3> low{-1, -1, -1}, high{-1, -1, -1};  // of a box kernel: the threads to run
    VarId tail = -1;                                         // lanes that a masked vector access touches
    std::vector<ExprP> where;  // thread x, y, z and block x, y, z of the running lane, for fault records

    VarId add(Var var) {
        vars.push_back(std::move(var));
        return static_cast<VarId>(vars.size()) - 1;
    }
};

/// How the device may cut the grid of a kernel that knows only global indices.
struct BoxWork {
    enum class Weight : std::int64_t { light, calls, loops };  // of a thread
    std::array<ExprP, 3> low, high;  // the threads that pass the guard, over parameters and the grid
    int vector_axis = 0;             // neighbours along it touch neighbouring elements
    int width = 1, rows = 1;         // of a tile: threads along the vector axis, and across
    Weight weight = Weight::light;
};

/// Of a traced kernel: a branch or a loop that tells of itself; its Stmt::site is its place in the list.
struct TracePoint {
    enum class Kind : std::uint8_t { branch, loop };
    Kind kind;
    Place place;
};

/// Of a tile kernel: how many programs there are.
struct TilePrograms {
    std::vector<ExprP> grid;  // along x, y, z, over parameters; empty: the kernel does not tell
    bool free_unit = false;   // the result's tile is the compiler's choice
};

/// What the copy engine of a GPU is told of an array: the box that one of its copies fetches, in rows of 128 bytes.
struct TensorMap {
    int parameter = 0;                // index into Function::params
    std::vector<std::int64_t> box{};  // elements along each axis
    bool operator==(const TensorMap&) const = default;
};

struct Module {
    std::vector<Function> functions;  // [0] is the kernel; callees come after their callers or before, no cycles
    std::vector<Site> sites;
    std::vector<Constant> constants;
    std::vector<CudaSource> sources;    // the user's CUDA C++, compiled before ours
    std::vector<std::string> warnings;  // "cell 3, line 5: ..." for the report

    std::optional<TilePrograms> programs;  // a tile kernel's
    std::vector<TensorMap> maps;           // that come after the arguments: xc_args.map0, map1

    // After passes/cpu.
    std::optional<BoxWork>
        boxes;  // the kernel runs boxes of the grid's threads, thread by thread; else whole blocks
    std::optional<Function> tiles;  // the same box as vector tiles; false: it can't be, and nothing was done
    std::optional<Function> fiber;  // one thread of the kernel, where it must run as fibers
    bool whole_grid = false;        // of the whole grid at once: one piece of work
    // After passes/cuda.
    bool narrow_index = false;  // every global array has fewer than 2^31 elements between its ends
    int most_threads = 0, least_blocks = 0,
        most_cluster = 0;                       // the user's launch bounds, 0 where there are none
    int together = 1;                           // blocks along z that form a cluster
    std::array<int, 3> hardware_axis{0, 1, 2};  // which of x, y, z an axis of cuda.grid is

    // After passes/traced: the parameter that holds the sink's address, and what tells it beside the accesses.
    std::optional<VarId> trace;
    std::vector<TracePoint> points;

    std::string how;  // "threads", "tiles 8x2x16", "regions", "fibers": for the report

    Function& kernel() { return functions.front(); }
    const Function& kernel() const { return functions.front(); }
};

}  // namespace xcuda::ir
