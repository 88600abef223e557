// The text of a watched kernel, which tells what profile/check looks for: accesses of every memory, meetings and fences of
// threads, and floating operations that make an inf or a nan of finite numbers.
#pragma once

#include <string>
#include <vector>

#include "emit/emit.hpp"

namespace xcuda::emit {

/// A floating operation that is looked at: "/", "**", "log", or the type that is cast to.
struct WatchedOperation {
    Place place;
    std::string name;
    int operands;
};

struct WatchedPoints {
    std::vector<WatchedOperation> operations;
};

/// `module` has been through passes/traced.
XCUDA_API Text emit_watched(const ir::Module& module, WatchedPoints& points);

}  // namespace xcuda::emit
