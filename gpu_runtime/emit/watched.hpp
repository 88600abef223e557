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
    std::vector<int> barriers;  // of a kernel with shadow memory: sites, by the numbers that the text gives them
};

/// `module` has been through passes/traced.
XCUDA_API Text emit_watched(const ir::Module& module, WatchedPoints& points);
/// The same with shadow memory, for either device. For CUDA the module has been through passes/traced's shadowed().
XCUDA_API Text emit_shadow(const ir::Module& module, Target target, WatchedPoints& points);

}  // namespace xcuda::emit
