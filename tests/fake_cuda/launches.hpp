// A launch: nothing runs; it is noted, and ends as ordered.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "state.hpp"

namespace fake {

using LaunchCall = void (*)(const char* name, const unsigned* grid_and_block, void* parameters,
                            unsigned long long bytes);
void on_launch(LaunchCall call);
/// Of a cubin's kernel, from its .nv.info section; 0 where it has none. Of PTX too: 0.
std::size_t parameter_bytes(const std::string& image, const std::string& kernel);
/// True where the image holds a kernel of this name.
bool has_kernel(const std::string& image, const std::string& kernel);

}  // namespace fake
