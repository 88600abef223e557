#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "device_cpu_kernel.hpp"

using namespace xcuda;
using namespace xcuda::device;
using xcuda::test::cpu_device;
using xcuda::test::kernel;
using xcuda::test::launch;
using namespace std::chrono_literals;

namespace {

// out[i] = out[i] * 3 + k: no order but the asked one gives the same number.
struct Step {
    std::int64_t* out;
    std::int64_t n, k;
};
std::shared_ptr<Function> step() {
    return kernel("step", R"text(
struct Step { i64* out; i64 n, k; };
UNITS(step, launch->grid[0])
KERNEL(step) { const Step s = *(const Step*)packed; for (i64 i = begin; i < end; ++i) s.out[i] = s.out[i] * 3 + s.k; }
)text");
}

}  // namespace

TEST(CpuStream, RunsInTheOrderAsked) {
    const auto k = step();
    std::vector<std::int64_t> out(100, 1);
    const auto stream = cpu_device()->make_stream(0);
    std::int64_t expected = 1;
    std::vector<std::shared_ptr<Device::Launch>> launches;
    for (std::int64_t i = 0; i < 30; ++i) {
        launches.push_back(launch(k, {{100, 1, 1}, {1, 1, 1}}, Step{out.data(), 100, i}, stream.get()));
        expected = expected * 3 + i;
    }
    cpu_device()->synchronize(stream.get());
    EXPECT_TRUE(cpu_device()->finished(stream.get()));
    for (const std::int64_t each : out) EXPECT_EQ(each, expected);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        EXPECT_TRUE(launches[i]->done);
        if (i) {
            EXPECT_GE(launches[i]->begin, launches[i - 1]->end);
        }
    }
}

TEST(CpuStream, ReturnsBeforeTheWorkIsDone) {
    const auto stream = cpu_device()->make_stream(0);
    std::atomic<bool> go{false};
    cpu_device()->call_on_host(stream.get(), [&] {
        while (!go) std::this_thread::yield();
    });
    std::int64_t value = 0;
    const auto launched = launch(step(), {{1, 1, 1}, {1, 1, 1}}, Step{&value, 1, 5}, stream.get());
    EXPECT_FALSE(launched->done);
    EXPECT_FALSE(cpu_device()->finished(stream.get()));
    go = true;
    cpu_device()->synchronize(stream.get());
    EXPECT_TRUE(launched->done);
    EXPECT_EQ(value, 5);
}

TEST(CpuStream, EventsOrderStreamsAndTellSeconds) {
    const auto a = cpu_device()->make_stream(0), b = cpu_device()->make_stream(0);
    const auto begin = cpu_device()->make_event(true), end = cpu_device()->make_event(true);
    std::int64_t value = 0;
    cpu_device()->record(*begin, a.get());
    cpu_device()->call_on_host(a.get(), [&] {
        std::this_thread::sleep_for(20ms);
        value = 4;
    });
    cpu_device()->record(*end, a.get());
    EXPECT_FALSE(cpu_device()->happened(*end));
    cpu_device()->wait(*end, b.get());
    launch(step(), {{1, 1, 1}, {1, 1, 1}}, Step{&value, 1, 1}, b.get());
    cpu_device()->synchronize(b.get());
    EXPECT_EQ(value, 13);
    EXPECT_TRUE(cpu_device()->happened(*end));
    EXPECT_GE(cpu_device()->seconds(*begin, *end), 0.02);
    EXPECT_LT(cpu_device()->seconds(*begin, *end), 5);
    cpu_device()->synchronize(*end);
}

TEST(CpuStream, SecondsOfAnEventNeverRecordedIsRefused) {
    const auto begin = cpu_device()->make_event(true), end = cpu_device()->make_event(true);
    cpu_device()->record(*begin, nullptr);
    try {
        cpu_device()->seconds(*begin, *end);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the second event was never recorded: call record() on it first");
        EXPECT_EQ(error.python_type, "ValueError");
    }
}

TEST(CpuStream, AnErrorOfATaskSurfacesAtSynchronizeOnce) {
    const auto stream = cpu_device()->make_stream(0);
    cpu_device()->call_on_host(stream.get(), [] { throw std::runtime_error("in the callback"); });
    EXPECT_THROW(cpu_device()->synchronize(stream.get()), std::runtime_error);
    EXPECT_NO_THROW(cpu_device()->synchronize(stream.get()));
}

TEST(CpuStream, AFaultOnAStreamIsInItsLaunchAndTheNextLaunchRuns) {
    const auto stream = cpu_device()->make_stream(0);
    const auto bad =
        kernel("bad", "UNITS(bad, 9) KERNEL(bad) { worker->fail(worker, 2, 1, 8, 4, 0, 0, 0, 1, 0, 0); }");
    std::int64_t value = 1;
    const auto first = launch(bad, {{9, 1, 1}, {1, 1, 1}}, 0, stream.get());
    const auto second = launch(step(), {{1, 1, 1}, {1, 1, 1}}, Step{&value, 1, 0}, stream.get());
    cpu_device()->synchronize(stream.get());
    EXPECT_EQ(first->fault.site, 2);
    EXPECT_EQ(second->fault.kind, 0);
    EXPECT_EQ(value, 3);
}

TEST(CpuStream, MemoryIsReleasedAfterTheWorkThatUsesIt) {
    const auto stream = cpu_device()->make_stream(0);
    const auto before = cpu_device()->memory().used;
    std::atomic<bool> go{false};
    void* block = cpu_device()->allocate(1 << 20, stream.get());
    cpu_device()->call_on_host(stream.get(), [&] {
        while (!go) std::this_thread::yield();
    });
    cpu_device()->fill(block, 1, 1 << 20, stream.get());
    cpu_device()->release(block, stream.get());
    EXPECT_GT(cpu_device()->memory().used, before);
    go = true;
    cpu_device()->synchronize(stream.get());
    EXPECT_EQ(cpu_device()->memory().used, before);
}

TEST(CpuStream, WorkOfADroppedStreamStillRuns) {
    std::atomic<int> ran{0};
    {
        const auto stream = cpu_device()->make_stream(0);
        for (int i = 0; i < 10; ++i)
            cpu_device()->call_on_host(stream.get(), [&] {
                std::this_thread::sleep_for(1ms);
                ++ran;
            });
    }
    for (int waited = 0; ran < 10 && waited < 5000; ++waited) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(ran, 10);
}

TEST(CpuStream, AChildOfForkLaunchesOnItsOwnWorkers) {
    const auto k = step();
    const auto stream = cpu_device()->make_stream(0);
    std::vector<std::int64_t> out(1000, 1);
    const Step arguments{out.data(), 1000, 2};
    launch(k, {{1000, 1, 1}, {1, 1, 1}}, arguments);
    launch(k, {{1000, 1, 1}, {1, 1, 1}}, arguments, stream.get());
    cpu_device()->synchronize(stream.get());
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        launch(k, {{1000, 1, 1}, {1, 1, 1}}, arguments);
        launch(k, {{1000, 1, 1}, {1, 1, 1}}, arguments, stream.get());
        cpu_device()->synchronize(stream.get());
        for (const std::int64_t each : out)
            if (each != 161) _exit(1);
        _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(out[0], 17);
}
