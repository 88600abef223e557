// Which matrix instruction makes a product of tiles.
#pragma once

#include <optional>
#include <string>

#include "ir/tile.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// The number that xc_tile_mma is told a product's instruction by; absent: none fits what it takes and sums in.
std::optional<int> matrix_kind(const ir::Function& f, const ir::Stmt& product, const Plan& plan);
/// Four warps have an instruction of that kind too, for operands whose memory holds columns as rows or not.
bool is_for_four_warps(int kind, bool a_turned, bool b_turned);
/// Whether a lowered kernel has products by four warps' instructions.
bool by_four_warps(const ir::Function& lowered);
/// What the products of a kernel are made of, each named once; empty where it has none. `lowered`: its machine
/// statements; `programs`: the kernel before.
std::string instructions_of(const ir::Function& programs, const ir::Function& lowered, const Plan& plan);

}  // namespace xcuda::tiles
