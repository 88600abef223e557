// The emitter's state for one function, and its three parts: types, expressions, statements.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "emit/watched.hpp"

namespace xcuda::emit {

/// What the text of a whole module collects on the way.
struct Needs {
    WatchedPoints* watched = nullptr;  // of a watched kernel (emit/watched.hpp)
    bool shadow = false;               // it looks at shadow memory itself, and tells nobody

    std::set<std::string> vector_types;  // typedefs
    std::set<std::string> declarations;  // extern functions: libmvec's
};

struct Writer {
    const ir::Module& module;
    const ir::Function& function;
    Target target;
    Needs& needs;
    std::vector<std::string> names;  // by variable
    std::string out;
    int indent = 1;
    int counter = 0;  // for names of its own
    Place last_line;
    struct Loop {
        std::string broke;  // the flag that a break sets, where the loop has an else
        std::string out{};  // the label behind the loop, where it is two in C++
    };
    std::vector<Loop> loops;

    Writer(const ir::Module& m, const ir::Function& f, Target t, Needs& n);

    // types.cpp
    std::string type(const ir::Type& type);
    // expressions.cpp
    std::string expr(const ir::Expr& e);
    /// An element read, or assigned `value`, through the cache operator that the user asked for.
    std::string hinted(ir::CacheHint hint, const std::string& at, const std::string* value) const;
    enum class Touch { read, write, atomic, none };  // none: whoever asks looks at it himself
    std::string element(const ir::Expr& array, const ir::ExprP* indices, const ir::Access& access,
                        Touch touch);  // "A[...]", or its address where strides are in bytes
    // statements.cpp
    void body(std::span<const ir::Stmt> b);
    void line(const std::string& text);
    void open(const std::string& head);
    void close(const std::string& tail = "");

    const std::string& name(ir::VarId v) const { return names[static_cast<std::size_t>(v)]; }
    bool cpu() const { return target == Target::cpu; }
};

/// The kernel's extern "C" name.
std::string entry_name(const ir::Module& module);
/// An array variable's length along an axis, and its stride.
std::string length_name(const std::string& array, int axis);
std::string stride_name(const std::string& array, int axis);

}  // namespace xcuda::emit
