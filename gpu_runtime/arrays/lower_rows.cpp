// The kernel of folds over rows and of what is made of them: passes over a row, each with the folds of its own, by one
// thread or by all of a block's threads that have the row.
#include <algorithm>
#include <array>

#include "arrays/loop_rules.hpp"
#include "arrays/row_lowerer.hpp"

namespace xcuda::arrays {
namespace {

using namespace ir;

constexpr int at_once = 16;  // partial results that a thread folds after another

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

ExprP RowLowerer::variable(Body& body, const char* name, ExprP e) {
    const VarId v = l.local(name, e->type);
    body.push_back(assign(v, std::move(e)));
    return l.read(v);
}

// Axes [first, first + lengths.size()) of the kernel from one index along all of them.
void RowLowerer::split(Body& body, const ExprP& index, int first, std::span<const ExprP> along) {
    ExprP rest = index;
    for (std::size_t d = along.size(); d-- > 0;) {
        const VarId v = l.axis[at(first) + d];
        body.push_back(assign(v, d == 0 ? rest : make(Op::mod, integer(), {rest, along[d]})));
        if (d > 0) rest = variable(body, "rest", make(Op::floordiv, integer(), {rest, along[d]}));
    }
}

void RowLowerer::begin(Body& body) {
    const int before = alone() ? 0 : 1 + kept_axes;
    for (int d = 0; d < rows.axes; ++d) {
        lengths.push_back(l.figure(at(before + d)));
        whole = whole ? xcuda::passes::mul(whole, lengths.back()) : lengths.back();
    }
    stop = whole;
    if (alone()) return;
    lane = l.local("t", integer());
    line = l.local("y", integer());
    body.push_back(assign(lane, coord(Coord::Kind::thread, 0)));
    ExprP row = coord(Coord::Kind::block, 0);
    if (rows.rows > 1) {  // rows that are not there are the last one, once more
        body.push_back(assign(line, coord(Coord::Kind::thread, 1)));
        row = xcuda::passes::add(xcuda::passes::mul(row, int_constant(rows.rows)), l.read(line));
        row = xcuda::passes::minimum(row, xcuda::passes::sub(l.figure(0), int_constant(1)));
    }
    std::vector<ExprP> along;
    for (int d = 0; d < kept_axes; ++d) along.push_back(l.figure(at(1 + d)));
    split(body, variable(body, "row", row), 0, along);
    if (!rows.shares) return;
    const ExprP before_it = xcuda::passes::mul(l.read(l.axis[at(kept_axes - 1)]), whole);
    stop =
        variable(body, "stop",
                 xcuda::passes::minimum(whole, xcuda::passes::sub(l.figure(at(2 + kept_axes)), before_it)));
}

ExprP RowLowerer::slot_once(Body& body, int from) {
    ExprP& known = once_read[at(~from)];
    if (!known) known = variable(body, "c", l.slot(~from));
    return known;
}

// What a row has one of, as soon as the folds that it is made of are done.
void RowLowerer::compute_once(Body& body, int pass) {
    for (std::size_t i = 0; i < s.slots.size(); ++i)
        if (pass == 0 && passes.needed_slot[i] && passes.once(~static_cast<int>(i)))
            slot_once(body, ~static_cast<int>(i));
    for (std::size_t i = 0; i < s.steps.size(); ++i) {
        const Step& step = s.steps[i];
        const int id = static_cast<int>(i);
        if (step.fold || !passes.needed[i] || !passes.once(id) || passes.pass_of(id) != pass) continue;
        const Loop& loop = loop_of(step.loop);
        std::vector<ExprP> args;
        for (const int a : step.args) args.push_back(value_once(a));
        once[i] = variable(body, "r", l.built(body, loop, std::move(args)));
    }
}

// --- a turn of a pass ------------------------------------------------------------------------------------
void RowLowerer::count(Turn& t, int from, int pass) const {
    if (passes.once(from)) return;
    if (from < 0) {
        ++t.reads[at(~from)];
    } else if (++t.uses[at(from)] == 1 && !passes.kept(from, pass)) {
        for (const int a : s.steps[at(from)].args) count(t, a, pass);
    }
}

ExprP RowLowerer::value(Body& body, Turn& t, int from) {
    if (passes.once(from)) return value_once(from);
    if (from >= 0) return t.known[at(from)];
    ExprP& e = t.loaded[at(~from)];
    if (!e) e = t.reads[at(~from)] > 1 ? variable(body, "x", element_of_slot(~from)) : element_of_slot(~from);
    return e;
}

ExprP RowLowerer::load_kept(const Rows::Kept& kept) const {
    const Output& o = s.outputs[at(kept.output)];
    return l.element(l.parameter(at(kept.output)), l.indices(o.axes), o.dtype);
}

RowLowerer::Turn RowLowerer::counted(const PassOver& pass) const {
    Turn t{std::vector<int>(s.steps.size()), std::vector<int>(s.slots.size()),
           std::vector<ExprP>(s.steps.size()), std::vector<ExprP>(s.slots.size())};
    for (const int f : pass.folds) count(t, folded(f), pass.number);
    for (const int o : pass.outputs) count(t, s.outputs[at(o)].from, pass.number);
    for (const Rows::Kept& k : pass.keeps) count(t, k.step, pass.number);
    return t;
}

RowLowerer::Turn RowLowerer::begin_turn(Body& body, const PassOver& pass) {
    Turn t = counted(pass);
    for (const Rows::Kept& k : rows.kept)
        if (passes.kept(k.step, pass.number) && t.uses[at(k.step)] > 0)
            t.known[at(k.step)] = variable(body, "k", load_kept(k));
    for (std::size_t i = 0; i < s.steps.size(); ++i) {
        if (t.uses[i] == 0 || t.known[i]) continue;
        const Loop& loop = loop_of(s.steps[i].loop);
        std::vector<ExprP> args;
        for (const int a : s.steps[i].args) args.push_back(value(body, t, a));
        const ExprP e = l.built(body, loop, std::move(args));
        t.known[i] = t.uses[i] > 1 ? variable(body, "v", e) : e;
    }
    return t;
}

void RowLowerer::turn(Body& body, const PassOver& pass, std::span<const VarId> accumulators) {
    Turn t = begin_turn(body, pass);
    for (std::size_t i = 0; i < pass.folds.size(); ++i) {
        const Step& step = s.steps[at(pass.folds[i])];
        ExprP next =
            l.built(body, loop_of(step.loop), {l.read(accumulators[i]), value(body, t, step.args[0])});
        body.push_back(assign(accumulators[i], std::move(next)));
    }
    std::vector<std::pair<int, ExprP>> written;  // after all reads: an output may be where another one is kept
    for (const int o : pass.outputs)
        written.emplace_back(o, variable(body, "w", value(body, t, s.outputs[at(o)].from)));
    for (const Rows::Kept& k : pass.keeps)
        written.emplace_back(k.output, variable(body, "w", value(body, t, k.step)));
    for (auto& [o, e] : written) body.push_back(l.put(at(o), e));
}

std::vector<VarId> RowLowerer::accumulators_of(Body& body, const PassOver& pass) {
    std::vector<VarId> accumulators;
    for (const int f : pass.folds) {
        const Step& step = s.steps[at(f)];
        accumulators.push_back(l.local("part", scalar(loop_of(step.loop).out)));
        body.push_back(assign(accumulators.back(), value_once(step.args[1])));
    }
    return accumulators;
}

void RowLowerer::pass_over(Body& body, const PassOver& pass) {
    if (pass.folds.empty() && pass.outputs.empty() && pass.keeps.empty()) return;
    const std::vector<VarId> accumulators = accumulators_of(body, pass);
    Body inside;
    VarId k;
    if (rows.axes == 1) {
        k = l.axis[at(kept_axes)] = l.local("k", integer());
    } else {
        k = l.local("k", integer());
        for (int d = 0; d < rows.axes; ++d) l.axis[at(kept_axes + d)] = l.local("j", integer());
        split(inside, l.read(k), kept_axes, lengths);
    }
    turn(inside, pass, accumulators);
    body.push_back(loop_range(k, alone() ? int_constant(0) : l.read(lane), stop, int_constant(rows.threads),
                              std::move(inside)));
    combine(body, pass, accumulators);
}

// --- the threads' partial results -----------------------------------------------------------------------
VarId RowLowerer::shared_array(DType dtype, int pass, int which, int length) {
    VarId& v = shared[{dtype, pass % 2, which}];  // of the pass before: another's may still be read
    if (v == 0) {
        v = l.f.add({"parts" + std::to_string(pass % 2) + "_" + std::to_string(which),
                     fixed_array(dtype, {rows.rows, length}, Space::shared),
                     Var::Role::shared,
                     {}});
    }
    return v;
}

std::vector<ExprP> RowLowerer::place(const ExprP& i) const {
    return {rows.rows > 1 ? l.read(line) : int_constant(0), i};
}

ExprP RowLowerer::shared_load(VarId array, const ExprP& i, DType dtype) const {
    return l.element(l.read(array), place(i), dtype);
}

// total = the fold of `count` elements of the array, `stride` apart.
void RowLowerer::fold_shared(Body& body, const Loop& loop, VarId array, const ExprP& first, int count,
                             int stride, VarId total) {
    body.push_back(assign(total, shared_load(array, first, loop.out)));
    if (count < 2) return;
    const VarId j = l.local("j", integer());
    const ExprP i = xcuda::passes::add(first, xcuda::passes::mul(l.read(j), int_constant(stride)));
    const std::array args{l.read(total), shared_load(array, i, loop.out)};
    Stmt others = loop_range(j, int_constant(1), int_constant(count), int_constant(1),
                             {assign(total, loop.build(loop, args))});
    others.hint = Stmt::Hint::unroll;
    body.push_back(std::move(others));
}

void RowLowerer::combine(Body& body, const PassOver& pass, std::span<const VarId> accumulators) {
    if (pass.folds.empty()) return;
    if (alone()) {
        for (std::size_t i = 0; i < pass.folds.size(); ++i) once[at(pass.folds[i])] = l.read(accumulators[i]);
        return;
    }
    const int groups = rows.threads > at_once ? rows.threads / at_once : rows.threads;
    std::vector<VarId> parts;
    for (std::size_t i = 0; i < pass.folds.size(); ++i) {
        const DType dtype = loop_of(s.steps[at(pass.folds[i])].loop).out;
        parts.push_back(shared_array(dtype, pass.number, 2 * static_cast<int>(i), rows.threads));
        body.push_back(store(l.read(parts[i]), place(l.read(lane)), l.read(accumulators[i]), Access{0, 0, 0}));
    }
    body.push_back(simple(Stmt::Kind::barrier));
    if (groups < rows.threads) {
        Body some;
        for (std::size_t i = 0; i < pass.folds.size(); ++i) {
            const Loop& loop = loop_of(s.steps[at(pass.folds[i])].loop);
            const VarId total = l.local("group", scalar(loop.out));
            fold_shared(some, loop, parts[i], l.read(lane), at_once, groups, total);
            parts[i] = shared_array(loop.out, pass.number, 2 * static_cast<int>(i) + 1, groups);
            some.push_back(store(l.read(parts[i]), place(l.read(lane)), l.read(total), Access{0, 0, 0}));
        }
        body.push_back(
            branch(xcuda::passes::compare(Op::lt, l.read(lane), int_constant(groups)), std::move(some)));
        body.push_back(simple(Stmt::Kind::barrier));
    }
    for (std::size_t i = 0; i < pass.folds.size(); ++i) {
        const Loop& loop = loop_of(s.steps[at(pass.folds[i])].loop);
        const VarId total = l.local("folded", scalar(loop.out));
        fold_shared(body, loop, parts[i], int_constant(0), groups, 1, total);
        once[at(pass.folds[i])] = l.read(total);
    }
}

void RowLowerer::lower() {
    Body inner;
    begin(inner);
    for (const PassOver& pass : passes.all) {
        compute_once(inner, pass.number);
        pass_over(inner, pass);
    }
    Body last;
    for (std::size_t o = 0; o < s.outputs.size(); ++o)
        if (passes.of_rows(static_cast<int>(o))) last.push_back(l.put(o, value_once(s.outputs[o].from)));
    if (alone() || last.empty()) {
        for (Stmt& stmt : last) inner.push_back(std::move(stmt));
    } else {
        inner.push_back(
            branch(xcuda::passes::compare(Op::eq, l.read(lane), int_constant(0)), std::move(last)));
    }
    l.f.body = alone() ? l.guarded(std::move(inner), at(rows.axes)) : std::move(inner);
}
void lower_rows(Lowerer& lowerer) {
    if (lowerer.s.rows[0].vector > 0)
        lower_held_rows(lowerer);
    else
        RowLowerer{lowerer}.lower();
}

}  // namespace xcuda::arrays
