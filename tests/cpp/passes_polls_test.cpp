// Where a CUDA kernel polls: in loops that may turn often, not in those that can't.
#include <gtest/gtest.h>

#include "ir/walk.hpp"
#include "ir_kernels.hpp"
#include "passes/cuda_polls.hpp"

namespace xcuda::test {
namespace {

struct Polled : Builder {
    VarId n = parameter("n", integer()), v = local("v", integer());
    ExprP changed(Op op, std::int64_t by) const { return make(op, integer(), {read(v), int_constant(by)}); }

    void set(std::int64_t value) { f.body.push_back(assign(v, int_constant(value), place)); }
    void while_loop(Op test, ExprP bound, Body body) {
        Stmt s = simple(Stmt::Kind::loop_while, place);
        s.exprs = {compare(test, read(v), std::move(bound))};
        s.body = std::move(body);
        f.body.push_back(std::move(s));
    }
    Body step(Op op, std::int64_t by) {
        Body body;
        body.push_back(assign(v, changed(op, by), place));
        return body;
    }
    int polls() {
        add_cuda_polls(f, {true});
        int found = 0;
        each_stmt(f.body, [&](const Stmt& s) { found += s.kind == Stmt::Kind::poll; });
        return found;
    }
};

TEST(Polls, HalvingAndDoublingEndSoon) {
    for (const auto& [op, by] : {std::pair{Op::floordiv, 2}, {Op::shr, 1}, {Op::floordiv, 10}}) {
        Polled b;
        b.set(1 << 20);
        b.while_loop(Op::gt, int_constant(0), b.step(op, by));
        EXPECT_EQ(b.polls(), 0);
    }
    Polled b;
    b.set(1);
    b.while_loop(Op::lt, int_constant(512), b.step(Op::mul, 2));
    EXPECT_EQ(b.polls(), 0);
}

TEST(Polls, WhatMayGoOnIsPolled) {
    {
        Polled b;  // 0 stays 0
        b.set(0);
        b.while_loop(Op::lt, int_constant(512), b.step(Op::mul, 2));
        EXPECT_EQ(b.polls(), 1);
    }
    {
        Polled b;  // n may be so large that doubling wraps
        b.set(1);
        b.while_loop(Op::lt, b.read(b.n), b.step(Op::mul, 2));
        EXPECT_EQ(b.polls(), 1);
    }
    {
        Polled b;  // -1 // 2 is -1
        b.set(100);
        b.while_loop(Op::gt, int_constant(-5), b.step(Op::floordiv, 2));
        EXPECT_EQ(b.polls(), 1);
    }
    {
        Polled b;  // put up again
        b.set(100);
        Body body = b.step(Op::floordiv, 2), sometimes;
        sometimes.push_back(assign(b.v, int_constant(100), b.place));
        body.push_back(branch(compare(Op::gt, b.read(b.n), int_constant(3)), std::move(sometimes)));
        b.while_loop(Op::gt, int_constant(0), std::move(body));
        EXPECT_EQ(b.polls(), 1);
    }
    {
        Polled b;  // a turn may end before it halves
        b.set(100);
        Body body, skip;
        skip.push_back(simple(Stmt::Kind::continue_loop));
        body.push_back(branch(compare(Op::gt, b.read(b.n), int_constant(3)), std::move(skip)));
        for (Stmt& s : b.step(Op::floordiv, 2)) body.push_back(std::move(s));
        b.while_loop(Op::gt, int_constant(0), std::move(body));
        EXPECT_EQ(b.polls(), 1);
    }
}

TEST(Polls, ALongCountedLoopRunsInStretchesAShortOneAsItIs) {
    for (const bool is_long : {false, true}) {
        Polled b;
        b.f.body.push_back(loop_range(b.v, int_constant(0), is_long ? b.read(b.n) : int_constant(4000),
                                      int_constant(1), {}, b.place));
        EXPECT_EQ(b.polls(), is_long);
        EXPECT_EQ(b.f.body.back().kind, is_long ? Stmt::Kind::loop_while : Stmt::Kind::loop_range);
    }
}

}  // namespace
}  // namespace xcuda::test
