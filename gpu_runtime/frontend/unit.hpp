// What the functions of one module share while they are lowered, and what passes between them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/lower.hpp"
#include "frontend/refusals.hpp"
#include "frontend/value.hpp"
#include "frontend/written.hpp"
#include "ir/tile.hpp"

namespace xcuda::frontend {

/// What a parameter is given: a number or array type, a tuple of such, or one fixed thing (None, a function).
struct Argument {
    enum class Kind { scalar, array, view, records, tuple, closure, fixed } kind = Kind::scalar;
    ir::Type type;
    int root = -1;          // array: which of the kernel's parameters it is, for messages
    ir::VarId choice = -1;  // array, view: the caller's variable that stands for one array or another
    std::vector<Argument>
        items;  // tuple; records: its fields; view: its numbers; closure: its defaults, then what it captured
    std::vector<std::string> names;     // closure: of what it captured
    Value fixed;                        // view, closure: its form
    const Meaning* constant = nullptr;  // fixed: of a kernel's own parameter
    std::string key() const;            // equal keys share one compiled helper
};

/// Refused for a number of run time where one is needed that is known while compiling. A helper's call is tried again
/// with the literals among its arguments as such.
struct NeedsConstant : Error {
    explicit NeedsConstant(const Error& error) : Error(error) {}
};

struct FunctionSource {
    std::string name;
    const ast::Node& function;
    const NameTable& names;
    const NameTable& defaults;
    bool is_kernel;
};

/// A lowered function. A helper that returns a tuple takes one local array of length 1 an item after its parameters.
struct Lowered {
    ir::Function function;
    Slot result;
    std::vector<ir::Type> item_types;  // of a tuple's items
    std::vector<std::string> warnings;
    bool written_in = false;  // holds a barrier or a shared array: passes/inline writes it into its callers
};

/// All that the functions of one module share.
struct Unit {
    bool checked = true;
    Names names;
    TileUnit tile;  // of a tile kernel
    ir::TilePrograms programs;
    std::vector<ir::Site> sites;
    std::vector<ir::Constant> constants;
    std::map<const Meaning*, int> constant_ids;
    std::map<std::string, int> site_ids;
    std::vector<std::unique_ptr<Lowered>> helpers;  // FunctionId is the index + 1; the kernel is 0
    std::map<std::string, int> helper_ids;          // helper and argument types -> FunctionId
    std::vector<ir::CudaSource> sources;            // of the declared functions that were met
    std::map<std::pair<const ast::Node*, const ast::Node*>, std::unique_ptr<Written>>
        written;                                           // of a tile kernel's helpers, by call and function
    std::map<std::string, const NameTable*> marked_names;  // by mark: what a written helper's free names mean
    std::vector<const ast::Node*> active;  // functions being lowered: a second entry is recursion

    int site(ir::Site site);
};

}  // namespace xcuda::frontend
