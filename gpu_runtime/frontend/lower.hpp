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

/// Types each argument, finds every variable's type by fixpoint and lowers the body.
/// Throws refused() with the user's place for what the kernel language does not have.
XCUDA_API ir::Module lower(const Source& source, const std::vector<ir::Type>& arguments, bool checked);

}  // namespace xcuda::frontend
