// An object file -> code that runs in this process, by LLVM's JITLink.
#pragma once

#include <string>

#include "device/cpu/compiler/abi.hpp"

namespace xcuda::device::cpu {

bool link(const LoadRequest& request, LoadedObject& loaded, std::string& log);
void unlink(void* handle);

}  // namespace xcuda::device::cpu
