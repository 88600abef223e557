// What variables and expressions can hold: loops, guards, accesses that went well, variables that only grow.
#include <gtest/gtest.h>

#include "ir/verify.hpp"
#include "ir/walk.hpp"
#include "ir_kernels.hpp"
#include "passes/narrow.hpp"
#include "passes/prove_ranges.hpp"
#include "passes/ranges.hpp"

namespace xcuda::test {
namespace {

ExprP op(Op o, ExprP a, ExprP b) { return make(o, integer(), {std::move(a), std::move(b)}); }
ExprP n(std::int64_t v) { return int_constant(v); }

struct Ranged : Builder {
    VarId y = parameter("y", array(DType::f32, 1)), v = local("v", integer()), w = local("w", integer());
    VarId table = f.add({.name = "table",
                         .type = fixed_array(DType::f32, {20}, Space::local),
                         .role = Var::Role::local_array,
                         .place = place});

    Interval ever(VarId id, bool narrow = true) {
        Ranges ranges(f, {narrow});
        ranges.run(f.body, [](Stmt&) {});
        return ranges.ever(id);
    }
    Stmt set(VarId id, ExprP value) { return assign(id, std::move(value), place); }
};

Stmt while_loop(ExprP test, Body body) {
    Stmt s = simple(Stmt::Kind::loop_while);
    s.exprs = {std::move(test)};
    s.body = std::move(body);
    return s;
}

TEST(Ranges, ALoopsVariableLiesBetweenItsBounds) {
    Ranged b;
    Body inner;
    inner.push_back(b.set(b.v, op(Op::mul, b.read(b.w), n(3))));
    b.f.body.push_back(loop_range(b.w, n(2), n(10), n(1), std::move(inner), b.place));
    EXPECT_EQ(b.ever(b.w), (Interval{2, 9}));
    EXPECT_EQ(b.ever(b.v), (Interval{6, 27}));
}

TEST(Ranges, ACounterGrowsNoMoreThanTheLoopTurns) {
    Ranged b;
    Body inner, rare;
    rare.push_back(b.set(b.v, op(Op::add, b.read(b.v), n(2))));
    inner.push_back(branch(compare(Op::gt, b.read(b.w), n(50)), std::move(rare)));
    b.f.body.push_back(b.set(b.v, n(5)));
    b.f.body.push_back(loop_range(b.w, n(0), n(100), n(1), std::move(inner), b.place));
    EXPECT_TRUE(b.ever(b.v).within({5, 207})) << "100 turns of at most 2, and the one that is never made";
}

TEST(Ranges, ACounterOfAnEndlessLoopMayWrap) {
    Ranged b;
    Body inner;
    inner.push_back(b.set(b.v, op(Op::add, b.read(b.v), n(1))));
    b.f.body.push_back(b.set(b.v, n(0)));
    b.f.body.push_back(while_loop(constant(true, scalar(DType::b1)), std::move(inner)));
    EXPECT_EQ(b.ever(b.v), numbers_of(DType::i64));
}

TEST(Ranges, HalvingStaysUnderItsStart) {
    Ranged b;
    Body inner;
    inner.push_back(b.set(b.v, op(Op::floordiv, b.read(b.v), n(2))));
    b.f.body.push_back(b.set(b.v, op(Op::floordiv, coord(Coord::Kind::block_dim, 0), n(2))));
    b.f.body.push_back(while_loop(compare(Op::gt, b.read(b.v), n(0)), std::move(inner)));
    EXPECT_EQ(b.ever(b.v), (Interval{0, 512}));
}

// n_queens: a stack of 20, pushed where there is room (the access says so), popped where it is not empty.
TEST(Ranges, AStacksDepthIsBoundedByItsAccesses) {
    Ranged b;
    Body pop, push, turn;
    pop.push_back(b.set(b.v, op(Op::sub, b.read(b.v), n(1))));
    pop.push_back(b.set(b.w, n(1)));
    push.push_back(b.put(b.table, {b.read(b.v)}, constant(1.0, scalar(DType::f32))));
    push.push_back(b.set(b.v, op(Op::add, b.read(b.v), n(1))));
    const VarId p = b.parameter("p", integer());
    const ExprP wants = make(Op::logic_and, scalar(DType::b1),
                             {compare(Op::lt, b.read(p), n(0)), compare(Op::gt, b.read(b.v), n(0))});
    turn.push_back(branch(wants, std::move(pop), std::move(push)));
    b.f.body.push_back(b.set(b.v, n(0)));
    b.f.body.push_back(while_loop(compare(Op::ge, dim(b.read(b.y), 0), n(1)), std::move(turn)));
    EXPECT_EQ(b.ever(b.v), (Interval{0, 20}));
}

TEST(Ranges, AGuardBoundsTheIndexOnlyInsideIt) {
    Ranged b;
    Body inside;
    inside.push_back(b.set(b.v, global(0)));
    b.f.body.push_back(branch(compare(Op::lt, global(0), dim(b.read(b.y), 0)), std::move(inside)));
    b.f.body.push_back(b.set(b.w, global(0)));
    EXPECT_TRUE(b.ever(b.v).within(int32_numbers));
    EXPECT_FALSE(b.ever(b.v, false).within(int32_numbers));
    EXPECT_FALSE(b.ever(b.w).within(int32_numbers));
}

TEST(Ranges, WhatIsKnownOfAnExpressionEndsWhereItsVariableIsAssigned) {
    Ranged b;
    const VarId p = b.parameter("p", integer());
    const ExprP twice = op(Op::sub, b.read(p), b.read(b.v));
    Body inside;
    inside.push_back(b.set(b.w, twice));
    inside.push_back(b.set(b.v, n(7)));
    inside.push_back(b.set(b.w, n(0)));
    b.f.body.push_back(b.set(b.v, n(3)));
    b.f.body.push_back(branch(
        make(Op::logic_and, scalar(DType::b1), {compare(Op::ge, twice, n(0)), compare(Op::lt, twice, n(9))}),
        std::move(inside)));
    EXPECT_EQ(b.ever(b.w), (Interval{0, 8}));
    b.f.body.back().body[2] = b.set(b.w, twice);  // v is 7 now: p - v is not what was tested
    EXPECT_EQ(b.ever(b.w), numbers_of(DType::i64));
}

TEST(Ranges, AChoiceInAConditionOfAChoiceIsNoEndlessQuestion) {
    Ranged b;
    const VarId p = b.parameter("p", integer()), q = b.parameter("q", integer());
    const ExprP either = make(Op::logic_or, scalar(DType::b1),
                              {compare(Op::eq, b.read(p), n(3)), compare(Op::eq, b.read(q), n(4))});
    const ExprP inner = make(Op::select, integer(), {either, b.read(p), b.read(q)});
    const ExprP test =
        make(Op::logic_or, scalar(DType::b1), {compare(Op::gt, inner, n(1)), compare(Op::lt, inner, n(-9))});
    const ExprP outer = make(Op::select, integer(), {test, inner, n(7)});
    Body inside;
    inside.push_back(b.set(b.v, op(Op::bit_and, outer, n(15))));
    b.f.body.push_back(branch(
        make(Op::logic_or, scalar(DType::b1), {compare(Op::gt, outer, n(0)), compare(Op::lt, outer, inner)}),
        std::move(inside)));
    EXPECT_EQ(b.ever(b.v), (Interval{0, 15}));
}

TEST(ProveRanges, AKnownLengthProvesAndWhatIsBehindATestIsProvenToo) {
    Ranged b;
    const VarId p = b.parameter("p", integer());
    b.f.body.push_back(b.put(b.table, {op(Op::mod, b.read(p), n(20))}, constant(1.0, scalar(DType::f32))));
    b.f.body.push_back(b.put(b.table, {b.read(p)}, constant(1.0, scalar(DType::f32))));
    b.f.body.push_back(b.put(b.table, {b.read(p)}, constant(2.0, scalar(DType::f32))));
    EXPECT_EQ(tests_in(b.f.body), 3);
    prove_ranges(b.f, {true});
    EXPECT_FALSE(b.f.body[0].access.checked);
    EXPECT_TRUE(b.f.body[1].access.checked);
    EXPECT_TRUE(b.f.body[2].access.checked || b.f.body[2].access.wrap);  // may be negative still
    EXPECT_EQ(tests_in(b.f.body), 2);
}

Type type_of(const Ranged& b, VarId v) { return b.f.vars[static_cast<std::size_t>(v)].type; }

TEST(Narrow, VariablesThatFitAreInt32) {
    Ranged b;
    Body inner;
    inner.push_back(b.set(b.v, op(Op::add, b.read(b.w), n(1))));
    b.f.body.push_back(loop_range(b.w, n(0), n(1000), n(1), std::move(inner), b.place));
    narrow_integers(b.f, {true});
    EXPECT_EQ(type_of(b, b.v).dtype, DType::i32);
    EXPECT_EQ(type_of(b, b.w).dtype, DType::i32);
    EXPECT_TRUE(b.f.body[0].narrow);
}

TEST(Narrow, ACounterThatIsStoredIn32BitsIsCountedInThem) {
    for (const bool compared : {false, true}) {
        Ranged b;
        const VarId out = b.parameter("out", array(DType::i32, 1));
        Body inner;
        inner.push_back(b.set(b.v, op(Op::add, b.read(b.v), n(1))));
        b.f.body.push_back(b.set(b.v, n(0)));
        b.f.body.push_back(while_loop(compare(Op::gt, dim(b.read(b.y), 0), compared ? b.read(b.v) : n(3)),
                                      std::move(inner)));
        b.f.body.push_back(b.put(out, {n(0)}, cast(b.read(b.v), scalar(DType::i32))));
        narrow_integers(b.f, {false});
        EXPECT_EQ(type_of(b, b.v).dtype, compared ? DType::i64 : DType::u32);
        verify(b.module, Stage::cpu, "passes/narrow");
    }
}

TEST(Narrow, AQuotientOfWhatMayBeLargeStaysWide) {
    Ranged b;
    const VarId p = b.parameter("p", integer());
    b.f.body.push_back(b.set(b.v, op(Op::floordiv, b.read(p), n(1000))));
    b.f.body.push_back(b.put(b.table, {op(Op::mod, b.read(b.v), n(20))}, constant(1.0, scalar(DType::f32))));
    narrow_integers(b.f, {true});
    EXPECT_EQ(type_of(b, b.v).dtype, DType::i64);
    b.f.vars[static_cast<std::size_t>(p)].small = true;
    narrow_integers(b.f, {true});
    EXPECT_EQ(type_of(b, b.v).dtype, DType::i32);
}

}  // namespace
}  // namespace xcuda::test
