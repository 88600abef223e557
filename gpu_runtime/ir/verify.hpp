// Checks a module against the one table of what each operation takes and gives; a breach is a bug of ours.
#pragma once

#include "ir/module.hpp"

namespace xcuda::ir {

enum class Stage { typed, cpu };  // which operations and statements may stand there

/// Throws base/error's bug() naming the function, the node and the rule.
XCUDA_API void verify(const Module& module, Stage stage, const char* after);

}  // namespace xcuda::ir
