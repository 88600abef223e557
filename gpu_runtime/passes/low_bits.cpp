#include "passes/low_bits.hpp"

#include "passes/build.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

struct Demand {
    const Function& f;
    bool narrow_arrays;
    std::vector<bool>& low;
    bool changed = false;

    bool wide_integer(const Type& t) const { return t.dtype == DType::i64 || t.dtype == DType::u64; }

    // Of the node's arguments that are asked for as few bits as it is.
    bool passes_on(const Expr& e, std::size_t arg) const {
        switch (e.op) {
            case Op::add:
            case Op::sub:
            case Op::mul:
            case Op::neg:
            case Op::bit_not:
            case Op::bit_and:
            case Op::bit_or:
            case Op::bit_xor: return true;
            case Op::select: return arg > 0;
            case Op::shl: {
                const auto by = integer_of(e.args[1]);
                return arg == 0 && by && *by >= 0 && *by < 32;
            }
            case Op::cast: return is_integer(e.type.dtype) && is_integer(e.args[0]->type.dtype);
            default: return false;
        }
    }

    void indexed(const std::vector<ExprP>& args, const Access& access, int ndim) {
        for (std::size_t i = 1; i < args.size(); ++i) {
            const bool index = i <= static_cast<std::size_t>(ndim);
            const bool as_it_is = index && !((access.checked | access.wrap) >> (i - 1) & 1);
            expr(*args[i], as_it_is && narrow_arrays);
        }
    }

    void expr(const Expr& e, bool only_low) {
        if (e.op == Op::var) {
            if (e.type.is_array() || only_low) return;
            const auto v = static_cast<std::size_t>(var_of(e));
            changed |= low[v];
            low[v] = false;
            return;
        }
        if (e.op == Op::load) return indexed(e.args, access_of(e), e.args[0]->type.ndim);
        if (const auto* atomic = std::get_if<Atomic>(&e.payload))
            return indexed(e.args, atomic->access, e.args[0]->type.ndim);
        const bool cut = e.op == Op::cast && is_integer(e.type.dtype) && !wide_integer(e.type);
        for (std::size_t i = 0; i < e.args.size(); ++i)
            expr(*e.args[i], cut ? is_integer(e.args[i]->type.dtype) : only_low && passes_on(e, i));
    }

    void body(const Body& b) {
        for (const Stmt& s : b) {
            if (s.kind == Stmt::Kind::store)
                indexed(s.exprs, s.access, s.exprs[0]->type.ndim);
            else
                for (const ExprP& e : s.exprs)
                    expr(*e, s.kind == Stmt::Kind::assign && low[static_cast<std::size_t>(s.var)]);
            body(s.body);
            body(s.orelse);
        }
    }
};

}  // namespace

void keep_low_only(const Function& function, bool narrow_arrays, std::vector<bool>& low) {
    for (bool again = true; again;) {
        Demand demand{function, narrow_arrays, low};
        demand.body(function.body);
        again = demand.changed;
    }
}

}  // namespace xcuda::passes
