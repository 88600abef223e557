// Whether two arrays share memory, as CUDA text.
#pragma once

#include <string>

#include "emit/writer.hpp"

namespace xcuda::emit {

/// Of an Op::apart.
std::string apart(Writer& w, const ir::Expr& e);

}  // namespace xcuda::emit
