// Statements: structured, as the user wrote them; a body is a list of statements by value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/expr.hpp"

namespace xcuda::ir {

/// What a tile statement does; see ir/tile.hpp for its expressions.
struct TileOp {
    enum class Kind : std::uint8_t { none, store, reduce, scan, mma };
    enum class Fold : std::uint8_t { sum, prod, max, min, argmax, argmin, custom };
    Kind kind = Kind::none;
    Fold fold = Fold::sum;                 // reduce, scan
    int axis = 0;                          // reduce: -1 is all of them; scan
    bool reverse = false;                  // scan: from the end
    std::optional<Atomic::Kind> atomic{};  // store
};

struct Stmt;
using Body = std::vector<Stmt>;

struct Stmt {
    enum class Kind : std::uint8_t {
        assign,  // var = exprs[0]
        store,  // exprs[0] (array var)[exprs[1..n]] = exprs[n+1]; `access`. A vector store: then the elements
                // from lane to lane, and perhaps a mask
        evaluate,    // exprs[0], for its effect
        branch,      // if exprs[0]: body else: orelse
        loop_range,  // for var in range(exprs[0], exprs[1], exprs[2]): body else: orelse; bounds read once
        loop_while,  // while exprs[0]: body else: orelse
        break_loop,
        continue_loop,
        leave,    // return [exprs[0]]
        barrier,  // all threads of the block; `site` tells it from others
        tile,     // `tile` says what; until gpu_runtime/tiles has lowered it
        fault,    // `site` says which: assert and raise
        // From here on: only after the CPU passes.
        poll,        // leave if the launch was stopped
        scope,       // body; a `leave` inside ends it, not the function
        run_fibers,  // the block of index exprs[0], thread by thread
        machine,     // text(exprs): a function of prelude_tiles.hpp, over numbers and addresses
    };
    /// cold: a scope that rarely runs, compiled for size, apart; what it assigns stays inside, but for arrays.
    /// unroll: a loop of few turns, written out on CUDA so that what it indexes can live in registers.
    /// together: a loop in which threads wait for one another: none may be stopped in it.
    /// neighbours: a loop of few turns over one copy, between registers and what lies side by side and aligned in memory.
    enum class Hint : std::uint8_t { none, cold, unroll, together, neighbours };

    Kind kind;
    Place place;
    VarId var = -1;
    std::vector<ExprP> exprs;
    Body body, orelse;
    Access access;
    int site = -1;
    Hint hint = Hint::none;
    TileOp tile;
    std::string
        text;  // machine; of a barrier on CUDA: the threads that meet, the first of the block, where not all do
    bool narrow = false;     // loop_range, after passes/narrow: counts in 32 bits
    std::int8_t likely = 0;  // branch, as passes/measured has seen it: 1 the body runs mostly, -1 mostly not
    int turns = 0;           // loop_range on CUDA: so many are written out at once; 0: the compiler's choice
};

/// A product of tiles.
inline bool is_product(const Stmt& s) {
    return s.kind == Stmt::Kind::tile && s.tile.kind == TileOp::Kind::mma;
}

XCUDA_API Stmt assign(VarId var, ExprP value, const Place& place = {});
XCUDA_API Stmt store(ExprP array, std::vector<ExprP> indices, ExprP value, Access access,
                     const Place& place = {});
XCUDA_API Stmt evaluate(ExprP effect, const Place& place = {});
XCUDA_API Stmt branch(ExprP condition, Body body, Body orelse = {}, const Place& place = {});
XCUDA_API Stmt loop_range(VarId var, ExprP start, ExprP stop, ExprP step, Body body, const Place& place = {});
XCUDA_API Stmt simple(Stmt::Kind kind, const Place& place = {});

}  // namespace xcuda::ir
