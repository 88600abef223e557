// The IR as readable C++ text for either device, with #line back to the user's source.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"

namespace xcuda::emit {

enum class Target { cpu, cuda };

struct Text {
    std::string source;  // prelude and kernel, ready for device::Device::compile
    std::string kernel;  // the kernel's own part, as `%cuda_source` shows it
    std::string entry;   // extern "C" name
    // CUDA: of its shared arrays, which are more than a block may declare: to be added to each launch's dynamic ones.
    std::int64_t moved_shared_bytes = 0;
};

/// `module` has been through passes/cpu for Target::cpu.
XCUDA_API Text emit(const ir::Module& module, Target target);

}  // namespace xcuda::emit
