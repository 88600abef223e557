#include "profile/units.hpp"

#include <gtest/gtest.h>

namespace xcuda::profile {
namespace {

TEST(Units, ThreeDigitsAndThePrefixThatFits) {
    EXPECT_EQ(in_unit(0.00123, "s"), "1.23 ms");
    EXPECT_EQ(in_unit(12.34e-6, "s"), "12.3 µs");
    EXPECT_EQ(in_unit(0, "s"), "0 s");
    EXPECT_EQ(in_unit(0.05 - 0.04, "s"), "10 ms");  // 0.010000000000000002
    EXPECT_EQ(in_unit(0.9999, "s"), "1.00 s");
    EXPECT_EQ(in_unit(4.2e9, "B/s"), "4.20 GB/s");
    EXPECT_EQ(in_unit(2.5e12, "FLOP/s"), "2.50 TFLOP/s");
    EXPECT_EQ(in_unit(3 << 20, "B"), "3 MiB");
    EXPECT_EQ(in_unit(1000, "B"), "1000 B");
    EXPECT_EQ(in_unit(-1536, "B"), "-1.50 KiB");
    EXPECT_EQ(in_unit(0.642, "share"), "64 %");
    EXPECT_EQ(in_unit(0.0123, "share"), "1.2 %");
    EXPECT_EQ(in_unit(32, "1"), "32");
}

}  // namespace
}  // namespace xcuda::profile
