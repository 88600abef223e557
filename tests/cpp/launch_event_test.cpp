#include "launch/event.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace xcuda::launch {
namespace {

Event numbered(std::int64_t bytes) {
    Event e{};
    e.kind = Event::Kind::fill;
    e.bytes = bytes;
    return e;
}

TEST(Events, AMarkGivesWhatCameAfterIt) {
    record(numbered(1));
    const auto at = mark();
    EXPECT_TRUE(events_since(at).events.empty());
    record(numbered(2));
    record(numbered(3));
    const Slice slice = events_since(at);
    ASSERT_EQ(slice.events.size(), 2u);
    EXPECT_EQ(slice.events[0].bytes, 2);
    EXPECT_EQ(slice.events[1].bytes, 3);
    EXPECT_EQ(slice.lost, 0u);
    EXPECT_TRUE(events_since(mark() + 10).events.empty());
}

TEST(Events, ALaunchTellsItsTimesOnceItIsDone) {
    const auto at = mark();
    const auto timing = std::make_shared<device::Device::Launch>();
    Event e{};
    e.kind = Event::Kind::launch;
    e.begin = 1;
    e.timing = timing;
    record(e);
    EXPECT_EQ(events_since(at).events[0].begin, 1);
    timing->begin = 5;
    timing->end = 6;
    timing->done = true;
    EXPECT_EQ(events_since(at).events[0].begin, 5);
    EXPECT_EQ(events_since(at).events[0].end, 6);
}

std::shared_ptr<device::Device::Launch> ended(double begin, double end) {
    auto timing = std::make_shared<device::Device::Launch>();
    timing->begin = begin;
    timing->end = end;
    timing->done = true;
    return timing;
}

TEST(Events, LaunchesBeyondThoseAskedForAreSummed) {
    Event like{};
    like.kind = Event::Kind::launch;
    const auto one = std::make_shared<const Event>(like), other = std::make_shared<const Event>(like);
    const auto at = mark();
    record_launch(one, 0, 0, ended(0, 1));
    record(numbered(1));
    record_launch(one, 0, 0, ended(2, 5));
    record_launch(other, 0, 0, ended(5, 9));
    record_launch(one, 0, 0, ended(9, 10));
    auto untimed = ended(0, 0);
    untimed->timed = false;
    record_launch(one, 0, 0, untimed);
    auto faulted = ended(0, 7);
    faulted->fault.kind = 1;
    record_launch(one, 0, 0, faulted);
    record_launch(one, 0, 0, std::make_shared<device::Device::Launch>());  // runs
    record_launch(one, 0, 0, nullptr);                                     // of no blocks

    const Slice slice = events_since(at, 1);
    ASSERT_EQ(slice.events.size(), 5u);  // the first, the fill, and what a sum can't tell
    EXPECT_EQ(slice.events[0].end, 1);
    ASSERT_EQ(slice.sums.size(), 2u);
    EXPECT_EQ(slice.sums[0].what, one);
    EXPECT_EQ(slice.sums[0].calls, 3);
    EXPECT_EQ(slice.sums[0].timed, 2);
    EXPECT_EQ(slice.sums[0].total, 4);
    EXPECT_EQ(slice.sums[0].shortest, 1);
    EXPECT_EQ(slice.sums[0].longest, 3);
    EXPECT_EQ(slice.sums[1].total, 4);
    EXPECT_EQ(events_since(at).events.size(), 9u);
    EXPECT_TRUE(events_since(at).sums.empty());
}

TEST(Events, LaunchesAlikeAreOneSumWhereAMarkAsksForNoMore) {
    Event like{};
    like.kind = Event::Kind::launch;
    const auto one = std::make_shared<const Event>(like), other = std::make_shared<const Event>(like);
    record_launch(one, 0, 0, ended(0, 1));  // before the mark: never part of its sums
    const auto at = mark(Detail::summed);
    for (int i = 1; i <= 1000; ++i) record_launch(one, 0, 0, ended(i, i + 0.25 * (1 + i % 3)));
    record_launch(one, 0, 8, ended(0, 3));  // another stream
    record_launch(other, 0, 8, ended(0, 5));
    record_launch(other, 0, 8, std::make_shared<device::Device::Launch>());  // runs
    record_launch(other, 0, 8, ended(0, 7));
    EXPECT_EQ(mark(Detail::summed), at + 5);  // one entry for the thousand
    record_launch(other, 0, 8, ended(0, 9));  // after another mark: an entry of its own

    const Slice slice = events_since(at, 0);
    ASSERT_EQ(slice.events.size(), 1u);  // the one that runs
    ASSERT_EQ(slice.sums.size(), 2u);
    EXPECT_EQ(slice.sums[0].calls, 1001);
    EXPECT_EQ(slice.sums[0].timed, 1001);
    EXPECT_DOUBLE_EQ(slice.sums[0].total, 0.25 * (333 * (1 + 2 + 3) + 2) + 3);
    EXPECT_EQ(slice.sums[0].shortest, 0.25);
    EXPECT_EQ(slice.sums[0].longest, 3);
    EXPECT_EQ(slice.sums[1].calls, 3);
    EXPECT_EQ(slice.sums[1].total, 21);
    EXPECT_EQ(events_since(at + 5).events.size(), 1u);

    const auto each = mark();
    for (int i = 0; i < 10; ++i) record_launch(one, 0, 0, ended(i, i + 1));
    EXPECT_EQ(events_since(each).events.size(), 10u);
    EXPECT_TRUE(events_since(each).sums.empty());
}

TEST(Events, TheOldestGoAndAreCounted) {
    const auto at = mark();
    for (int i = 0; i < 65536 + 100; ++i) record(numbered(i));
    const Slice slice = events_since(at);
    EXPECT_EQ(slice.events.size(), 65536u);
    EXPECT_EQ(slice.lost, 100u);
    EXPECT_EQ(slice.events.front().bytes, 100);
    EXPECT_EQ(events_since(mark() - 5).lost, 0u);
}

TEST(Events, ManyThreadsRecordAtOnce) {
    const auto at = mark();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) record(numbered(i));
        });
    for (auto& t : threads) t.join();
    EXPECT_EQ(events_since(at).events.size(), 4000u);
}

TEST(Events, WhatIsSharedKeepsItsOwnFigures) {
    const auto at = mark();
    Event copy{};
    copy.kind = Event::Kind::copy_in;
    copy.device = "cpu";
    copy.begin = 1;
    copy.end = 2.5;
    copy.bytes = 40;
    copy.before = 0.5;
    copy.stream = 7;
    record(copy);
    Event other = copy;
    other.device = "cuda:0";
    other.end = 3;
    other.before = 0;
    record(other);
    const auto found = events_since(at).events;
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].device, "cpu");
    EXPECT_EQ(found[0].end, 2.5);
    EXPECT_EQ(found[0].bytes, 40);
    EXPECT_EQ(found[0].before, 0.5);
    EXPECT_EQ(found[0].stream, 7u);
    EXPECT_EQ(found[1].device, "cuda:0");
    EXPECT_EQ(found[1].end, 3);
    EXPECT_EQ(found[1].before, 0);
}

}  // namespace
}  // namespace xcuda::launch
