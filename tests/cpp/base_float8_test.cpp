#include "base/float8.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace xcuda;

TEST(Float8, EveryValueIsItsOwnNearest) {
    for (const DType d : {DType::f8e4m3, DType::f8e5m2, DType::f8e8m0})
        for (int bits = 0; bits < 256; ++bits) {
            const double value = float8_value(static_cast<std::uint8_t>(bits), d);
            if (!std::isnan(value)) EXPECT_EQ(float8_bits(value, d), bits) << info(d).name;
        }
}

TEST(Float8, TiesGoToEvenAndWhatIsAboveToItsEnd) {
    EXPECT_EQ(float8_bits(464, DType::f8e4m3), 0x7e);
    EXPECT_EQ(float8_bits(464.01, DType::f8e4m3), 0x7f);
    EXPECT_EQ(float8_bits(-1e9, DType::f8e5m2), 0xfc);
    EXPECT_EQ(float8_bits(0x1p-10, DType::f8e4m3), 0);
    EXPECT_EQ(float8_bits(0x1.8p-10, DType::f8e4m3), 1);
    EXPECT_EQ(float8_bits(-0.0, DType::f8e5m2), 0x80);
    EXPECT_EQ(float8_bits(1.5, DType::f8e8m0), 0x80);
    EXPECT_EQ(float8_bits(0, DType::f8e8m0), 0xff);
    EXPECT_EQ(float8_bits(0x1p-140, DType::f8e8m0), 0);
    EXPECT_EQ(float8_bits(1.5 * 0x1p127, DType::f8e8m0), 0xff);
}

}  // namespace
