// Operands as boxes of arrays, which the copy engine of sm_90 brings, and the parts of a kernel that a warp which asks for
// them shares with the others.
#pragma once

#include <set>

#include "tiles/threads.hpp"

namespace xcuda::tiles {

struct Boxes {
    ir::VarId array = -1, tile = -1;
    bool turned = false;
    int axes = 2;
    ir::ExprP x, y, z;  // where the first turn's begins
    std::int64_t dx = 0, dy = 0;
};

/// Whether `inside` asks for nothing but that the indices lie in the array, which is what the copy engine asks.
bool asks_for_bounds(const ir::ExprP& inside, const ir::ExprP& array, const std::vector<ir::ExprP>& indices);

/// What `fed`, an assignment to an operand in `loop`, reads; absent where it is no box of an array, or no steady one.
std::optional<Boxes> boxes_of(const Threads& t, const ir::Stmt& fed, bool turned, const ir::Stmt& loop);
/// The boxes' index among the module's maps, where it is put.
std::size_t map_of(const Threads& t, ir::Module& module, const Boxes& b);

bool fails_alone(const ir::Body& body);                    // nothing but faults
bool is_pure(const ir::ExprP& e, bool per_block = false);  // the same for all blocks, or for one's threads

/// Numbers that the kernel's own statements alone write, one after the other, become one of each write.
void write_once(Threads& t);

/// A kernel's statements: those that are the same for all blocks (or for all threads of each), with all that
/// may stop a thread; and the others.
struct Halves {
    ir::Body first, rest;
    std::set<ir::VarId> early;  // what `first` assigns
};
Halves halves_of(const Threads& t, bool per_block = false);

/// Of a block's threads and 128 beside them, these keep `few` registers and the others have theirs.
void share_registers(int threads, int few, ir::Body& beside, ir::Body& others);

/// Its barriers are met by so many threads, the others of the block elsewhere.
void meet_by_number(ir::Body& body, int threads);

}  // namespace xcuda::tiles
