#include "passes/stepped.hpp"

#include <iterator>

#include "ir/walk.hpp"
#include "passes/inline.hpp"
#include "passes/structure.hpp"
#include "passes/traced.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

Stmt tell(const char* what, std::vector<ExprP> exprs, const Place& place) {
    Stmt s = simple(Stmt::Kind::machine, place);
    s.text = what;
    s.exprs = std::move(exprs);
    return s;
}

bool holds_load(const ExprP& e) {
    bool found = false;
    each_expr(e,
              [&](const Expr& n) { found |= n.op == Op::load || n.op == Op::atomic || n.op == Op::invoke; });
    return found;
}

class Stepper {
public:
    Stepper(Function& kernel, std::vector<Step>& steps) : kernel_(kernel), steps_(steps) {}

    void body(Body& b) {
        Body out;
        for (Stmt& s : b) {
            const bool is_break = s.kind == Stmt::Kind::assign && at(s.var).role == Var::Role::hidden &&
                                  at(s.var).name == "breakpoint";
            // A line of several statements is one step; a breakpoint is always one of its own.
            const bool same = !steps_.empty() && last_ == s.place.line && !is_break;
            if (s.place.known() && (!same || !s.body.empty())) {
                out.push_back(
                    tell("xc_step", {int_constant(static_cast<std::int64_t>(steps_.size()))}, s.place));
                steps_.push_back({s.place, is_break});
                last_ = s.place.line;
            }
            const Place place = s.place;
            if (s.kind == Stmt::Kind::loop_range && shows(s.var)) {
                body(s.body);
                s.body.insert(s.body.begin(), saw(s.var, place));
                // Each turn begins at the loop's line.
                s.body.insert(
                    s.body.begin(),
                    tell("xc_step", {int_constant(static_cast<std::int64_t>(steps_.size()))}, place));
                steps_.push_back({place, false});
            } else {
                body(s.body);
            }
            if (!s.body.empty()) last_ = -1;
            body(s.orelse);
            if (!s.orelse.empty()) last_ = -1;
            const bool assigns = s.kind == Stmt::Kind::assign && shows(s.var);
            const VarId variable = s.var;
            Body after = s.kind == Stmt::Kind::store ? stored(s) : Body{};
            out.push_back(std::move(s));
            if (assigns) out.push_back(saw(variable, place));
            out.insert(out.end(), std::make_move_iterator(after.begin()),
                       std::make_move_iterator(after.end()));
        }
        b = std::move(out);
    }

private:
    const Var& at(VarId v) const { return kernel_.vars[static_cast<std::size_t>(v)]; }
    bool shows(VarId v) const { return at(v).role != Var::Role::hidden && at(v).type.is_scalar(); }

    Stmt saw(VarId v, const Place& place) const {
        return tell("xc_saw", {int_constant(v), var(v, at(v).type)}, place);
    }

    // The element that was written, read again.
    Body stored(const Stmt& s) const {
        const Expr& array = *s.exprs[0];
        const auto ndim = static_cast<std::size_t>(array.type.ndim);
        if (array.op != Op::var || array.type.layout == Layout::bytes) return {};
        std::vector<ExprP> args{s.exprs[0]};
        Body out;
        for (std::size_t d = 0; d < ndim; ++d) {
            if (holds_load(s.exprs[d + 1])) return {};  // it may be another one by now
            args.push_back(s.exprs[d + 1]);
            out.push_back(
                tell("xc_at", {int_constant(static_cast<std::int64_t>(d)), s.exprs[d + 1]}, s.place));
        }
        auto load =
            std::make_shared<Expr>(*make(Op::load, scalar(array.type.dtype), std::move(args), s.place));
        Access access = s.access;
        access.checked = 0;  // the store itself was
        load->payload = access;
        out.push_back(tell("xc_stored", {int_constant(var_of(array)), load}, s.place));
        return out;
    }

    Function& kernel_;
    std::vector<Step>& steps_;
    int last_ = -1;
};

}  // namespace

Module stepped(Module module, const CpuOptions& options, std::vector<Step>& steps) {
    inline_calls(module);
    structure_returns(module.kernel().body);
    Stepper(module.kernel(), steps).body(module.kernel().body);
    return traced(std::move(module), options);
}

}  // namespace xcuda::passes
