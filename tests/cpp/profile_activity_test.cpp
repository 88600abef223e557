#include "profile/activity.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace xcuda::profile {
namespace {

using device::Activity;
using launch::Event;
using Names = std::pair<std::string, std::string>;

TEST(SplitName, LeavesTheReturnTypeAndKeepsTheRest) {
    EXPECT_EQ(split_name("void at::native::fill<int, 4>(int*, at::Op<int>)"),
              Names("at::native::fill", "<int, 4>(int*, at::Op<int>)"));
    EXPECT_EQ(split_name("add(float*, float, unsigned long)"),
              Names("add", "(float*, float, unsigned long)"));
    EXPECT_EQ(split_name("cupy_add__float32"), Names("cupy_add__float32", ""));
    EXPECT_EQ(split_name("void (anonymous namespace)::softmax<float>(float*)"),
              Names("(anonymous namespace)::softmax", "<float>(float*)"));
    EXPECT_EQ(split_name("std::enable_if<true, void>::type ns::run<3>(int)"), Names("ns::run", "<3>(int)"));
    EXPECT_EQ(split_name("unsigned int ns::Op<int>::apply(int) const"),
              Names("ns::Op", "<int>::apply(int) const"));
    EXPECT_EQ(split_name(""), Names("", ""));
}

std::shared_ptr<device::Device::Launch> over(bool timed) {
    auto made = std::make_shared<device::Device::Launch>();
    made->done = true;
    made->timed = timed;
    return made;
}

Event launch_event(std::shared_ptr<const device::Device::Launch> timing) {
    Event e{};
    e.kind = Event::Kind::launch;
    e.timing = std::move(timing);
    static const auto facts = [] {
        auto made = std::make_shared<launch::KernelFacts>();
        made->symbol = "other(int)";
        return made;
    }();
    e.kernel = facts;
    return e;
}

Activity kernel_at(double begin, double end, const device::Device::Launch* launch, std::uint32_t call) {
    auto seen = std::make_shared<device::SeenKernel>();
    seen->name = "other(int)";
    return {Activity::Kind::kernel, launch != nullptr, 0, 7, begin, end, 0, launch, call, seen};
}

TEST(AddActivities, GivesALaunchTheGpusTimeAndAddsNoSecondOne) {
    launch::Slice slice;
    const auto timing = over(false);
    slice.events.push_back(launch_event(timing));
    device::Activities seen;
    seen.seen.push_back(kernel_at(2.0, 2.5, timing.get(), 1));
    add_activities(slice, seen);
    ASSERT_EQ(slice.events.size(), 1u);
    EXPECT_TRUE(slice.events[0].timing->timed);
    EXPECT_EQ(slice.events[0].begin, 2.0);
    EXPECT_EQ(slice.events[0].end, 2.5);
}

TEST(AddActivities, LeavesALaunchThatFaultedAlone) {
    launch::Slice slice;
    const auto timing = over(true);
    timing->fault.kind = 1;
    slice.events.push_back(launch_event(timing));
    device::Activities seen;
    seen.seen.push_back(kernel_at(2.0, 2.5, timing.get(), 1));
    add_activities(slice, seen);
    EXPECT_EQ(slice.events[0].timing, timing);
}

Event replayed_event(const std::shared_ptr<const device::Device::Launch>& whole) {
    const auto timing = over(false);
    timing->whole = whole;
    return launch_event(timing);
}

TEST(AddActivities, AGraphsKernelsAreTimedOnlyWhereTheNumbersAgree) {
    const auto replay = over(true);
    for (const int kernels : {1, 2, 3}) {
        launch::Slice slice;
        slice.events.push_back(replayed_event(replay));
        slice.events.push_back(replayed_event(replay));
        device::Activities seen;
        for (int i = 0; i < kernels; ++i) seen.seen.push_back(kernel_at(i, i + 0.5, replay.get(), 9));
        add_activities(slice, seen);
        ASSERT_EQ(slice.events.size(), 2u);
        EXPECT_EQ(slice.events[1].timing->timed, kernels == 2);
        if (kernels == 2) EXPECT_EQ(slice.events[1].begin, 1.0);
    }
}

TEST(AddActivities, ARecordOfAGraphIsNoPlainLaunchsWhateverCallItNames) {
    const auto replay = over(true), plain = over(true);
    launch::Slice slice;
    slice.events.push_back(replayed_event(replay));
    slice.events.push_back(launch_event(plain));
    device::Activities seen;
    seen.seen.push_back(kernel_at(1, 1.5, plain.get(), 9));
    seen.seen.back().node = std::uint64_t{5} << 32 | 1;
    seen.seen.back().graph = 5;
    seen.seen.push_back(kernel_at(2, 2.25, plain.get(), 9));
    seen.replays[replay.get()] = 5;
    add_activities(slice, seen);
    ASSERT_EQ(slice.events.size(), 2u);
    EXPECT_EQ(slice.events[0].begin, 1.0);
    EXPECT_EQ(slice.events[1].begin, 2.0);
}

TEST(AddActivities, TwoRecordsThatNameOneLaunchLeaveItsOwnTime) {
    const auto plain = over(true);
    plain->begin = 7;
    launch::Slice slice;
    slice.events.push_back(launch_event(plain));
    device::Activities seen;
    seen.seen.push_back(kernel_at(1, 1.5, plain.get(), 9));
    seen.seen.push_back(kernel_at(2, 2.25, plain.get(), 9));
    add_activities(slice, seen);
    ASSERT_EQ(slice.events.size(), 1u);
    EXPECT_EQ(slice.events[0].timing, plain);
}

TEST(AddActivities, AnotherLibrarysGraphIsItsOwnThoughItsRecordsNameACallOfOurs) {
    const auto replay = over(true);
    launch::Slice slice;
    slice.events.push_back(replayed_event(replay));
    device::Activities seen;
    seen.seen.push_back(kernel_at(1, 1.5, replay.get(), 9));
    seen.seen.back().node = 1, seen.seen.back().graph = 5;
    seen.seen.push_back(kernel_at(2, 2.5, replay.get(), 9));
    seen.seen.back().node = 1, seen.seen.back().graph = 6;
    auto theirs = std::make_shared<device::SeenKernel>();
    theirs->name = "theirs(int)";
    seen.seen.back().kernel = theirs;
    seen.replays[replay.get()] = 5;
    add_activities(slice, seen);
    ASSERT_EQ(slice.events.size(), 2u);
    EXPECT_EQ(slice.events[0].begin, 1.0);
    EXPECT_TRUE(slice.events[1].foreign);
}

TEST(AddActivities, AnotherLibrarysStreamIsOursWhereALaunchOfOursShowsSo) {
    launch::Slice slice;
    const auto timing = over(true);
    slice.events.push_back(launch_event(timing));
    slice.events[0].stream = 0x1000;
    auto facts = std::make_shared<launch::KernelFacts>();
    facts->symbol = "ours";
    slice.events[0].kernel = facts;
    device::Activities seen;
    seen.seen.push_back(kernel_at(1, 2, timing.get(), 1));
    auto ours = std::make_shared<device::SeenKernel>();
    ours->name = "ours";
    seen.seen.back().kernel = ours;
    seen.seen.push_back(kernel_at(2, 3, nullptr, 2));
    seen.seen.push_back(kernel_at(3, 4, nullptr, 3));
    seen.seen.back().stream = 13;
    add_activities(slice, seen);
    ASSERT_EQ(slice.events.size(), 3u);
    EXPECT_TRUE(slice.events[1].foreign);
    EXPECT_EQ(slice.events[1].stream, 0x1000u);
    EXPECT_EQ(slice.events[2].stream % 2, 1u);  // no address
    EXPECT_EQ(slice.events[1].kernel->name, "other");
}

}  // namespace
}  // namespace xcuda::profile
