// Checks of indices from memory: noted in a loop that only computes, told by the loop as it was.
#include <gtest/gtest.h>

#include "ir/verify.hpp"
#include "ir/walk.hpp"
#include "ir_kernels.hpp"
#include "passes/call_ranges.hpp"
#include "passes/hoist.hpp"
#include "passes/prove_ranges.hpp"

namespace xcuda::test {
namespace {

// for k in range(n): total = total + x[column[k]]; where `stores`, y[k] = total too
Module gather(bool stores) {
    Builder b;
    const VarId y = b.parameter("y", array(DType::f32, 1)), x = b.parameter("x", array(DType::f32, 1)),
                column = b.parameter("column", array(DType::i32, 1));
    const VarId total = b.local("total", scalar(DType::f32)), k = b.local("k", integer());
    Body turn;
    turn.push_back(assign(
        total, make(Op::add, scalar(DType::f32), {b.read(total), b.load(x, {b.load(column, {b.read(k)}, 0)})}),
        b.place));
    if (stores) turn.push_back(b.put(y, {b.read(k)}, b.read(total), 0));
    b.f.body.push_back(assign(total, constant(0.0, scalar(DType::f32)), b.place));
    b.f.body.push_back(
        loop_range(k, int_constant(0), dim(b.read(column), 0), int_constant(1), std::move(turn), b.place));
    b.f.body.push_back(b.put(y, {int_constant(0)}, b.read(total), 0));
    return b.module;
}

TEST(Defer, ALoopThatOnlyComputesHasItsChecksAfterIt) {
    Module m = gather(false);
    hoist_checks(m.kernel());
    verify(m, Stage::cpu, "passes/hoist");
    const Body& body = m.kernel().body;
    const auto is_loop = [](const Stmt& s) { return s.kind == Stmt::Kind::loop_range; };
    const auto loop = std::find_if(body.begin(), body.end(), is_loop);
    ASSERT_NE(loop, body.end());
    EXPECT_EQ(tests_in(loop->body), 0);
    const Stmt& after = *(loop + 1);
    ASSERT_EQ(after.kind, Stmt::Kind::branch);
    EXPECT_EQ(tests_in(after.body), 1);
    EXPECT_EQ(after.body.front().kind, Stmt::Kind::assign);  // total and k are put back
    EXPECT_EQ(after.body.back().kind, Stmt::Kind::loop_range);
    EXPECT_EQ(after.body.back().hint, Stmt::Hint::cold);
}

TEST(Defer, ALoopThatWritesChecksBeforeItWrites) {
    Module m = gather(true);
    hoist_checks(m.kernel());
    for (const Stmt& s : m.kernel().body) {
        if (s.kind == Stmt::Kind::loop_range) {
            EXPECT_EQ(tests_in(s.body), 1);
        }
    }
}

TEST(CallRanges, AParameterIsSmallWhereEveryCallSaysSo) {
    for (const bool always : {true, false}) {
        Module m;
        m.functions.resize(2);
        Function &kernel = m.functions[0], &callee = m.functions[1];
        kernel.name = "k";
        callee.name = "f";
        callee.is_kernel = false;
        callee.result = integer();
        const VarId p = callee.add({.name = "p", .type = integer(), .role = Var::Role::parameter});
        callee.params = {p};
        const VarId given = kernel.add({.name = "n", .type = integer(), .role = Var::Role::parameter});
        kernel.params = {given};
        const VarId r = kernel.add({.name = "r", .type = integer()});
        const auto call = [&](ExprP value) {
            auto node = std::make_shared<Expr>(*make(Op::invoke, integer(), {std::move(value)}));
            node->payload = FunctionId{1};
            kernel.body.push_back(assign(r, node));
        };
        call(int_constant(7));
        call(always ? coord(Coord::Kind::thread, 0) : var(given, integer()));
        spread_ranges(m, {true});
        EXPECT_EQ(m.functions[1].vars[static_cast<std::size_t>(p)].small, always);
    }
}

}  // namespace
}  // namespace xcuda::test
