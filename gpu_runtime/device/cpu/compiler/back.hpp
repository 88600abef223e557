// LLVM module -> object file or assembly for the host: our pass pipeline and the code generator.
#pragma once

#include <string>

#include "device/cpu/compiler/options.hpp"

namespace llvm {
class Module;
}

namespace xcuda::device::cpu {

/// Appends to `out` (bytes of an ELF object, or text). False: `log` says why.
bool generate(llvm::Module& module, const CompileOptions& options, bool assembly, std::string& out,
              std::string& log);

}  // namespace xcuda::device::cpu
