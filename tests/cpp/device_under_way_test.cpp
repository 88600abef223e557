#include "device/under_way.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace xcuda::device {
namespace {

TEST(UnderWay, AnInnerOneWithoutANameGoesOnWithTheOuters) {
    EXPECT_TRUE(under_way().empty());
    {
        const UnderWay outer(Doing::launch, "saxpy", 1);
        std::atomic<std::int64_t> begun{3};
        {
            const UnderWay inner(Doing::launch, {}, 2, &begun, 4);
            const auto seen = under_way();
            ASSERT_EQ(seen.size(), 1u);
            EXPECT_EQ(seen[0].name, "saxpy");
            EXPECT_EQ(seen[0].begin, 2);
            EXPECT_EQ(seen[0].share, 0.75);
            begun = 9;  // workers ask for one more than there are
            EXPECT_EQ(under_way()[0].share, 1);
        }
        ASSERT_EQ(under_way().size(), 1u);
        EXPECT_LT(under_way()[0].share, 0);
    }
    EXPECT_TRUE(under_way().empty());
}

TEST(UnderWay, WhatIsReadIsWholeWhileThreadsComeAndGo) {
    std::atomic<bool> enough{false};
    const auto work = [&enough](char letter) {
        while (!enough.load()) {
            const std::string outer(40, letter);  // its memory goes at once
            const UnderWay told(Doing::copy, outer, 1);
            const std::string inner(50, letter);
            const UnderWay more(Doing::compile, inner, 1);
        }
    };
    std::thread threads[] = {std::thread(work, 'a'), std::thread(work, 'b')};
    int odd = 0;
    for (int i = 0; i < 20000; ++i) {
        for (const SeenUnderWay& seen : under_way()) {
            const std::size_t length = seen.what == Doing::copy ? 40 : 50;
            odd += seen.name != std::string(length, 'a') && seen.name != std::string(length, 'b');
        }
    }
    enough = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(odd, 0);
    EXPECT_TRUE(under_way().empty());
}

}  // namespace
}  // namespace xcuda::device
