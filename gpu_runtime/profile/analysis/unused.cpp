#include <fmt/format.h>

#include "ir/walk.hpp"
#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using namespace ir;

void unused_names(const Subject& subject, std::vector<Finding>& found) {
    const Function& kernel = subject.typed.kernel();
    std::vector<bool> named(kernel.vars.size(), false), read(kernel.vars.size(), false);
    each_stmt(kernel.body, [&](const Stmt& s) {
        for (std::size_t i = 0; i < s.exprs.size(); ++i) {
            const bool target = s.kind == Stmt::Kind::store && i == 0;
            each_expr(s.exprs[i], [&](const Expr& e) {
                if (e.op != Op::var) return;
                named[static_cast<std::size_t>(var_of(e))] = true;
                if (!target) read[static_cast<std::size_t>(var_of(e))] = true;
            });
        }
    });
    for (const VarId p : kernel.params) {
        const Var& v = kernel.vars[static_cast<std::size_t>(p)];
        if (named[static_cast<std::size_t>(p)]) continue;
        found.push_back({{},
                         kernel.place,
                         fmt::format("the argument {} is never used", v.name),
                         v.type.is_array()
                             ? "take it out of the signature: a host array would be copied for nothing"
                             : "take it out of the signature",
                         std::nullopt,
                         v.name});
    }
    for (std::size_t i = 0; i < kernel.vars.size(); ++i) {
        const Var& v = kernel.vars[i];
        if (v.role != Var::Role::shared || read[i]) continue;
        found.push_back({{},
                         v.place.known() ? v.place : kernel.place,
                         fmt::format("the shared array {} is {}", v.name,
                                     named[i] ? "written and never read" : "never used"),
                         "take it out: shared memory of a block limits how many blocks run at once",
                         std::nullopt,
                         v.name});
    }
}

}  // namespace xcuda::profile::analysis
