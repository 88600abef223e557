// A traced kernel that also tells of each statement of the user's before it runs, and of what it assigned: what a debugger
// shows line by line.
#pragma once

#include <vector>

#include "passes/cpu.hpp"

namespace xcuda::passes {

/// A statement that tells of itself; its number is the place in the list.
struct Step {
    Place place;
    bool breakpoint = false;  // a call of breakpoint()
};

/// As `traced`; variables are told by their number in the fiber's.
XCUDA_API ir::Module stepped(ir::Module module, const CpuOptions& options, std::vector<Step>& steps);

}  // namespace xcuda::passes
