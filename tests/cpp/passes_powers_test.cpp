// Multiples of powers of two: nothing lies above what is said of them, and something lies there.
#include "passes/powers.hpp"

#include <gtest/gtest.h>

#include "passes/build.hpp"

namespace xcuda::passes {
namespace {

constexpr Whole unknown = 1 << 20;

// The largest a + inner * s by trying all.
int largest(int most_value, int least_step, int most_step, int inner, int outer) {
    int found = -1;
    for (int s = 1; s <= most_step; s *= 2)
        for (int a = 0; s >= least_step && a <= most_value; a += outer * s)
            found = std::max(found, a + inner * s);
    return found;
}

TEST(Powers, NothingLiesAboveTheMost) {
    int told = 0;
    for (int value = 0; value < 70; ++value)
        for (int low = 1; low < 9; ++low)
            for (int high = low; high < 40; ++high)
                for (const int inner : {1, 2, 4})
                    for (const int outer : {1, 2, 4, 8}) {
                        const Whole most = most_within({0, value}, {low, high}, inner, outer, unknown);
                        const int found = largest(value, low, high, inner, outer);
                        EXPECT_EQ(found < 0 ? unknown : Whole(found), most);
                        told += most < unknown;
                    }
    EXPECT_GT(told, 1000);
}

TEST(Powers, ATreeOverNeighboursStaysInItsBlock) {
    EXPECT_EQ(most_within({0, 255}, {1, 255}, 1, 2, unknown), 255);
    EXPECT_EQ(most_within({0, 255}, {1, 256}, 1, 2, unknown), 256);  // from 0
    EXPECT_EQ(most_within({0, 199}, {1, 127}, 1, 2, unknown), 224);  // 192 + 32
    EXPECT_EQ(most_within({0, 255}, {1, 255}, 1, 2, 100), 100);
    EXPECT_EQ(most_within({-1, 255}, {1, 255}, 1, 2, unknown), unknown);
    EXPECT_EQ(most_within({0, 255}, {0, 255}, 1, 2, unknown), unknown);
    EXPECT_EQ(most_within({0, 255}, {3, 3}, 1, 2, unknown), unknown);  // no power
}

ir::ExprP number(std::int64_t v) { return ir::int_constant(v); }

struct Stepping {
    ir::Function f;
    ir::VarId step = 0;
    explicit Stepping(ir::Var::Role role = ir::Var::Role::local) {
        ir::Var v;
        v.name = "step";
        v.type = ir::scalar(DType::i64);
        v.role = role;
        f.vars.push_back(v);
    }
    ir::ExprP name() const { return var(step, f.vars[0].type); }
    Stepping& is(ir::ExprP value) {
        ir::Stmt s{};
        s.kind = ir::Stmt::Kind::assign;
        s.var = step;
        s.exprs = {std::move(value)};
        f.body.push_back(std::move(s));
        return *this;
    }
    ir::ExprP by(ir::Op op, std::int64_t v) const {
        return ir::make(op, name()->type, {name(), number(v)}, {});
    }
};

TEST(Powers, WhatIsOnlyDoubledAndHalvedStaysOne) {
    const Stepping s;
    for (const ir::ExprP& next : {s.by(ir::Op::mul, 2), s.by(ir::Op::mul, 8), s.by(ir::Op::shl, 1),
                                  s.by(ir::Op::floordiv, 2), s.by(ir::Op::shr, 1)})
        EXPECT_TRUE(is_power(Stepping().is(number(4)).is(next).f, 0));
    for (const ir::ExprP& next :
         {s.by(ir::Op::mul, 3), s.by(ir::Op::add, 1), s.by(ir::Op::floordiv, 3), number(6), number(0)})
        EXPECT_FALSE(is_power(Stepping().is(number(4)).is(next).f, 0));
    EXPECT_FALSE(is_power(Stepping().is(s.by(ir::Op::mul, 2)).is(number(3)).f, 0));
    EXPECT_FALSE(is_power(Stepping().f, 0));  // nothing is assigned
    EXPECT_FALSE(is_power(Stepping(ir::Var::Role::parameter).is(s.by(ir::Op::mul, 2)).f, 0));
}

TEST(Powers, MultiplesAreFoundInRemainders) {
    const Stepping s;
    const ir::ExprP t = number(7), twice = s.by(ir::Op::mul, 2);
    const auto remainder = [&](ir::Op op, const ir::ExprP& by) {
        return multiple(ir::make(op, s.name()->type, {t, by}, {}));
    };
    EXPECT_EQ(remainder(ir::Op::mod, twice).by.factor, 2);
    EXPECT_EQ(remainder(ir::Op::mod, s.name()).by.factor, 1);
    EXPECT_EQ(remainder(ir::Op::mod, s.by(ir::Op::shl, 3)).by.factor, 8);
    EXPECT_EQ(remainder(ir::Op::mod, s.by(ir::Op::mul, 3)).by.factor, 0);
    EXPECT_EQ(
        remainder(ir::Op::bit_and, ir::make(ir::Op::sub, twice->type, {twice, number(1)}, {})).by.factor, 2);
    EXPECT_EQ(
        remainder(ir::Op::bit_and, ir::make(ir::Op::sub, twice->type, {twice, number(2)}, {})).by.factor, 0);
    EXPECT_EQ(remainder(ir::Op::bit_and, twice).by.factor, 0);
}

}  // namespace
}  // namespace xcuda::passes
