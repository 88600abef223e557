#include "passes/structure.hpp"

#include <algorithm>
#include <iterator>

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::passes {

using namespace ir;

bool breaks(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Stmt& s) {
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        return s.kind == Stmt::Kind::break_loop || (!loop && breaks(s.body)) || breaks(s.orelse);
    });
}

bool continues(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Stmt& s) {
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        return s.kind == Stmt::Kind::continue_loop || (!loop && continues(s.body)) || continues(s.orelse);
    });
}

bool has_leave(const Body& body) {
    bool found = false;
    each_stmt(body, [&](const Stmt& s) { found |= s.kind == Stmt::Kind::leave; });
    return found;
}

namespace {

bool ends_in_leave(const Body& b) { return !b.empty() && b.back().kind == Stmt::Kind::leave; }

}  // namespace

void structure_returns(Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i].kind == Stmt::Kind::leave) {  // what follows is never run, and the end is a return anyway
            body.resize(i);
            return;
        }
        if (body[i].kind != Stmt::Kind::branch) continue;
        const bool from_then = ends_in_leave(body[i].body), from_else = ends_in_leave(body[i].orelse);
        if (from_then != from_else) {
            Body rest(std::make_move_iterator(body.begin() + static_cast<std::ptrdiff_t>(i) + 1),
                      std::make_move_iterator(body.end()));
            body.resize(i + 1);
            Body& leaving = from_then ? body[i].body : body[i].orelse;
            Body& staying = from_then ? body[i].orelse : body[i].body;
            leaving.pop_back();
            for (Stmt& s : rest) staying.push_back(std::move(s));
        }
        Stmt& s = body[i];
        if (i + 1 == body.size()) {
            structure_returns(s.body);
            structure_returns(s.orelse);
        }
        if (s.body.empty() && !s.orelse.empty()) {
            s.exprs[0] = negate(s.exprs[0]);
            s.body.swap(s.orelse);
        }
    }
}

}  // namespace xcuda::passes
