// C++ text -> LLVM module, by clang's front end in this process. Reads no file and no standard header.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/cpu/compiler/options.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace xcuda::device::cpu {

/// Null if the text did not compile; `log` then holds clang's diagnostics.
std::unique_ptr<llvm::Module> parse(std::string_view text, const CompileOptions& options,
                                    llvm::LLVMContext& context, std::string& log);

}  // namespace xcuda::device::cpu
