// What the kernel language does not have, in one table: what the user is told, and what to write instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/names.hpp"
#include "frontend/value.hpp"

namespace xcuda::frontend {

// What to write, where more than one place says it.
inline constexpr const char* to_print = "print takes texts and numbers side by side: print(\"x\", x)";
inline constexpr const char* whole_number = "write int(...), or // where it was divided";

/// For a class of ast's ("Try", "Lambda"): a SyntaxError at the node.
[[noreturn]] void refuse_node(const ast::Node& node);

/// True for the classes of refuse_node's table that no place in a kernel takes; a list or a string has places.
bool refused_everywhere(std::string_view kind);

/// For a call of a function that the table of kernel functions lacks ("builtins.print", "numpy.dot").
[[noreturn]] void refuse_function(const std::string& spelling, const std::string& written,
                                  const Place& place);

/// For a name that means nothing here, or something that cannot enter a kernel.
[[noreturn]] void refuse_meaning(const Meaning& meaning, const std::string& written, const Place& place);

/// The nearest of `known` to `name`, or nothing.
std::string nearest(std::string_view name, const std::vector<std::string_view>& known);

/// "float32", "a Python int", "a tuple of 2", "array A of float32[:, ::1]": as messages say it.
std::string spoken(const Value& value);
std::string spoken(const ir::Type& type);

}  // namespace xcuda::frontend
