// The preludes' texts, put into the library by CMake: what each device's C++ means by the emitter's words.
#pragma once

#include <string_view>

namespace xcuda::emit {

std::string_view prelude_cpu();
std::string_view prelude_cuda();
std::string_view prelude_math();  // shared by both

}  // namespace xcuda::emit
