// What a report of a crash has of ours: the text of the kernel that was launched last.
#pragma once

#include "launch/program.hpp"

namespace xcuda::launch {

/// From now on a fatal signal (segfault, bus error, illegal instruction, abort) appends that text to a file before it goes
/// to whoever handled it until now. Once; an empty path changes nothing.
XCUDA_API void write_crashes_to(const std::string& path);

/// Costs two stores: it is called at each launch.
void note_launch(const Specialisation& kernel);

}  // namespace xcuda::launch
