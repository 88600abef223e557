// The preludes' texts, put into the library by CMake: what each device's C++ means by the emitter's words.
#pragma once

#include <span>
#include <string_view>

namespace xcuda::emit {

std::string_view prelude_cpu();
std::string_view prelude_cuda();
std::string_view prelude_math();  // shared by both

/// A piece that goes into a kernel's text only where the kernel names something that begins with one of `marks`.
struct PreludePart {
    std::span<const std::string_view> marks;
    std::string_view text;
};
std::span<const PreludePart> prelude_parts();

}  // namespace xcuda::emit
