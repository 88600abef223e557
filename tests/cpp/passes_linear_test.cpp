#include "passes/linear.hpp"

#include <gtest/gtest.h>

#include "ir/print.hpp"
#include "ir_kernels.hpp"

namespace xcuda::test {
namespace {

struct LinearTest : testing::Test {
    Builder b;
    VarId x = b.parameter("x", array(DType::f32, 1));
    VarId n = b.parameter("n", integer());
    VarId s = b.local("s", integer());
    std::vector<bool> assigned = std::vector<bool>(3, false);
    LinearScope scope{b.f, assigned};
    std::string text(const ExprP& e) const { return to_string(b.f, *e); }
};

TEST_F(LinearTest, SumsOfCoordinatesHaveCoefficients) {
    const ExprP e = sub(mul(global(0), int_constant(3)), mul(b.read(n), global(1)));
    const auto sum = linear(e, scope);
    ASSERT_TRUE(sum);
    EXPECT_EQ(integer_of(sum->coefficients[0]), 3);
    ASSERT_TRUE(sum->coefficients[1]);
    EXPECT_FALSE(integer_of(sum->coefficients[1]));  // -n
    EXPECT_FALSE(sum->coefficients[2]);
}

TEST_F(LinearTest, ProductsOfCoordinatesAreNotLinear) {
    EXPECT_FALSE(linear(mul(global(0), global(1)), scope));
}

TEST_F(LinearTest, WhatTheBodyAssignsIsNotFixed) {
    EXPECT_TRUE(linear(add(global(0), b.read(s)), scope));
    assigned[static_cast<std::size_t>(s)] = true;
    EXPECT_FALSE(linear(add(global(0), b.read(s)), scope));
}

TEST_F(LinearTest, NarrowSumsMayWrapAndAreRefused) {
    const Type narrow = scalar(DType::i32);
    const ExprP e = make(Op::add, narrow, {cast(global(0), narrow), constant(std::int64_t{1}, narrow)});
    EXPECT_FALSE(linear(e, scope));
}

TEST_F(LinearTest, RangesFollowTheSignOfACoefficient) {
    Box box;
    for (int a = 0; a < 3; ++a) box.low[a] = int_constant(2), box.high[a] = int_constant(10);
    const auto sum = linear(sub(int_constant(100), global(0)), scope);
    ASSERT_TRUE(sum);
    const auto range = range_over(*sum, box, scope);
    ASSERT_TRUE(range);
    EXPECT_EQ(integer_of(range->least), 91);
    EXPECT_EQ(integer_of(range->greatest), 98);
}

TEST_F(LinearTest, LoopsAddTheirRange) {
    std::map<VarId, LoopRange> loops{{s, {int_constant(5), int_constant(0), int_constant(-2)}}};  // 5, 3, 1
    assigned[static_cast<std::size_t>(s)] = true;
    scope.loops = &loops;
    const auto sum = linear(mul(b.read(s), int_constant(10)), scope);
    ASSERT_TRUE(sum);
    const auto range = range_over(*sum, Box{}, scope);
    ASSERT_TRUE(range);
    EXPECT_EQ(integer_of(range->least), 10);
    EXPECT_EQ(integer_of(range->greatest), 50);
}

}  // namespace
}  // namespace xcuda::test
