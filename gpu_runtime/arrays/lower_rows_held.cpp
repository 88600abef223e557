// Kernels of rows that are read once: a thread's elements of its row stay in registers from pass to pass, come and go as
// vectors of up to 16 bytes, and are folded by the threads of a warp among themselves, then by way of shared memory.
#include <algorithm>
#include <bit>

#include "arrays/row_lowerer.hpp"
#include "frontend/functions.hpp"

namespace xcuda::arrays {
namespace {

using namespace ir;

constexpr int warp = 32;
constexpr int by_warps = 64;  // the first of its shared arrays: combine() has those before

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// shfl_xor_sync's overload for the dtype; -1 where there is none.
int shuffle_of(DType dtype) {
    const frontend::KernelFunction* f = frontend::find_function("cuda.shfl_xor_sync");
    for (int i = 0; f && i < f->overloads; ++i)
        if (frontend::overload({f->first_overload + i}).out == dtype) return f->first_overload + i;
    return -1;
}

ExprP shuffled(int overload, const ExprP& value, int by) {
    auto node = std::make_shared<Expr>(*make(
        Op::call, value->type,
        {constant(std::int64_t{0xffffffff}, scalar(DType::i64)), value,
         constant(std::int64_t{by}, scalar(DType::i64)), constant(std::int64_t{-1}, scalar(DType::i64))}));
    node->payload = OverloadId{overload};
    return node;
}

struct Held : RowLowerer {
    const int vector = rows.vector, turns = rows.turns;
    std::vector<VarId> held = std::vector<VarId>(s.slots.size(), -1);  // registers with a slot's elements
    std::vector<VarId> own = std::vector<VarId>(s.steps.size(), -1);   // and with a kept step's
    VarId turn_of = -1, element_of = -1;                               // a loop over vectors, and in it
    VarId piece = -1;  // where those of a piece of the row begin

    using RowLowerer::RowLowerer;

    VarId registers(const char* name, DType dtype, int count) {
        return l.f.add({name, fixed_array(dtype, {count}, Space::local), Var::Role::local_array, {}});
    }

    ExprP slot_in_thread() const {
        return xcuda::passes::add(xcuda::passes::mul(l.read(turn_of), int_constant(vector)),
                                  l.read(element_of));
    }

    Stmt put_register(VarId array, const ExprP& i, ExprP value) const {
        return store(l.read(array), {i}, std::move(value), Access{0, 0, 0});
    }

    ExprP element_of_slot(int slot) const override {
        if (s.slots[at(slot)].ramp) return l.slot(slot);
        const ExprP i = passes.of_each_row(slot) ? slot_in_thread() : l.read(element_of);
        return l.element(l.read(held[at(slot)]), {i}, s.slots[at(slot)].dtype);
    }

    ExprP load_kept(const Rows::Kept& kept) const override {
        if (kept.output >= 0) return RowLowerer::load_kept(kept);
        return l.element(l.read(own[at(kept.step)]), {slot_in_thread()},
                         loop_of(s.steps[at(kept.step)].loop).out);
    }

    // Sums of float32 in float64: a thread adds each vector in float32 first, as NumPy's pairwise sums have it at their
    // leaves, since a conversion takes as long as a division.
    bool in_singles(int fold) const {
        const Step& step = s.steps[at(fold)];
        if (vector == 1 || loop_of(step.loop).name != "add" || step.args[0] < 0) return false;
        const Loop& cast = loop_of(s.steps[at(step.args[0])].loop);
        return cast.name == "astype" && cast.in[0] == DType::f32 && cast.out == DType::f64;
    }

    int folded(int fold) const override {
        const int from = RowLowerer::folded(fold);
        return in_singles(fold) ? s.steps[at(from)].args[0] : from;
    }

    // --- over a thread's elements ------------------------------------------------------------------------------
    Stmt unrolled(VarId counter, int count, Body body, Stmt::Hint hint = Stmt::Hint::unroll) const {
        Stmt loop =
            loop_range(counter, int_constant(0), int_constant(count), int_constant(1), std::move(body));
        loop.hint = hint;
        return loop;
    }

    // For each vector of the thread that lies in the row, with its elements' index in `k` of a loop over them.
    template <class Inside>
    Stmt each_vector(Inside inside) {
        turn_of = l.local("u", integer());
        const VarId base = l.local("base", integer());
        Body body;
        const ExprP first = xcuda::passes::mul(
            xcuda::passes::add(xcuda::passes::mul(l.read(turn_of), int_constant(rows.threads)), l.read(lane)),
            int_constant(vector));
        body.push_back(assign(base, piece < 0 ? first : xcuda::passes::add(l.read(piece), first)));
        Body there = inside(base);
        if (rows.exact)
            for (Stmt& stmt : there) body.push_back(std::move(stmt));
        else
            body.push_back(branch(xcuda::passes::compare(Op::lt, l.read(base), whole), std::move(there)));
        return unrolled(turn_of, turns, std::move(body));
    }

    template <class Inside>
    Stmt each_element(VarId base, Stmt::Hint hint, Inside inside) {
        element_of = l.local("e", integer());
        const VarId k = l.axis[at(kept_axes)] = l.local("k", integer());
        Body body;
        body.push_back(assign(k, xcuda::passes::add(l.read(base), l.read(element_of))));
        inside(body);
        return unrolled(element_of, vector, std::move(body), hint);
    }

    // Neighbours of the row are neighbours in the array, and the first of a vector is aligned.
    Stmt::Hint hint_of(std::size_t parameter, const Axes& axes) const {
        const Type& t = l.types[parameter];
        const bool along = axes.count > 0 && axes[axes.count - 1] == kept_axes && unit_stride(t.layout);
        return along && t.aligned && vector > 1 ? Stmt::Hint::neighbours : Stmt::Hint::unroll;
    }

    Stmt taken(VarId base, int slot) {
        return each_element(
            base, hint_of(s.outputs.size() + at(slot), s.slots[at(slot)].axes), [&](Body& one) {
                const ExprP i = passes.of_each_row(slot) ? slot_in_thread() : l.read(element_of);
                one.push_back(put_register(held[at(slot)], i, l.slot(slot)));
            });
    }

    // The row's own elements, all of them at once, where no pass before has; gives what other rows have as well, which is
    // read from pass to pass.
    std::vector<int> load(Body& body, const PassOver& pass) {
        const Turn needs = counted(pass);
        std::vector<int> common;
        for (int i = 0; i < static_cast<int>(s.slots.size()); ++i) {
            const bool own = passes.of_each_row(i);
            if (needs.reads[at(i)] == 0 || s.slots[at(i)].ramp || (held[at(i)] >= 0 && own)) continue;
            held[at(i)] = registers("held", s.slots[at(i)].dtype, own ? vector * turns : vector);
            if (own)
                body.push_back(each_vector([&](VarId base) { return Body{taken(base, i)}; }));
            else
                common.push_back(i);
        }
        return common;
    }

    void pass_over(Body& body, const PassOver& pass) override {
        if (pass.folds.empty() && pass.outputs.empty() && pass.keeps.empty()) return;
        const std::vector<int> common = load(body, pass);
        const std::vector<VarId> accumulators = accumulators_of(body, pass);
        for (const Rows::Kept& k : pass.keeps)
            if (k.output < 0)
                own[at(k.step)] = registers("kept", loop_of(s.steps[at(k.step)].loop).out, vector * turns);
        std::vector<std::pair<int, VarId>> written;  // outputs, and a vector's elements
        for (const int o : pass.outputs)
            written.emplace_back(o, registers("w", s.outputs[at(o)].dtype, vector));
        body.push_back(over_vectors(pass, common, accumulators, written));
        meet(body, pass, accumulators);
    }

    // A pass over the vectors of the row, or of a piece of it.
    Stmt over_vectors(const PassOver& pass, std::span<const int> common, std::span<const VarId> accumulators,
                      std::span<const std::pair<int, VarId>> written) {
        std::vector<VarId> parts(pass.folds.size(), -1);  // of a vector, in float32
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (in_singles(pass.folds[i])) parts[i] = l.local("some", scalar(DType::f32));
        return each_vector([&](VarId base) {
            Body vectors;
            for (const int i : common) vectors.push_back(taken(base, i));
            for (const VarId part : parts)
                if (part >= 0) vectors.push_back(assign(part, constant(0.0, scalar(DType::f32))));
            vectors.push_back(each_element(base, Stmt::Hint::unroll, [&](Body& one) {
                Turn t = begin_turn(one, pass);
                for (std::size_t i = 0; i < pass.folds.size(); ++i) {
                    const ExprP e = value(one, t, folded(pass.folds[i]));
                    if (parts[i] >= 0) {
                        one.push_back(
                            assign(parts[i], make(Op::add, scalar(DType::f32), {l.read(parts[i]), e})));
                        continue;
                    }
                    fold(one, pass.folds[i], accumulators[i], e);
                }
                for (const Rows::Kept& k : pass.keeps)
                    one.push_back(put_register(own[at(k.step)], slot_in_thread(), value(one, t, k.step)));
                for (const auto& [o, w] : written)
                    one.push_back(put_register(w, l.read(element_of), value(one, t, s.outputs[at(o)].from)));
            }));
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (parts[i] >= 0)
                    fold(vectors, pass.folds[i], accumulators[i], cast(l.read(parts[i]), scalar(DType::f64)));
            for (const auto& [o, w] : written)
                vectors.push_back(each_element(base, hint_of(at(o), s.outputs[at(o)].axes), [&](Body& one) {
                    one.push_back(
                        l.put(at(o), l.element(l.read(w), {l.read(element_of)}, s.outputs[at(o)].dtype)));
                }));
            return vectors;
        });
    }

    void fold(Body& body, int step, VarId accumulator, const ExprP& e) {
        body.push_back(
            assign(accumulator, l.built(body, loop_of(s.steps[at(step)].loop), {l.read(accumulator), e})));
    }

    // --- between threads ---------------------------------------------------------------------------------------
    void by_warp(Body& body, const Loop& loop, VarId accumulator, int lanes) {
        for (int by = lanes / 2; by > 0; by /= 2) {
            const VarId other = l.local("other", scalar(loop.out));
            body.push_back(assign(other, shuffled(shuffle_of(loop.out), l.read(accumulator), by)));
            body.push_back(assign(accumulator, l.built(body, loop, {l.read(accumulator), l.read(other)})));
        }
    }

    void meet(Body& body, const PassOver& pass, std::span<const VarId> accumulators) {
        if (pass.folds.empty()) return;
        for (const int f : pass.folds)
            if (shuffle_of(loop_of(s.steps[at(f)].loop).out) < 0) return combine(body, pass, accumulators);
        const int warps = rows.threads / warp;
        const ExprP id = xcuda::passes::mod_floor(l.read(lane), int_constant(warp));
        Body shares;
        std::vector<VarId> parts(pass.folds.size(), -1);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Loop& loop = loop_of(s.steps[at(pass.folds[i])].loop);
            by_warp(body, loop, accumulators[i], std::min(rows.threads, warp));
            once[at(pass.folds[i])] = l.read(accumulators[i]);
            if (warps < 2) continue;
            parts[i] = shared_array(loop.out, pass.number, by_warps + static_cast<int>(i), warps);
            shares.push_back(store(l.read(parts[i]),
                                   place(xcuda::passes::div_floor(l.read(lane), int_constant(warp))),
                                   l.read(accumulators[i]), Access{0, 0, 0}));
        }
        if (warps < 2) return;
        body.push_back(branch(xcuda::passes::compare(Op::eq, id, int_constant(0)), std::move(shares)));
        body.push_back(simple(Stmt::Kind::barrier));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Loop& loop = loop_of(s.steps[at(pass.folds[i])].loop);
            const ExprP share = xcuda::passes::mod_floor(l.read(lane), int_constant(warps));
            body.push_back(assign(accumulators[i], shared_load(parts[i], share, loop.out)));
            by_warp(body, loop, accumulators[i], warps);
        }
    }
};

// Rows read once, a piece in registers at a time: sums of exp(x - the row's maximum) are of the maximum so far, and are
// multiplied by exp(what it was - what it is) where it has grown.
struct Streamed final : Held {
    std::vector<VarId> sums{}, tops{};  // the second pass's; of each, the thread's own maximum

    using Held::Held;

    std::size_t place_of(const PassOver& pass, int fold) const {
        return at(static_cast<int>(std::ranges::find(pass.folds, fold) - pass.folds.begin()));
    }

    const Loop& of(int step) const { return loop_of(s.steps[at(step)].loop); }

    // exp(a - b), by the user's own functions.
    ExprP power(Body& body, const RescaledSum& r, const ExprP& a, const ExprP& b) {
        const ExprP less = l.built(body, of(r.minus), {a, b});
        return l.built(body, of(r.exp), {less});
    }

    void pass_over(Body& body, const PassOver& pass) override {
        if (pass.number == 0) return over_pieces(body, pass, passes.all[1]);
        if (pass.folds.empty()) return;
        for (std::size_t i = 0; i < sums.size(); ++i) {  // of the thread's own maximum: of the row's now
            const RescaledSum r = *rescaled_sum(s, pass.folds[i]);
            const ExprP by = power(body, r, l.read(tops[i]), value_once(r.top));
            scale(body, r, sums[i], by);
        }
        meet(body, pass, sums);
    }

    void scale(Body& body, const RescaledSum& r, VarId sum, const ExprP& by) {
        const Type type = scalar(of(r.sum).out);
        body.push_back(assign(sum, make(Op::mul, type, {l.read(sum), cast(by, type)})));
    }

    void over_pieces(Body& body, const PassOver& first, const PassOver& second) {
        const std::vector<VarId> accumulators = accumulators_of(body, first);
        sums = accumulators_of(body, second);
        std::vector<RescaledSum> found;
        for (const int f : second.folds) found.push_back(*rescaled_sum(s, f));
        piece = l.local("piece", integer());
        Body inside;
        const std::vector<int> common = load(inside, first);
        load(inside, second);
        std::vector<VarId> before;
        for (const RescaledSum& r : found) {
            before.push_back(l.local("before", scalar(of(r.top).out)));
            inside.push_back(assign(before.back(), l.read(accumulators[place_of(first, r.top)])));
        }
        inside.push_back(over_vectors(first, common, accumulators, {}));
        for (std::size_t i = 0; i < found.size(); ++i) {
            const RescaledSum& r = found[i];
            const VarId top = accumulators[place_of(first, r.top)];
            // Less 0 where all were -inf: exp(-inf - -inf) would be nan.
            const VarId from = l.local("from", scalar(of(r.top).out));
            const ExprP none = value_once(s.steps[at(r.top)].args[1]);
            inside.push_back(assign(from, make(Op::select, scalar(of(r.top).out),
                                               {make(Op::eq, scalar(DType::b1), {l.read(top), none}),
                                                constant(0.0, scalar(of(r.top).out)), l.read(top)})));
            scale(inside, r, sums[i], power(inside, r, l.read(before[i]), l.read(from)));
            once[at(r.top)] = l.read(from);
            tops.push_back(l.local("top", scalar(of(r.top).out)));
        }
        inside.push_back(over_vectors(second, {}, sums, {}));
        const int length = rows.threads * vector * turns;
        body.push_back(loop_range(piece, int_constant(0), whole, int_constant(length), std::move(inside)));
        piece = -1;
        for (std::size_t i = 0; i < found.size(); ++i)
            body.push_back(assign(tops[i], l.read(accumulators[place_of(first, found[i].top)])));
        meet(body, first, accumulators);
    }
};

}  // namespace

void lower_held_rows(Lowerer& lowerer) {
    const Rows& rows = lowerer.s.rows[0];
    lowerer.module.most_threads = rows.threads * rows.rows;
    lowerer.module.least_blocks = rows.blocks;
    if (rows.streamed)
        Streamed{lowerer}.lower();
    else
        Held{lowerer}.lower();
}

}  // namespace xcuda::arrays
