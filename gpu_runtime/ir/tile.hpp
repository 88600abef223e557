// Tiles in the IR. A tile variable holds a small array of fixed extents that the whole block computes together. What is
// done element by element is one scalar expression for all its elements, whose leaves (Op::element, position, spread)
// say what they are at "this" element; leaves of fewer or shorter axes broadcast as NumPy's arrays do. `var = e` with a
// tile variable is such a map; a load from an array is an Op::load over positions. The rest are statements of kind tile:
//   store   array[indices] = the elements where `inside`; exprs: array, an index per axis of it, the elements, inside
//           (a bool). With an atomic it is that instead, and `var`, where there is one, takes the old values
//   reduce  var = fold of exprs[0] along an axis, which stays with length 1; along all: var is a scalar
//   scan    var = running fold of exprs[0] along an axis
//           A custom fold of either: exprs[1] is what becomes of the numbers exprs[3] and exprs[4], which are variables,
//           exprs[2] what changes nothing
//   mma     var = exprs[0] @ exprs[1] + exprs[2], (m, k) @ (k, n), summed in var's dtype
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/module.hpp"

namespace xcuda::ir {

using Extents = std::vector<std::int64_t>;

/// Stands for the elements of a tile: holds a leaf.
XCUDA_API bool is_tile(const Expr& e);
/// The extents it has: of its leaves, broadcast together; none where it is one number.
XCUDA_API Extents extents_of(const Expr& e);
/// NumPy's broadcast; absent where they don't fit.
XCUDA_API std::optional<Extents> broadcast(const Extents& a, const Extents& b);
XCUDA_API std::int64_t elements(const Extents& extents);

XCUDA_API ExprP element(VarId tile, const Type& type, const Place& place = {});
/// Another view of a tile variable: `indices` over the positions of `extents`.
XCUDA_API ExprP element_at(VarId tile, const Type& type, Extents extents, std::vector<ExprP> indices,
                           const Place& place = {});
XCUDA_API ExprP position(int axis, Extents extents, const Place& place = {});  // a weak int64
XCUDA_API ExprP spread(ExprP value, Extents extents, const Place& place = {});

/// The expression with its leaves replaced; leaves inside leaves are not visited.
XCUDA_API ExprP replace_leaves(const ExprP& e, const std::function<ExprP(const ExprP&)>& leaf);

XCUDA_API Stmt tile_stmt(TileOp op, VarId var, std::vector<ExprP> exprs, const Place& place = {});

/// "(16, 16)"
XCUDA_API std::string to_string(const Extents& extents);

}  // namespace xcuda::ir
