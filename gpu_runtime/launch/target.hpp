// A kernel compiled for an architecture that is not here: what it would use there.
#pragma once

#include <memory>
#include <string>

#include "launch/program.hpp"

namespace xcuda::launch {

struct Targeted {
    std::string architecture;
    emit::Text text;
    device::Source source;  // what the compiler was given
    device::Image image;
    double seconds = 0;  // from typed IR to cubin
};

/// For "sm_90" and the like, as a launch that names its shape would have it. Throws a ValueError for what is no
/// architecture, missing() without NVRTC. `automatic`: as a launch that leaves the shape to us. `block`: as launches of
/// this shape have it, where the lowering wants that.
XCUDA_API Targeted compile_for(const Program& program, const Lowered& lowered,
                               const std::string& architecture, bool automatic = false,
                               const std::optional<device::Dim3>& block = {});

/// Its PTX there, as a launch that names its shape would have it.
XCUDA_API std::string ptx_for(const Program& program, const Lowered& lowered,
                              const std::string& architecture);

}  // namespace xcuda::launch
