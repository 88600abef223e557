#include "base/time_unit.hpp"

#include <gtest/gtest.h>

namespace {

using namespace xcuda;

DType datetime(const char* unit) { return *dtype_from_name("datetime64[" + std::string(unit) + "]"); }
DType timedelta(const char* unit) { return *dtype_from_name("timedelta64[" + std::string(unit) + "]"); }

TEST(Times, HaveATypeAUnit) {
    EXPECT_EQ(unit_of(datetime("D")), TimeUnit::days);
    EXPECT_EQ(unit_of(timedelta("as")), TimeUnit::attoseconds);
    EXPECT_EQ(timedelta_of(TimeUnit::hours), timedelta("h"));
    EXPECT_EQ(dtype_from_typestr("<m8[us]"), timedelta("us"));
    EXPECT_EQ(dtype_from_name("datetime64"), datetime_of(TimeUnit::generic));
    EXPECT_FALSE(dtype_from_name("datetime64[25s]"));
    EXPECT_TRUE(is_time(datetime("Y")) && is_datetime(datetime("Y")) && !is_timedelta(datetime("Y")));
    EXPECT_FALSE(is_time(DType::f8e8m0) || is_integer(datetime("s")) || is_floating(timedelta("s")));
}

TEST(Times, PromoteToTheFinerUnit) {
    EXPECT_EQ(promote(datetime("D"), datetime("h")), datetime("h"));
    EXPECT_EQ(promote(datetime("D"), timedelta("h")), datetime("h"));
    EXPECT_EQ(promote(timedelta("Y"), timedelta("M")), timedelta("M"));
    EXPECT_EQ(promote(timedelta("D"), DType::i8), timedelta("D"));
    EXPECT_EQ(promote(timedelta_of(TimeUnit::generic), timedelta("s")), timedelta("s"));
}

TEST(Times, AreSoManyOfAnotherUnit) {
    EXPECT_EQ(units_in(TimeUnit::weeks, TimeUnit::minutes), 7 * 24 * 60);
    EXPECT_EQ(units_in(TimeUnit::years, TimeUnit::months), 12);
    EXPECT_EQ(units_in(TimeUnit::seconds, TimeUnit::attoseconds), 1'000'000'000'000'000'000);
    EXPECT_FALSE(units_in(TimeUnit::minutes, TimeUnit::attoseconds));  // above 2^63
    EXPECT_FALSE(units_in(TimeUnit::months, TimeUnit::days));
    EXPECT_FALSE(units_in(TimeUnit::seconds, TimeUnit::days));
}

TEST(Times, AreShownAsNumPyShowsThem) {
    EXPECT_EQ(time_text(INT64_MIN, datetime("D")), "NaT");
    EXPECT_EQ(time_text(12817, datetime("D")), "2005-02-03");
    EXPECT_EQ(time_text(-1, datetime("h")), "1969-12-31T23");
    EXPECT_EQ(time_text(1, datetime("W")), "1970-01-08");
    EXPECT_EQ(time_text(-1, datetime("M")), "1969-12");
    EXPECT_EQ(time_text(-2014, datetime("Y")), "-044");
    EXPECT_EQ(time_text(1500, datetime("ms")), "1970-01-01T00:00:01.500");
    EXPECT_EQ(time_text(-1, datetime("as")), "1969-12-31T23:59:59.999999999999999999");
    EXPECT_EQ(time_text(-719528, datetime("D")), "0000-01-01");
    EXPECT_EQ(time_text(-5, timedelta("ms")), "-5 milliseconds");
    EXPECT_EQ(time_text(3, timedelta_of(TimeUnit::generic)), "3 generic time units");
}

}  // namespace
