#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/interrupt.hpp"
#include "device_cpu_kernel.hpp"

using namespace xcuda;
using namespace xcuda::device;
using xcuda::test::cpu_device;
using xcuda::test::kernel;
using xcuda::test::launch;
using namespace std::chrono_literals;

namespace {

constexpr int interrupted = static_cast<int>(FaultKind::interrupted);

std::atomic<int> handled{0};
void handler(int) { ++handled; }

std::shared_ptr<Function> endless() {
    return kernel("endless", R"text(
UNITS(endless, launch->grid[0])
KERNEL(endless) { *(volatile i32*)*(i32* const*)packed = 1; for (;;) POLL(); }
)text");
}

/// Sends SIGINT to this process as soon as `started` is not 0.
std::thread interrupt_when(const volatile std::int32_t& started) {
    return std::thread([&started] {
        while (!started) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(20ms);
        kill(getpid(), SIGINT);
    });
}

class CpuInterrupt : public testing::Test {
protected:
    void SetUp() override {
        handled = 0;
        signal(SIGINT, handler);
    }
    void TearDown() override { signal(SIGINT, SIG_DFL); }
};

}  // namespace

TEST_F(CpuInterrupt, StopsAnEndlessKernelAndCallsTheHandlerThatWasThere) {
    const auto k = endless();
    for (const std::int64_t blocks : {1, 1000}) {
        handled = 0;
        std::int32_t started = 0;
        std::int32_t* address = &started;
        std::thread sender = interrupt_when(started);
        const double begin = now();
        const auto done = launch(k, {{blocks, 1, 1}, {1, 1, 1}}, address);
        EXPECT_LT(now() - begin, 5);
        sender.join();
        EXPECT_EQ(done->fault.kind, interrupted);
        EXPECT_TRUE(done->done);
        EXPECT_EQ(handled, 1);
    }
    struct sigaction now_there;
    sigaction(SIGINT, nullptr, &now_there);
    EXPECT_EQ(now_there.sa_handler, handler);
}

TEST_F(CpuInterrupt, StopsFibers) {
    const auto k = kernel("k", R"text(
static void body(const LaunchBlock* launch, const void* packed, Worker* worker, i64, i64, i64, i64, i64, i64) {
    *(volatile i32*)*(i32* const*)packed = 1;
    for (;;) { worker->barrier(worker, 0, false); POLL(); }
}
UNITS(k, launch->grid[0])
KERNEL(k) { for (i64 b = begin; b < end; ++b) worker->run_fibers(worker, launch, packed, b, body); }
)text");
    std::int32_t started = 0;
    std::int32_t* address = &started;
    std::thread sender = interrupt_when(started);
    const auto done = launch(k, {{8, 1, 1}, {64, 1, 1}}, address);
    sender.join();
    EXPECT_EQ(done->fault.kind, interrupted);
}

TEST_F(CpuInterrupt, WaitingForAStreamIsAKeyboardInterruptAndDropsWhatWaits) {
    const auto k = endless();
    const auto stream = cpu_device()->make_stream(0);
    std::int32_t started = 0;
    std::int32_t* address = &started;
    std::vector<std::shared_ptr<Device::Launch>> launches;
    for (int i = 0; i < 20; ++i) launches.push_back(launch(k, {{4, 1, 1}, {1, 1, 1}}, address, stream.get()));
    std::atomic<bool> called{false};
    cpu_device()->call_on_host(stream.get(), [&] { called = true; });
    std::thread sender = interrupt_when(started);
    try {
        cpu_device()->synchronize(stream.get());
    } catch (const Error& error) {
        EXPECT_EQ(error.python_type, "KeyboardInterrupt");
    }
    sender.join();
    cpu_device()->synchronize(stream.get());
    for (const auto& each : launches) {
        EXPECT_TRUE(each->done);
        EXPECT_EQ(each->fault.kind, interrupted);
    }
    EXPECT_TRUE(called);
    EXPECT_EQ(handled, 1);
}

TEST_F(CpuInterrupt, AWaitThatNothingEndsIsLeftToo) {
    const auto stream = cpu_device()->make_stream(0);
    std::atomic<bool> go{false};
    std::int32_t started = 0;
    cpu_device()->call_on_host(stream.get(), [&] {
        started = 1;
        while (!go) std::this_thread::sleep_for(1ms);
    });
    std::thread sender = interrupt_when(started);
    EXPECT_THROW(cpu_device()->synchronize(stream.get()), Error);
    sender.join();
    go = true;
    cpu_device()->synchronize(stream.get());
}

TEST_F(CpuInterrupt, OneThatCameUnderTheGuardAroundIsOfTheWaitAndTheLaunchWithin) {
    const auto stream = cpu_device()->make_stream(0);
    std::atomic<bool> go{false};
    cpu_device()->call_on_host(stream.get(), [&] {
        while (!go) std::this_thread::sleep_for(1ms);
    });
    const auto event = cpu_device()->make_event(false);
    cpu_device()->record(*event, stream.get());
    std::int32_t started = 0;
    std::int32_t* address = &started;
    {
        const InterruptGuard guard;
        raise(SIGINT);
        EXPECT_THROW(cpu_device()->synchronize(stream.get()), Error);
        EXPECT_THROW(cpu_device()->synchronize(*event), Error);
        EXPECT_EQ(launch(endless(), {{8, 1, 1}, {1, 1, 1}}, address)->fault.kind, interrupted);
    }
    go = true;
    cpu_device()->synchronize(stream.get());
    cpu_device()->synchronize(*event);
    EXPECT_EQ(started, 0);
    EXPECT_EQ(handled, 1);
}

TEST_F(CpuInterrupt, FromAnyThreadByInterruptAll) {
    const auto k = endless();
    std::int32_t started = 0;
    std::int32_t* address = &started;
    std::thread stopper([&] {
        while (!*static_cast<volatile std::int32_t*>(&started)) std::this_thread::sleep_for(1ms);
        interrupt_all();
    });
    EXPECT_EQ(launch(k, {{100, 1, 1}, {1, 1, 1}}, address)->fault.kind, interrupted);
    stopper.join();
    EXPECT_EQ(handled, 0);
    const auto fine = kernel("fine", "UNITS(fine, 100) KERNEL(fine) { **(i32* const*)packed = 7; }");
    EXPECT_EQ(launch(fine, {{1, 1, 1}, {1, 1, 1}}, address)->fault.kind, 0);
    EXPECT_EQ(started, 7);
}

TEST_F(CpuInterrupt, WhereItIsIgnoredItStaysSo) {
    signal(SIGINT, SIG_IGN);
    const auto k = kernel("k", R"text(
UNITS(k, 4)
KERNEL(k) {
    i32* state = *(i32* const*)packed;
    *(volatile i32*)state = 1;
    while (!((volatile i32*)state)[1]) POLL();
}
)text");
    std::int32_t state[2] = {};
    std::int32_t* address = state;
    std::thread sender([&] {
        while (!*static_cast<volatile std::int32_t*>(state)) std::this_thread::sleep_for(1ms);
        kill(getpid(), SIGINT);
        std::this_thread::sleep_for(20ms);
        static_cast<volatile std::int32_t*>(state)[1] = 1;
    });
    EXPECT_EQ(launch(k, {{1, 1, 1}, {1, 1, 1}}, address)->fault.kind, 0);
    sender.join();
}
