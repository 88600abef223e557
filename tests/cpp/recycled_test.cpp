#include "base/recycled.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace {

struct Counted {
    explicit Counted(int n) : number(n) { ++alive; }
    ~Counted() { --alive; }
    int number;
    char more[100] = {};
    static inline int alive = 0;
};

TEST(Recycled, ObjectsLiveAndGoAsOthersDo) {
    std::vector<std::shared_ptr<Counted>> all;
    std::set<const void*> places;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(xcuda::make_recycled<Counted>(i));
        places.insert(all.back().get());
    }
    EXPECT_EQ(Counted::alive, 1000);
    EXPECT_EQ(places.size(), 1000u);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)]->number, i);
    all.clear();
    EXPECT_EQ(Counted::alive, 0);
}

#if !defined(__SANITIZE_ADDRESS__)
struct Own {
    long numbers[8] = {};
};

TEST(Recycled, MemoryIsUsedAgain) {
    const void* first = xcuda::make_recycled<Own>().get();
    EXPECT_EQ(xcuda::make_recycled<Own>().get(), first);
}

struct Travelling {
    long numbers[8] = {};
};

TEST(Recycled, WhatThreadsLeaveBehindIsUsedByOthers) {
    std::set<const void*> places;
    for (int turn = 0; turn < 50; ++turn) {
        std::vector<std::shared_ptr<Travelling>> made;
        std::thread([&] {
            for (int i = 0; i < 500; ++i) made.push_back(xcuda::make_recycled<Travelling>());
        }).join();
        for (const auto& one : made) places.insert(one.get());
        std::thread([&] { made.clear(); }).join();  // given back by a thread that took none
    }
    EXPECT_LE(places.size(), 500u + 3 * 64u);
}
#endif

}  // namespace
