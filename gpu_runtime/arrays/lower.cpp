#include <algorithm>
#include <array>

#include "arrays/loop_rules.hpp"
#include "arrays/lowerer.hpp"

namespace xcuda::arrays {
namespace {

using namespace ir;

constexpr int unrolled = 4;  // turns of a fold side by side: each has an accumulator of its own

struct Plain : Lowerer {
    std::vector<ExprP> known;  // by step
    std::vector<int> uses;

    Plain(const Structure& structure, const std::vector<Type>& parameters)
        : Lowerer(structure, parameters),
          uses(structure.steps.size()) {
        for (const Step& step : s.steps)
            for (const int a : step.args)
                if (a >= 0) ++uses[static_cast<std::size_t>(a)];
    }

    // Slots are read once, and what is used twice has a variable.
    void compute(Body& body) {
        std::vector<ExprP> loaded(s.slots.size());
        std::vector<int> reads(s.slots.size());
        for (const Step& step : s.steps)
            for (const int a : step.args)
                if (a < 0) ++reads[static_cast<std::size_t>(~a)];
        for (const Output& o : s.outputs) {
            if (o.from < 0)
                ++reads[static_cast<std::size_t>(~o.from)];
            else
                ++uses[static_cast<std::size_t>(o.from)];
        }
        const auto keep = [&](ExprP e, int count) {
            if (count < 2) return e;
            const VarId t = local("t", e->type);
            body.push_back(assign(t, std::move(e)));
            return read(t);
        };
        const auto value = [&](int from) {
            if (from >= 0) return known[static_cast<std::size_t>(from)];
            ExprP& at = loaded[static_cast<std::size_t>(~from)];
            if (!at) at = keep(slot(~from), reads[static_cast<std::size_t>(~from)]);
            return at;
        };
        known.clear();
        for (std::size_t i = 0; i < s.steps.size(); ++i) {
            const Loop& loop = loop_of(s.steps[i].loop);
            std::vector<ExprP> args;
            for (const int a : s.steps[i].args) args.push_back(value(a));
            known.push_back(keep(built(body, loop, std::move(args)), uses[i]));
        }
        for (const Output& o : s.outputs) {
            if (o.from < 0) value(o.from);
        }
        results.clear();
        for (const Output& o : s.outputs) results.push_back(cast(value(o.from), scalar(o.dtype)));
        for (const Output& o : s.outputs)
            if (o.from >= 0) --uses[static_cast<std::size_t>(o.from)];
    }
    std::vector<ExprP> results;  // of compute

    void elementwise() {
        Body inner;
        compute(inner);
        std::vector<ExprP> values = results;
        if (values.size() > 1)  // an output may be what another one reads
            for (ExprP& v : values)
                if (v->op != Op::var) {
                    const VarId t = local("r", v->type);
                    inner.push_back(assign(t, v));
                    v = read(t);
                }
        for (std::size_t i = 0; i < values.size(); ++i) inner.push_back(put(i, values[i]));
        f.body = guarded(std::move(inner), 0);
    }

    // acc = fold(acc, element), for one turn; `into` is the accumulator.
    void turn(Body& body, VarId into) {
        const Loop& loop = loop_of(s.folding[0].loop);
        compute(body);
        ExprP next = built(body, loop, {read(into), results[0]});
        body.push_back(assign(into, std::move(next)));
    }

    void fold() {
        const Folding& folding = s.folding[0];
        const auto loops = static_cast<std::size_t>(folding.axes);
        const Loop& loop = loop_of(folding.loop);
        const Type number = scalar(loop.out);
        const int t = threads();
        const std::size_t identity_at = loops;
        const ExprP identity = cast(parameter(first_integer() + identity_at), number);
        const std::size_t lengths_at = loops + 1 + (folding.chunked ? 1 : 0);

        std::vector<VarId> part;
        Body inner;
        for (int u = 0; u < unrolled; ++u) {
            part.push_back(local("part", number));
            inner.push_back(assign(part.back(), identity));
        }
        ExprP start = int_constant(0), stop = figure(0);
        if (folding.chunked) {
            const ExprP chunk = read(axis[static_cast<std::size_t>(t - 1)]), turns = figure(loops + 1);
            const VarId from = local("from", integer()), to = local("to", integer());
            inner.push_back(assign(from, passes::mul(chunk, turns)));
            inner.push_back(assign(to, passes::minimum(passes::add(read(from), turns), stop)));
            start = read(from);
            stop = read(to);
        }
        // The innermost loop takes `unrolled` turns at a time, then what is left.
        Body innermost;
        const bool single = loops == 1;
        const VarId last = axis[static_cast<std::size_t>(t) + loops - 1];
        const ExprP low = single ? start : int_constant(0), high = single ? stop : figure(loops - 1);
        const VarId whole = local("whole", integer()), base = local("k", integer());
        innermost.push_back(assign(
            whole,
            passes::add(low, passes::mul(passes::div_floor(passes::sub(high, low), int_constant(unrolled)),
                                         int_constant(unrolled)))));
        Body many, one;
        for (int u = 0; u < unrolled; ++u) {
            axis[static_cast<std::size_t>(t) + loops - 1] = local("k", integer());
            many.push_back(assign(axis[static_cast<std::size_t>(t) + loops - 1],
                                  passes::add(read(base), int_constant(u))));
            turn(many, part[static_cast<std::size_t>(u)]);
        }
        axis[static_cast<std::size_t>(t) + loops - 1] = last;
        innermost.push_back(loop_range(base, low, read(whole), int_constant(unrolled), std::move(many)));
        turn(one, part[0]);
        innermost.push_back(loop_range(last, read(whole), high, int_constant(1), std::move(one)));
        for (std::size_t l = loops - 1; l-- > 0;) {
            Body around;
            around.push_back(loop_range(axis[static_cast<std::size_t>(t) + l],
                                        l == 0 ? start : int_constant(0), l == 0 ? stop : figure(l),
                                        int_constant(1), std::move(innermost)));
            innermost = std::move(around);
        }
        for (Stmt& stmt : innermost) inner.push_back(std::move(stmt));

        const auto both = [&](const ExprP& a, const ExprP& b) {
            const std::array args{a, b};
            return loop.build(loop, args);
        };
        const ExprP total = both(both(read(part[0]), read(part[1])), both(read(part[2]), read(part[3])));
        const VarId result = local("result", number);
        inner.push_back(assign(result, total));
        inner.push_back(put(0, cast_as_numpy(read(result), s.outputs[0].dtype)));
        f.body = guarded(std::move(inner), lengths_at);
    }
};

}  // namespace

Module lowered(const Structure& structure, const std::vector<Type>& parameters) {
    Plain l(structure, parameters);
    l.parameters();
    for (int d = 0; d < structure.axes; ++d) l.axis.push_back(l.local("i" + std::to_string(d), integer()));
    if (!structure.rows.empty())
        lower_rows(l);
    else if (structure.folding.empty())
        l.elementwise();
    else
        l.fold();
    return std::move(l.module);
}

}  // namespace xcuda::arrays
