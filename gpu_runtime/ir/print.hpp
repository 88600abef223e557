// The IR as text close to Python, for `%cuda_source --ir`, XCUDA_DUMP and golden tests.
#pragma once

#include <string>

#include "ir/module.hpp"

namespace xcuda::ir {

XCUDA_API std::string to_string(const Module& module);
XCUDA_API std::string to_string(const Function& function, const Module* module = nullptr);
XCUDA_API std::string to_string(const Function& function, const Expr& expr);

}  // namespace xcuda::ir
