#include "passes/call_ranges.hpp"

#include "ir/walk.hpp"
#include "passes/ranges.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

std::size_t callee_of(const Expr& e) {
    return static_cast<std::size_t>(std::get<FunctionId>(e.payload).value);
}

// Callers before those they call; there are no cycles.
void in_order(const Module& module, std::size_t index, std::vector<bool>& seen,
              std::vector<std::size_t>& reversed) {
    if (seen[index]) return;
    seen[index] = true;
    each_expr(module.functions[index].body, [&](const Expr& e) {
        if (e.op == Op::invoke) in_order(module, callee_of(e), seen, reversed);
    });
    reversed.push_back(index);
}

}  // namespace

void spread_ranges(Module& module, const RangeOptions& options) {
    if (module.functions.size() < 2) return;
    std::vector<bool> seen(module.functions.size(), false);
    std::vector<std::size_t> reversed;
    in_order(module, 0, seen, reversed);
    for (std::size_t i = 1; i < module.functions.size(); ++i)
        for (const VarId p : module.functions[i].params) {
            Var& v = module.functions[i].vars[static_cast<std::size_t>(p)];
            v.small = v.type.is_scalar() && is_integer(v.type.dtype);  // until a call says otherwise
        }
    for (auto index = reversed.rbegin(); index != reversed.rend(); ++index) {
        Function& caller = module.functions[*index];
        Ranges ranges(caller, options);
        ranges.run(caller.body, [&](Stmt& s) {
            if (s.exprs.empty() || s.exprs[0]->op != Op::invoke || !ranges.reached()) return;
            Function& callee = module.functions[callee_of(*s.exprs[0])];
            for (std::size_t p = 0; p < callee.params.size(); ++p) {
                Var& v = callee.vars[static_cast<std::size_t>(callee.params[p])];
                if (v.small && !ranges.of(s.exprs[0]->args[p]).within(small_numbers(v.type.dtype)))
                    v.small = false;
            }
        });
    }
}

}  // namespace xcuda::passes
