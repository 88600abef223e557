#include "emit/shadowed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"

namespace xcuda::emit {

using namespace ir;

namespace {

// The bits of declare_set.
std::string set_name(const std::string& array) { return "xc_set_" + array; }

const char* space_word(Space space) { return space == Space::shared ? "XC_SHARED" : "XC_GLOBAL"; }

// Local arrays that a function which stays one is given, or whose address goes somewhere: what is written there is not seen.
bool given_away(const Function& f, VarId array) {
    bool found = false;
    each_expr(f.body, [&](const Expr& e) {
        const bool address = e.op == Op::atomic && std::get<Atomic>(e.payload).kind == Atomic::Kind::address;
        if (e.op != Op::invoke && !address) return;
        for (const ExprP& a : e.args) found |= a->op == Op::var && var_of(*a) == array;
    });
    return found;
}

}  // namespace

std::string shadowed(Writer& w, const Expr& array, const std::string& at, const char* what, int site) {
    const Type& t = array.type;
    if (t.space == Space::local) {
        const VarId id = var_of(array);
        const bool own = w.function.vars[static_cast<std::size_t>(id)].role == Var::Role::local_array;
        if (!own) return at;  // a caller's, which takes it for written
        return fmt::format("xc_touched_own({0}, {1}, {2}, {3}, {4}, {5}, XC_HERE)", at, w.name(id),
                           set_name(w.name(id)), id, what, site);
    }
    const char* space = space_word(t.space);
    if (t.layout != Layout::bytes)
        return fmt::format("xc_touched<{}>({}, {}, {}, XC_HERE)", space, at, what, site);
    return fmt::format("xc_touched_at<{}, {}>({}, {}, {}, XC_HERE)", space, info(t.dtype).size, at, what,
                       site);
}

void shadowed_store(Writer& w, const Stmt& s, const Expr& array, const Expr& value) {
    const std::string at = w.element(array, s.exprs.data() + 1, s.access, Writer::Touch::none);
    const bool bytes = array.type.layout == Layout::bytes;
    w.line(fmt::format("{{ const {} xc_v = {}; xc_stored{}<{}>({}, xc_v, {}, XC_HERE); }}", w.type(value.type),
                       w.expr(value), bytes ? "_at" : "", space_word(array.type.space), at, s.access.site));
}

void declare_set(Writer& w, VarId id) {
    const Var& v = w.function.vars[static_cast<std::size_t>(id)];
    if (!w.needs.shadow || v.role != Var::Role::local_array) return;
    std::int64_t elements = 1;
    for (const std::int64_t n : v.type.extents) elements *= n;
    const std::int64_t words = (elements + 31) / 32;
    const std::string set = set_name(w.name(id));
    w.line(fmt::format("u32 {}[{}] = {{}};", set, std::max<std::int64_t>(words, 1)));
    if (given_away(w.function, id))
        w.line(fmt::format("for (i32 xc_i = 0; xc_i < {}; ++xc_i) {}[xc_i] = ~0u;", words, set));
}

int barrier_number(Writer& w, int site) {
    if (!w.needs.shadow) return site;
    std::vector<int>& all = w.needs.watched->barriers;
    const auto at = std::find(all.begin(), all.end(), site);
    if (at != all.end()) return static_cast<int>(at - all.begin());
    all.push_back(site);
    return static_cast<int>(all.size()) - 1;
}

}  // namespace xcuda::emit
