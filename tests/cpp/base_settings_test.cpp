#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "base/settings.hpp"

using namespace xcuda;

namespace {

class SettingsFromEnvironment : public testing::Test {
protected:
    void SetUp() override { clear(); }
    void TearDown() override { clear(); }
    void clear() {
        for (const char* name : {"XCUDA_DEVICE", "XCUDA_WORKERS", "XCUDA_CACHE_DIR", "XCUDA_CACHE_BYTES",
                                 "XDG_CACHE_HOME", "XCUDA_POOL_GUARD"})
            unsetenv(name);
    }
};

}  // namespace

TEST_F(SettingsFromEnvironment, WithoutAnything) {
    setenv("HOME", "/home/someone", 1);
    const Settings read = read_settings();
    EXPECT_EQ(read.device, "");
    EXPECT_EQ(read.workers, 0);
    EXPECT_EQ(read.cache_dir, "/home/someone/.cache/xcuda");
    EXPECT_EQ(read.cache_bytes, 1 << 30);
}

TEST_F(SettingsFromEnvironment, EachVariable) {
    setenv("XCUDA_DEVICE", "cpu", 1);
    setenv("XCUDA_WORKERS", "3", 1);
    setenv("XDG_CACHE_HOME", "/var/cache", 1);
    setenv("XCUDA_CACHE_BYTES", "20m", 1);
    EXPECT_EQ(read_settings().device, "cpu");
    EXPECT_EQ(read_settings().workers, 3);
    EXPECT_EQ(read_settings().cache_dir, "/var/cache/xcuda");
    EXPECT_EQ(read_settings().cache_bytes, 20 << 20);
    for (const auto& [value, guard] : {std::pair{"", Guard::none},
                                       {"0", Guard::none},
                                       {"1", Guard::end},
                                       {"end", Guard::end},
                                       {"begin", Guard::begin}}) {
        setenv("XCUDA_POOL_GUARD", value, 1);
        EXPECT_EQ(read_settings().pool_guard, guard) << value;
    }
    setenv("XCUDA_POOL_GUARD", "middle", 1);
    EXPECT_THROW(read_settings(), Error);
    unsetenv("XCUDA_POOL_GUARD");
    setenv("XCUDA_CACHE_DIR", "/data/kernels", 1);
    EXPECT_EQ(read_settings().cache_dir, "/data/kernels");
}

TEST_F(SettingsFromEnvironment, ANumberThatIsNoneIsRefusedByName) {
    for (const char* value : {"many", "-1", "3x", "2.5", "9999999999999999999999", "5KK"}) {
        setenv("XCUDA_CACHE_BYTES", value, 1);
        try {
            read_settings();
            FAIL() << value;
        } catch (const Error& error) {
            EXPECT_EQ(error.python_type, "ValueError");
            EXPECT_NE(std::string(error.what()).find("XCUDA_CACHE_BYTES is \"" + std::string(value) + "\""),
                      std::string::npos);
        }
    }
}
