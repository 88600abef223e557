// Walks the kernel once with its coordinates and loops as ranges; `weight` is how often a statement runs in the launch.
// Counted: + - * / // % ** on floating numbers and each call of a table function, 1 each (so a multiply-add is 2).
#include "passes/cost.hpp"

#include <algorithm>
#include <cmath>

#include "frontend/functions.hpp"
#include "passes/cost_linear.hpp"

namespace xcuda::passes {
using namespace counting;
namespace {

using ir::Expr;
using ir::Op;
using ir::Stmt;

constexpr int max_while_rounds = 4096;  // a `while` whose condition is known is followed this far
constexpr int max_depth = 32;           // of calls; recursion is refused by the front end

int coordinate(ir::Coord::Kind kind, int axis) {
    return (kind == ir::Coord::Kind::thread ? 0 : kind == ir::Coord::Kind::block ? 3 : 6) + axis;
}

/// What is known where the walk stands.
struct State {
    double weight = 1;
    std::vector<Symbol> symbols;  // 0-2 thread, 3-5 block, 6-8 global, then loops
    std::vector<Linear> values;   // one a variable of the function
};

struct Traffic {
    double reads = 0, writes = 0;
    std::vector<Interval> hull;  // of all indices met, an axis each
};

class Walk {
public:
    Walk(const ir::Module& module, const CostInputs& inputs)
        : module_(module),
          inputs_(inputs),
          traffic_(module.kernel().params.size()) {}

    Cost run() {
        State state;
        state.symbols.resize(9);
        for (int axis = 0; axis < 3; ++axis) {
            state.symbols[axis] = {0, inputs_.block[axis]};
            state.symbols[3 + axis] = {0, inputs_.grid[axis]};
            state.symbols[6 + axis] = {0, inputs_.grid[axis] * inputs_.block[axis]};
            state.weight *= inputs_.grid[axis] * inputs_.block[axis];
        }
        const auto& kernel = module_.kernel();
        state.values.resize(kernel.vars.size());
        arrays_.assign(kernel.vars.size(), -1);
        for (int p = 0; p < static_cast<int>(kernel.params.size()); ++p) {
            if (kernel.vars[kernel.params[p]].type.is_array()) {
                arrays_[kernel.params[p]] = p;
            } else if (const auto value = inputs_.value(p)) {
                state.values[kernel.params[p]] = number(*value);
            }
        }
        body(kernel.body, state);
        for (int p = 0; p < static_cast<int>(kernel.params.size()); ++p) settle(p);
        return cost_;
    }

private:
    // Statements. Each leaves `state` as it is for the statement that follows; weight 0: nothing gets there.
    void body(const ir::Body& statements, State& state) {
        for (const Stmt& s : statements) {
            if (state.weight <= 0 || !cost_.complete) return;  // an incomplete count is of no use to anyone
            statement(s, state);
        }
    }

    void statement(const Stmt& s, State& state) {
        switch (s.kind) {
            case Stmt::Kind::assign:
                count(s.exprs[0], state);
                state.values[s.var] = value(*s.exprs[0], state);
                break;
            case Stmt::Kind::store:
                for (std::size_t i = 1; i < s.exprs.size(); ++i) count(s.exprs[i], state);
                touch(s.exprs, s.exprs.size() - 2, state, false, true);
                break;
            case Stmt::Kind::branch: branch(s, state); break;
            case Stmt::Kind::loop_range: loop_range(s, state); break;
            case Stmt::Kind::loop_while: loop_while(s, state); break;
            case Stmt::Kind::break_loop:
                cost_.complete = false;  // how many rounds a break saves is not known
                state.weight = 0;
                break;
            case Stmt::Kind::leave:
                if (!s.exprs.empty()) count(s.exprs[0], state);
                [[fallthrough]];
            case Stmt::Kind::continue_loop:
            case Stmt::Kind::fault: state.weight = 0; break;
            case Stmt::Kind::evaluate: count(s.exprs[0], state); break;
            case Stmt::Kind::barrier:
            case Stmt::Kind::poll: break;
            case Stmt::Kind::tile:  // these four: of stages that are not counted
            case Stmt::Kind::scope:
            case Stmt::Kind::run_fibers:
            case Stmt::Kind::machine: break;
        }
    }

    void branch(const Stmt& s, State& state) {
        count(s.exprs[0], state);
        auto [taken, other] = split(*s.exprs[0], state,
                                    [&](State& side, bool which) { body(which ? s.body : s.orelse, side); });
        if (taken.weight > 0 && other.weight > 0) {
            // Both sides go on: what only one of them knows is forgotten, ranges are those before.
            for (std::size_t v = 0; v < state.values.size(); ++v) {
                state.values[v] = taken.values[v] == other.values[v] ? taken.values[v] : Linear{};
            }
            state.weight = taken.weight + other.weight;
        } else {
            state = taken.weight > 0 ? std::move(taken) : std::move(other);
        }
    }

    /// Runs both sides of a condition, each with its share of the weight; halves where the share is not known.
    template <class Side>
    std::pair<State, State> split(const Expr& condition, const State& state, Side side) {
        State taken = state, other = state;
        const bool known = keep(condition, true, taken) && keep(condition, false, other);
        if (!known) {
            taken = other = state;
            taken.weight = other.weight = state.weight / 2;
        }
        const double before = total();
        if (taken.weight > 0) side(taken, true);
        const double first = total() - before;
        if (other.weight > 0) side(other, false);
        const double second = total() - before - first;
        if (!known && first != second) cost_.complete = false;
        return {std::move(taken), std::move(other)};
    }

    void loop_range(const Stmt& s, State& state) {
        for (const auto& e : s.exprs) count(e, state);
        const Linear start = value(*s.exprs[0], state), stop = value(*s.exprs[1], state);
        const Linear step = value(*s.exprs[2], state);
        double rounds = 1;
        Symbol range{0, 1};
        const Linear span = add(stop, start, -1);
        const bool known = span.known && step.constant() && step.offset != 0;
        if (known) {
            const double stride = std::abs(step.offset);
            const double length = mean(span, state.symbols) * (step.offset > 0 ? 1 : -1);
            // A length that differs between threads: the mean of ceil(length / stride).
            rounds = span.constant() ? std::ceil(length / stride) : (length + (stride - 1) / 2) / stride;
            const Interval first = interval(start, state.symbols), last = interval(stop, state.symbols);
            range = step.offset > 0 ? Symbol{first.low, last.high} : Symbol{last.low + 1, first.high + 1};
        } else {
            cost_.complete = false;
        }
        if (rounds > 0) {
            State inside = state;
            inside.weight *= rounds;
            forget_assigned(s.body, inside);
            inside.symbols.push_back(range);
            inside.values[s.var] = known ? symbol(static_cast<int>(inside.symbols.size()) - 1) : Linear{};
            body(s.body, inside);
        }
        forget_assigned(s.body, state);
        state.values[s.var] = {};
        body(s.orelse, state);
    }

    void loop_while(const Stmt& s, State& state) {
        const double weight = state.weight;
        for (int round = 0; round < max_while_rounds; ++round) {
            count(s.exprs[0], state);
            State inside = state;
            const double before = inside.weight;
            if (!keep(*s.exprs[0], true, inside) || (inside.weight > 0 && inside.weight < before)) break;
            if (inside.weight <= 0) {
                body(s.orelse, state);
                return;
            }
            body(s.body, inside);
            if (!cost_.complete) return;
            state = std::move(inside);
            if (state.weight <= 0) {  // left by break, continue or return
                state.weight = weight;
                return;
            }
        }
        cost_.complete = false;  // data decides
    }

    void forget_assigned(const ir::Body& statements, State& state) {
        for (const Stmt& s : statements) {
            if (s.var >= 0 && (s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::loop_range))
                state.values[s.var] = {};
            forget_assigned(s.body, state);
            forget_assigned(s.orelse, state);
        }
    }

    // Conditions. Narrows `state` to the threads for which `e` is `truth`; false: not known.
    bool keep(const Expr& e, bool truth, State& state) {
        switch (e.op) {
            case Op::logic_not: return keep(*e.args[0], !truth, state);
            case Op::cast: return e.args[0]->type.dtype == DType::b1 && keep(*e.args[0], truth, state);
            case Op::logic_and:
            case Op::logic_or: {
                if ((e.op == Op::logic_and) == truth)
                    return keep(*e.args[0], truth, state) && keep(*e.args[1], truth, state);
                State rest = state;
                if (!keep(e, !truth, rest)) return false;
                state.weight -= rest.weight;
                return true;
            }
            case Op::lt:
            case Op::le:
            case Op::gt:
            case Op::ge:
            case Op::eq:
            case Op::ne: return compare(e, truth, state);
            default: {
                const Linear v = value(e, state);
                if (!v.constant()) return false;
                if ((v.offset != 0) != truth) state.weight = 0;
                return true;
            }
        }
    }

    bool compare(const Expr& e, bool truth, State& state) {
        const Linear a = value(*e.args[0], state), b = value(*e.args[1], state);
        const Linear below = add(a, b, -1), above = add(b, a, -1);
        if (!below.known) return false;
        if (e.op == Op::eq || e.op == Op::ne) {
            if ((e.op == Op::eq) == truth) {
                state.weight *= keep_zero(below, state.symbols);
            } else {
                auto symbols = state.symbols;
                state.weight *= 1 - keep_zero(below, symbols);
            }
            return true;
        }
        // a < b and not (a >= b) are one; each as something below zero.
        const bool less = (e.op == Op::lt || e.op == Op::le) == truth;
        const bool strict = (e.op == Op::lt || e.op == Op::gt) == truth;
        state.weight *= keep_below_zero(less ? below : above, strict, state.symbols);
        return true;
    }

    // Values of whole-number expressions.
    Linear value(const Expr& e, const State& state) {
        switch (e.op) {
            case Op::constant: return number(ir::real_of(ir::number_of(e)));
            case Op::var: return state.values[ir::var_of(e)];
            case Op::cast:
                return is_floating(e.type.dtype) == is_floating(e.args[0]->type.dtype)
                           ? value(*e.args[0], state)
                           : Linear{};
            case Op::neg: return multiply(number(-1), value(*e.args[0], state));
            case Op::add: return coordinates(add(value(*e.args[0], state), value(*e.args[1], state)));
            case Op::sub: return coordinates(add(value(*e.args[0], state), value(*e.args[1], state), -1));
            case Op::mul: return multiply(value(*e.args[0], state), value(*e.args[1], state));
            case Op::dim: return length(e);
            case Op::coord: return coord(ir::coord_of(e));
            case Op::floordiv:
            case Op::mod:
            case Op::shl:
            case Op::shr: return constants(e, value(*e.args[0], state), value(*e.args[1], state));
            case Op::call: {
                const auto& name = frontend::function_of(std::get<ir::OverloadId>(e.payload)).name;
                if (e.args.size() != 2 || (name != "min" && name != "max")) return {};
                const Linear a = value(*e.args[0], state), b = value(*e.args[1], state);
                if (!a.constant() || !b.constant()) return {};
                return number(name == "min" ? std::min(a.offset, b.offset) : std::max(a.offset, b.offset));
            }
            default: return {};
        }
    }

    static Linear constants(const Expr& e, const Linear& a, const Linear& b) {
        if (!a.constant() || !b.constant()) return {};
        switch (e.op) {
            case Op::floordiv: return b.offset == 0 ? Linear{} : number(std::floor(a.offset / b.offset));
            case Op::mod:
                return b.offset == 0 ? Linear{}
                                     : number(a.offset - b.offset * std::floor(a.offset / b.offset));
            case Op::shl: return number(a.offset * std::exp2(b.offset));
            default: return number(std::floor(a.offset / std::exp2(b.offset)));
        }
    }

    /// block * block_dim + thread is the global coordinate: one range that a guard can narrow.
    Linear coordinates(Linear v) {
        for (int axis = 0; axis < 3 && v.terms.size() > 1; ++axis) {
            double thread = 0, block = 0;
            for (const auto& t : v.terms) {
                if (t.symbol == axis) thread = t.coefficient;
                if (t.symbol == 3 + axis) block = t.coefficient;
            }
            if (thread == 0 || block != thread * inputs_.block[axis]) continue;
            std::erase_if(v.terms, [&](auto& t) { return t.symbol == axis || t.symbol == 3 + axis; });
            v = add(v, symbol(6 + axis), thread);
        }
        return v;
    }

    Linear coord(const ir::Coord& c) const {
        using Kind = ir::Coord::Kind;
        switch (c.kind) {
            case Kind::block_dim: return number(inputs_.block[c.axis]);
            case Kind::grid_dim: return number(inputs_.grid[c.axis]);
            case Kind::grid_size: return number(inputs_.grid[c.axis] * inputs_.block[c.axis]);
            default: return symbol(coordinate(c.kind, c.axis));
        }
    }

    Linear length(const Expr& e) const {
        const int axis = std::get<ir::Axis>(e.payload).value;
        const Expr& array = *e.args[0];
        if (axis >= array.type.ndim) return {};  // a stride
        if (const int p = arrays_[ir::var_of(array)]; p >= 0) {
            const auto n = inputs_.length(p, axis);
            return n ? number(*n) : Linear{};
        }
        const auto& extents = array.type.extents;
        return axis < static_cast<int>(extents.size()) ? number(static_cast<double>(extents[axis]))
                                                       : Linear{};
    }

    // Work of an expression, run state.weight times.
    void count(const ir::ExprP& p, State& state) {
        const Expr& e = *p;
        if (e.op == Op::select) {
            count(e.args[0], state);
            split(*e.args[0], state, [&](State& side, bool which) { count(e.args[which ? 1 : 2], side); });
            return;
        }
        for (const auto& a : e.args) {
            if (!a->type.is_array()) count(a, state);
        }
        const double once = state.weight * e.type.lanes;
        if (is_arithmetic(e.op) && e.type.is_scalar() && info(e.type.dtype).kind >= DKind::floating)
            cost_.flops += once;
        switch (e.op) {
            case Op::load: touch(e.args, e.args.size() - 1, state, true, false); break;
            case Op::atomic:
                if (is_floating(e.args.back()->type.dtype)) cost_.flops += once;
                touch(e.args, e.args[0]->type.ndim, state, true, true);
                break;
            case Op::invoke: invoke(e, state); break;
            default: break;
        }
    }

    void invoke(const Expr& e, State& state) {
        if (depth_ >= max_depth) return;
        const auto& callee = module_.functions[std::get<ir::FunctionId>(e.payload).value];
        State inside{state.weight, state.symbols, std::vector<Linear>(callee.vars.size())};
        std::vector<int> arrays(callee.vars.size(), -1);
        for (std::size_t i = 0; i < e.args.size() && i < callee.params.size(); ++i) {
            if (e.args[i]->type.is_array()) {
                arrays[callee.params[i]] = arrays_[ir::var_of(*e.args[i])];
            } else {
                inside.values[callee.params[i]] = value(*e.args[i], state);
            }
        }
        std::swap(arrays, arrays_);
        ++depth_;
        body(callee.body, inside);
        --depth_;
        std::swap(arrays, arrays_);
    }

    // Global memory: args[0] is the array, `axes` indices follow.
    void touch(const std::vector<ir::ExprP>& args, std::size_t axes, const State& state, bool read,
               bool write) {
        const int p = arrays_[ir::var_of(*args[0])];
        if (p < 0) return;
        Traffic& t = traffic_[p];
        if (read) t.reads += state.weight;
        if (write) t.writes += state.weight;
        const bool first = t.hull.empty();
        t.hull.resize(axes, {0, 0});
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const Linear index = value(*args[1 + axis], state);
            const double length = inputs_.length(p, static_cast<int>(axis)).value_or(0);
            Interval range = index.known ? interval(index, state.symbols) : Interval{0, length - 1};
            if (range.low < 0 || range.high > length - 1)
                range = {0, length - 1};  // wraps, or a guard not understood
            auto& hull = t.hull[axis];
            hull = first ? range : Interval{std::min(hull.low, range.low), std::max(hull.high, range.high)};
        }
    }

    void settle(int p) {
        const Traffic& t = traffic_[p];
        if (t.hull.empty()) return;
        double touched = inputs_.elements(p), box = 1;
        for (const auto& range : t.hull) box *= range.high - range.low + 1;
        touched = std::min(touched, box);
        const auto& kernel = module_.kernel();
        const double size = static_cast<double>(info(kernel.vars[kernel.params[p]].type.dtype).size);
        cost_.bytes_read += std::min(t.reads, touched) * size;
        cost_.bytes_written += std::min(t.writes, touched) * size;
    }

    double total() const {
        double sum = cost_.flops;
        for (const auto& t : traffic_) sum += t.reads + t.writes;
        return sum;
    }

    const ir::Module& module_;
    const CostInputs& inputs_;
    std::vector<int> arrays_;       // variable of the function -> kernel parameter it is, -1
    std::vector<Traffic> traffic_;  // one a kernel parameter
    Cost cost_;
    int depth_ = 0;
};

}  // namespace

bool is_arithmetic(ir::Op op) {
    switch (op) {
        case Op::add:
        case Op::sub:
        case Op::mul:
        case Op::truediv:
        case Op::floordiv:
        case Op::mod:
        case Op::pow:
        case Op::call: return true;
        default: return false;
    }
}

Cost cost(const ir::Module& module, const CostInputs& inputs) { return Walk(module, inputs).run(); }

}  // namespace xcuda::passes
