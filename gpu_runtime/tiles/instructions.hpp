// Which matrix instruction makes a product of tiles.
#pragma once

#include <optional>
#include <string>

#include "ir/tile.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// The number that xc_tile_mma is told a product's instruction by; absent: none fits what it takes and sums in.
std::optional<int> matrix_kind(const ir::Function& f, const ir::Stmt& product, const Plan& plan);
/// "mma.sync m16n8k16, float16"
std::string instruction_words(int kind);
/// What all products of a kernel are made of, each named once; empty where it has none.
std::string instructions_of(const ir::Function& f, const Plan& plan);

}  // namespace xcuda::tiles
