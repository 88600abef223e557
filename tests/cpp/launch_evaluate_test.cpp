#include "launch/evaluate.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace xcuda::launch {
namespace {

using enum ir::Op;

// k(a: float32[:, ::1] of (6, 7), n: int32 = -9, x: float64 = 2.5)
struct Evaluate : testing::Test {
    ir::Function kernel;
    std::vector<Argument> arguments{3};
    ir::ExprP a, n, x;

    Evaluate() {
        const ir::Type types[] = {ir::array(DType::f32, 2), ir::scalar(DType::i32), ir::scalar(DType::f64)};
        for (const ir::Type& t : types) {
            ir::Var var;
            var.type = t;
            kernel.params.push_back(kernel.add(var));
        }
        a = ir::var(0, types[0]);
        n = ir::var(1, types[1]);
        x = ir::var(2, types[2]);
        arguments[0].is_array = true;
        arguments[0].ndim = 2;
        arguments[0].lengths = {6, 7};
        arguments[1].dtype = DType::i32;
        arguments[1].bits = static_cast<std::uint32_t>(-9);
        arguments[2].dtype = DType::f64;
        arguments[2].bits = std::bit_cast<std::uint64_t>(2.5);
    }
    std::optional<std::int64_t> value(const ir::ExprP& e) const { return evaluate(kernel, *e, arguments); }
    static ir::ExprP op(ir::Op o, ir::ExprP l, ir::ExprP r) {
        return ir::make(o, ir::scalar(DType::i64), {l, r});
    }
    static ir::ExprP i(std::int64_t v) { return ir::int_constant(v); }
};

TEST_F(Evaluate, LengthsAndScalars) {
    EXPECT_EQ(value(ir::dim(a, 0)), 6);
    EXPECT_EQ(value(ir::dim(a, 1)), 7);
    EXPECT_EQ(value(n), -9);
    EXPECT_EQ(value(op(mul, ir::dim(a, 0), n)), -54);
    EXPECT_EQ(value(ir::dim(a, 2)), std::nullopt);
}

TEST_F(Evaluate, DivisionFloorsAsInPython) {
    EXPECT_EQ(value(op(floordiv, n, i(2))), -5);
    EXPECT_EQ(value(op(mod, n, i(2))), 1);
    EXPECT_EQ(value(op(mod, i(9), i(-2))), -1);
    EXPECT_EQ(value(op(floordiv, n, i(0))), std::nullopt);
    EXPECT_EQ(value(op(mod, n, i(0))), std::nullopt);
}

TEST_F(Evaluate, BitsChoicesAndCasts) {
    EXPECT_EQ(value(op(shl, i(3), i(4))), 48);
    EXPECT_EQ(value(op(shr, i(-9), i(1))), -5);
    EXPECT_EQ(value(op(bit_and, i(-2), i(7))), 6);
    EXPECT_EQ(value(ir::make(select, ir::scalar(DType::i64), {op(lt, n, i(0)), i(1), i(2)})), 1);
    EXPECT_EQ(value(ir::make(cast, ir::scalar(DType::i64), {x})), 2);
    EXPECT_EQ(value(op(add, ir::make(cast, ir::scalar(DType::i64), {x}), i(1))), 3);
    EXPECT_EQ(value(op(logic_and, op(lt, i(1), i(0)), op(floordiv, i(1), i(0)))), 0);
}

TEST_F(Evaluate, WhatOnlyTheDeviceKnowsIsNoValue) {
    EXPECT_EQ(value(ir::coord(ir::Coord::Kind::thread, 0)), std::nullopt);
    EXPECT_EQ(value(op(add, ir::coord(ir::Coord::Kind::thread, 0), i(1))), std::nullopt);
    EXPECT_EQ(value(a), std::nullopt);
}

}  // namespace
}  // namespace xcuda::launch
