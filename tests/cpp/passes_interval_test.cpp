// Intervals: every result that an operation of 8-bit integers can have lies in what is said of it, and not far more does.
#include <gtest/gtest.h>

#include <random>

#include "passes/interval.hpp"

namespace xcuda::passes {
namespace {

using ir::Op;

constexpr Op operations[]{Op::add, Op::sub, Op::mul,     Op::floordiv, Op::mod,
                          Op::shl, Op::shr, Op::bit_and, Op::bit_or,   Op::bit_xor};

int wrap(int v, bool is_signed) {
    return is_signed ? static_cast<std::int8_t>(v) : static_cast<std::uint8_t>(v);
}

int floor_div(int a, int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// What the preludes do, for 8 bits.
int done(Op op, int a, int b, bool is_signed) {
    switch (op) {
        case Op::add: return wrap(a + b, is_signed);
        case Op::sub: return wrap(a - b, is_signed);
        case Op::mul: return wrap(a * b, is_signed);
        case Op::floordiv: return b == 0 ? 0 : wrap(floor_div(a, b), is_signed);
        case Op::mod: return b == 0 ? 0 : a - floor_div(a, b) * b;
        case Op::shl: return b >= 0 && b < 8 ? wrap(a << b, is_signed) : 0;
        case Op::shr: return b >= 0 && b < 8 ? a >> b : a < 0 ? -1 : 0;
        case Op::bit_and: return a & b;
        case Op::bit_or: return a | b;
        default: return a ^ b;
    }
}

TEST(Interval, HoldsEveryResultOfAnOperation) {
    std::mt19937 random(7);
    for (const DType dtype : {DType::i8, DType::u8}) {
        const bool is_signed = dtype == DType::i8;
        const Interval type = numbers_of(dtype);
        std::uniform_int_distribution<int> any(static_cast<int>(type.low), static_cast<int>(type.high)),
            few(0, 12);
        for (int trial = 0; trial < 4000; ++trial) {
            const auto drawn = [&] {
                const int low = trial % 2 ? any(random) : few(random) - (is_signed ? 6 : 0);
                return meet({low, low + few(random)}, type);
            };
            const Interval a = drawn(), b = drawn();
            for (const Op op : operations) {
                const Interval said = of_operation(op, a, b, dtype);
                ASSERT_TRUE(said.within(type));
                for (int x = static_cast<int>(a.low); x <= a.high; ++x)
                    for (int y = static_cast<int>(b.low); y <= b.high; ++y)
                        ASSERT_TRUE(said.contains(done(op, x, y, is_signed)))
                            << static_cast<int>(op) << ": " << x << ", " << y;
            }
        }
    }
}

TEST(Interval, IsNoWiderThanItMustBeWhereNothingWraps) {
    const auto is = [](Op op, Interval a, Interval b, Interval r) {
        EXPECT_EQ(of_operation(op, a, b, DType::i64), r) << static_cast<int>(op);
    };
    is(Op::add, {1, 5}, {-2, 3}, {-1, 8});
    is(Op::mul, {-3, 2}, {4, 5}, {-15, 10});
    is(Op::floordiv, {-7, 7}, {2, 3}, {-4, 3});
    is(Op::mod, {0, 1000}, {3, 3}, {0, 2});
    is(Op::mod, {-5, -1}, {8, 8}, {0, 7});
    is(Op::mod, {2, 4}, {8, 9}, {2, 4});
    is(Op::shl, {1, 3}, {0, 4}, {1, 48});
    is(Op::shr, {-8, 64}, {1, 2}, {-4, 32});
    is(Op::bit_and, {-100, 100}, {0, 7}, {0, 7});
    is(Op::bit_or, {0, 5}, {0, 9}, {0, 15});
    EXPECT_EQ(of_operation(Op::mul, numbers_of(DType::i64), {2, 2}, DType::i64), numbers_of(DType::i64));
    EXPECT_EQ(of_operation(Op::add, {0, 255}, {1, 1}, DType::u8), numbers_of(DType::u8));
}

TEST(Interval, AComparisonLeavesWhatCanHold) {
    EXPECT_EQ(below({0, 100}, {5, 20}, false), (Interval{0, 19}));
    EXPECT_EQ(below({0, 100}, {5, 20}, true), (Interval{0, 20}));
    EXPECT_EQ(above({0, 100}, {5, 20}, false), (Interval{6, 100}));
    EXPECT_TRUE(below({10, 20}, {0, 5}, true).empty());
    EXPECT_TRUE(hull({}, {}).empty());
    EXPECT_EQ(hull({}, {1, 2}), (Interval{1, 2}));
}

}  // namespace
}  // namespace xcuda::passes
