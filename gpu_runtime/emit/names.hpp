// C++ names for a function's variables: the user's own where C++ allows them, made unique where not.
#pragma once

#include <string>
#include <vector>

#include "ir/module.hpp"

namespace xcuda::emit {

/// One name a variable, distinct within the function and from C++'s keywords and the preludes' names.
std::string constant_name(int index);  // of a module's constant array
std::vector<std::string> variable_names(const ir::Function& function);
/// An identifier from any text: letters, digits and _; others as their code points.
std::string identifier(const std::string& text);

}  // namespace xcuda::emit
