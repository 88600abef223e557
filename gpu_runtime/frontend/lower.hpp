// From a Python function's syntax tree and the types of its arguments to typed IR.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/ast.hpp"
#include "ir/module.hpp"

namespace xcuda::frontend {

/// A kernel's source with what its free names mean, as python/xcuda/core/source.py captured it.
struct Source {
    std::string name;
    std::string file;     // as tracebacks name it: "<ipython-input-3-...>", "/home/me/k.py"
    ast::NodeP function;  // the FunctionDef
    std::string names;    // JSON: free dotted name -> meaning (see source.py); helpers carry their own source
};

/// What the compiler makes of a tile kernel's `tile_size`, which only states the unit of the result.
struct TileUnit {
    std::vector<std::int64_t> extents;  // of the result's tile; empty: as written
    std::int64_t depth = 0;             // elements of the inner dimension at a time; 0: as the tile is wide
    bool operator==(const TileUnit&) const = default;
};

/// Types each argument, finds every variable's type by fixpoint and lowers the body.
/// Throws refused() with the user's place for what the kernel language does not have.
XCUDA_API ir::Module lower(const Source& source, const std::vector<ir::Type>& arguments, bool checked,
                           const TileUnit& unit = {});

}  // namespace xcuda::frontend
