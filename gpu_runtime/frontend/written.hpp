// The text of a tile kernel's helper as it is written in where it is called: under names of its own, with its result in a
// variable.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontend/ast.hpp"

namespace xcuda::frontend {

struct Written {
    std::vector<std::string> parameters;                  // as marked, in order
    std::vector<ast::NodeP> body;                         // a copy; returns are assignments to `result`
    ast::NodeP value;                                     // where it is one expression: that, and no body
    std::string result;                                   // empty: it returns nothing
    std::set<std::string> assigned, loop_only, changing;  // as of scan.hpp
};

/// `mark` tells this call's names from others': `x` becomes `x#mark`. `all`: the function's free names too, which are
/// another module's. Throws refused() for a return within a loop, and where some paths alone return something.
Written written(const ast::Node& function, const std::string& name, const std::string& mark, bool all);

/// A name as the user wrote it.
inline std::string unmarked(const std::string& name) { return name.substr(0, name.find('#')); }

}  // namespace xcuda::frontend
