// What the text of a kernel with shadow memory has in place of plain accesses (emit/prelude_shadow.hpp).
#pragma once

#include "emit/writer.hpp"

namespace xcuda::emit {

/// The element `at`, once it has been looked at; `what`: "XC_READ", ...
std::string shadowed(Writer& w, const ir::Expr& array, const std::string& at, const char* what, int site);
/// A store: the value is had first, as ever, and looked at with its element.
void shadowed_store(Writer& w, const ir::Stmt& s, const ir::Expr& array, const ir::Expr& value);
/// Which elements of a thread's own array are written, a bit each; where a function that stays one is given the array, what
/// it writes is not seen, and all count as written.
void declare_set(Writer& w, ir::VarId array);
/// As a barrier tells of itself: its site, or of a kernel with shadow memory its place among the barriers.
int barrier_number(Writer& w, int site);

}  // namespace xcuda::emit
