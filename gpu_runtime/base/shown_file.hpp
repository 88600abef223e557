// What a file is called before the user: front ends keep a cell's text in a file of a name that says nothing.
#pragma once

#include <string>

#include "base/export.hpp"

namespace xcuda {

/// From now on shown_file(file) gives `shown`: "<cell 3>".
XCUDA_API void show_file_as(const std::string& file, const std::string& shown);

}  // namespace xcuda
