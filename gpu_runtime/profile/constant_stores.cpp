#include "profile/constant_stores.hpp"

#include "ir/walk.hpp"

namespace xcuda::profile {

std::set<int> constant_stores(const ir::Module& module) {
    std::set<int> constant, other;
    const auto look = [&](const ir::Body& body) {
        ir::each_stmt(body, [&](const ir::Stmt& s) {
            if (s.kind != ir::Stmt::Kind::store) return;
            const auto ndim = static_cast<std::size_t>(s.exprs[0]->type.ndim);
            (s.exprs[ndim + 1]->op == ir::Op::constant ? constant : other).insert(s.access.site);
        });
    };
    for (const ir::Function& f : module.functions) look(f.body);
    if (module.fiber) look(module.fiber->body);
    for (const int site : other) constant.erase(site);
    return constant;
}

}  // namespace xcuda::profile
