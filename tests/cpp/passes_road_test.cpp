// The passes in the order a kernel meets them: definitions, guards, domains, checks, and the frames of both devices.
#include <gtest/gtest.h>

#include "ir/walk.hpp"
#include "ir_kernels.hpp"
#include "passes/cpu.hpp"
#include "passes/cuda.hpp"
#include "passes/domain.hpp"
#include "passes/hoist.hpp"
#include "passes/propagate.hpp"
#include "passes/prove.hpp"
#include "passes/structure.hpp"

namespace xcuda::test {
namespace {

int checked_accesses(const Body& body) {
    int n = 0;
    each_expr(body, [&](const Expr& e) { n += e.op == Op::load && access_of(e).checked; });
    each_stmt(body, [&](const Stmt& s) { n += s.kind == Stmt::Kind::store && s.access.checked; });
    return n;
}

TEST(Propagate, WritesIndicesOutAndDropsTheirVariables) {
    Module m = shifted_copy(1);
    propagate(m.kernel());
    ASSERT_EQ(m.kernel().body.size(), 1u);  // `i = grid(1)` went
    EXPECT_EQ(m.kernel().body[0].exprs[0]->args[0]->op, Op::coord);
}

TEST(Propagate, FindsTheGlobalIndexInAnyOrder) {
    Builder b;
    const VarId y = b.parameter("y", array(DType::f32, 1));
    const ExprP product =
        make(Op::mul, integer(), {coord(Coord::Kind::block_dim, 0), coord(Coord::Kind::block, 0)});
    const ExprP index = make(Op::add, integer(), {product, coord(Coord::Kind::thread, 0)});
    b.f.body.push_back(b.put(y, {index}, constant(1.0, scalar(DType::f32))));
    propagate(b.f);
    EXPECT_EQ(coord_of(*b.f.body[0].exprs[1]).kind, Coord::Kind::global);
}

TEST(Structure, AnEarlyReturnBecomesABranchAroundTheRest) {
    Builder b;
    const VarId y = b.parameter("y", array(DType::f32, 1));
    Body leave;
    leave.push_back(simple(Stmt::Kind::leave));
    b.f.body.push_back(branch(compare(Op::ge, global(0), dim(b.read(y), 0)), std::move(leave)));
    b.f.body.push_back(b.put(y, {global(0)}, constant(1.0, scalar(DType::f32))));
    structure_returns(b.f.body);
    ASSERT_EQ(b.f.body.size(), 1u);
    EXPECT_FALSE(has_leave(b.f.body));
    EXPECT_EQ(b.f.body[0].exprs[0]->op, Op::lt);
    EXPECT_EQ(b.f.body[0].body.size(), 1u);
}

TEST(Domain, ComesFromTheGuard) {
    const Module m = matrix_multiply();
    const auto domain = launch_domain(m);
    ASSERT_EQ(domain.size(), 2u);
    for (int axis = 0; axis < 2; ++axis) {
        EXPECT_EQ(domain[static_cast<std::size_t>(axis)]->op, Op::dim);
        EXPECT_EQ(std::get<Axis>(domain[static_cast<std::size_t>(axis)]->payload).value, axis);
    }
}

TEST(Prove, AGuardProvesTheArrayItNamesAndNoOther) {
    Module m = shifted_copy(0);
    propagate(m.kernel());
    EXPECT_EQ(checked_accesses(m.kernel().body), 2);
    prove_bounds(m.kernel());
    EXPECT_EQ(checked_accesses(m.kernel().body), 1);  // x has another length
}

TEST(Hoist, TheLoopStandsTwiceAndOnlyTheCarefulOneChecks) {
    Module m = matrix_multiply();
    propagate(m.kernel());
    hoist_checks(m.kernel());
    const Stmt* split = nullptr;
    each_stmt(m.kernel().body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::branch && !s.orelse.empty()) split = &s;
    });
    ASSERT_TRUE(split);
    EXPECT_EQ(checked_accesses(split->body), 0);
    EXPECT_EQ(checked_accesses(split->orelse), 2);
}

TEST(Cuda, AutomaticLaunchesPutTheContiguousAxisOnX) {
    EXPECT_EQ(automatic_launch(matrix_multiply()).order, (std::array<int, 3>{1, 0, 2}));
    EXPECT_EQ(automatic_launch(shifted_copy(0)).order, (std::array<int, 3>{0, 1, 2}));
    EXPECT_EQ(automatic_launch(shifted_copy(0)).elements, 4);
    EXPECT_EQ(automatic_launch(matrix_multiply()).elements, 1);
}

TEST(Cpu, AMatrixProductIsTiledInRegisters) {
    const Module m = for_cpu(matrix_multiply(), {.vector_bytes = 64});
    EXPECT_EQ(m.how, "tiles 8x2x16");
    ASSERT_TRUE(m.boxes && m.tiles);
    EXPECT_EQ(m.boxes->vector_axis, 1);
    EXPECT_EQ(checked_accesses(m.tiles->body), 0);
    EXPECT_EQ(checked_accesses(m.kernel().body), 3);
}

TEST(Cpu, ADataDependentIndexRunsThreadByThread) {
    Builder b;
    const VarId y = b.parameter("y", array(DType::f32, 1)), x = b.parameter("x", array(DType::i64, 1));
    b.f.body.push_back(b.put(y, {b.load(x, {global(0)})}, constant(1.0, scalar(DType::f32))));
    const Module m = for_cpu(b.module, {});
    EXPECT_EQ(m.how, "threads");
    EXPECT_FALSE(m.tiles);
}

TEST(Cpu, BarriersWantAFixedBlockAndDivergentOnesFibers) {
    for (const bool divergent : {false, true}) {
        Builder b;
        const VarId y = b.parameter("y", array(DType::f32, 1));
        Body inside;
        inside.push_back(simple(Stmt::Kind::barrier));
        const ExprP left = divergent ? coord(Coord::Kind::thread, 0) : dim(b.read(y), 0);
        b.f.body.push_back(branch(compare(Op::lt, left, int_constant(7)), std::move(inside)));
        b.f.body.push_back(b.put(y, {coord(Coord::Kind::thread, 0)}, constant(1.0, scalar(DType::f32))));
        EXPECT_TRUE(wants_fixed_block(b.module));
        const Module m = for_cpu(b.module, {.block_fixed = true, .block = {32, 1, 1}});
        EXPECT_EQ(m.how.rfind(divergent ? "fibers" : "regions", 0), 0u) << m.how;
        EXPECT_EQ(m.fiber.has_value(), divergent);
    }
}

}  // namespace
}  // namespace xcuda::test
