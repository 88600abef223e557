#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "device_cpu_kernel.hpp"

using namespace xcuda;
using namespace xcuda::device;
using xcuda::test::cpu_device;
using xcuda::test::kernel;
using xcuda::test::launch;

namespace {

const std::string saxpy_text = R"text(
struct Arguments { const f32* x; f32* y; i64 n; f32 a; };
UNITS(saxpy, launch->grid[0])
KERNEL(saxpy) {
    const Arguments arguments = *(const Arguments*)packed;
    const f32* x = arguments.x; f32* y = arguments.y; const f32 a = arguments.a;
    const i64 low = begin * launch->block[0];
    i64 high = end * launch->block[0];
    if (high > arguments.n) high = arguments.n;
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = low; i < high; ++i) y[i] += a * x[i];
}
)text";

struct Saxpy {
    const float* x;
    float* y;
    std::int64_t n;
    float a;
};

template <class F>
std::string message_of(F&& call, const std::string& python_type) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.python_type, python_type);
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

}  // namespace

TEST(CpuLaunch, SaxpyOverManyBlocksAndAnOddTail) {
    const auto saxpy = kernel("saxpy", saxpy_text);
    for (const std::int64_t n : {0, 1, 255, 256, 257, 100003}) {
        std::vector<float> x(n), y(n, 1.f);
        std::iota(x.begin(), x.end(), 0.f);
        const auto done =
            launch(saxpy, {{(n + 255) / 256, 1, 1}, {256, 1, 1}}, Saxpy{x.data(), y.data(), n, 2.f});
        EXPECT_TRUE(done->done);
        EXPECT_EQ(done->fault.site, -1);
        EXPECT_GE(done->end, done->begin);
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], 1.f + 2.f * static_cast<float>(i));
    }
}

TEST(CpuLaunch, EachPieceRunsOnce) {
    const auto count = kernel("count", R"text(
UNITS(count, launch->grid[0] * launch->grid[1])
KERNEL(count) { i32* hits = *(i32* const*)packed; for (i64 i = begin; i < end; ++i) __atomic_fetch_add(hits + i, 1, 0); }
)text");
    std::vector<std::int32_t> hits(70 * 131);
    std::int32_t* address = hits.data();
    for (int round = 1; round <= 50; ++round) {
        launch(count, {{70, 131, 1}, {1, 1, 1}}, address);
        for (const std::int32_t each : hits) ASSERT_EQ(each, round);
    }
}

TEST(CpuLaunch, SeveralThreadsLaunchAtOnce) {
    const auto saxpy = kernel("saxpy", saxpy_text);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            std::vector<float> x(5000, 1.f), y(5000, 0.f);
            for (int round = 0; round < 200; ++round)
                launch(saxpy, {{20, 1, 1}, {256, 1, 1}}, Saxpy{x.data(), y.data(), 5000, 1.f});
            for (const float each : y) wrong += each != 200.f;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(CpuLaunch, SharedMemoryIsAlignedAndAsLargeAsSaid) {
    const auto fill = kernel("fill", R"text(
extern "C" const i64 fill_shared_bytes = 100000;
UNITS(fill, launch->grid[0])
KERNEL(fill) {
    i64* out = *(i64* const*)packed;
    const i64 bytes = fill_shared_bytes + launch->dynamic_shared_bytes;
    for (i64 b = begin; b < end; ++b) {
        for (i64 i = 0; i < bytes; ++i) ((volatile char*)worker->shared)[i] = (char)b;
        out[b] = (i64)worker->shared % 64;
    }
}
)text");
    std::vector<std::int64_t> out(64, -1);
    std::int64_t* address = out.data();
    launch(fill, {{64, 1, 1}, {1, 1, 1}, 256 * 1024}, address);
    for (const std::int64_t each : out) EXPECT_EQ(each, 0);
}

TEST(CpuLaunch, ArgumentsLargerThanTheUsualRoom) {
    const auto sum = kernel("sum", R"text(
UNITS(sum, 1)
KERNEL(sum) { const i64* in = (const i64*)packed; i64 all = 0; for (int i = 1; i < 200; ++i) all += in[i]; *(i64*)in[0] = all; }
)text");
    std::int64_t result = 0;
    std::array<std::int64_t, 200> arguments;
    std::iota(arguments.begin(), arguments.end(), 0);
    arguments[0] = reinterpret_cast<std::int64_t>(&result);
    launch(sum, {{1, 1, 1}, {1, 1, 1}}, arguments);
    EXPECT_EQ(result, 199 * 200 / 2);
}

TEST(CpuLaunch, AFrameLargerThanTheUsualStack) {
    const auto deep = kernel("deep", R"text(
UNITS(deep, 4)
KERNEL(deep) {
    f64 kept[3000000];
    volatile f64* all = kept;
    for (i64 i = 0; i < 3000000; i += 100) all[i] = (f64)i;
    f64* out = *(f64* const*)packed;
    for (i64 unit = begin; unit < end; ++unit) out[unit] = all[2999900];
}
)text");
    double out[4] = {};
    double* address = out;
    launch(deep, {{4, 1, 1}, {1, 1, 1}}, address);
    for (const double each : out) EXPECT_EQ(each, 2999900.0);
}

TEST(CpuLaunch, TheFirstFaultWinsAndStopsTheOthers) {
    const auto faulty = kernel("faulty", R"text(
UNITS(faulty, launch->grid[0])
KERNEL(faulty) {
    i64* done = *(i64* const*)packed;
    for (i64 block = begin; block < end; ++block) {
        if (block == 5) worker->fail(worker, 7, 1, 1000005, 100, 3, 2, 1, block, 0, 0);
        if (block > 5) while (!*launch->stop) {}
        POLL();
        done[block] = 1;
    }
}
)text");
    std::vector<std::int64_t> done(1000);
    std::int64_t* address = done.data();
    for (int round = 0; round < 20; ++round) {
        const auto launched = launch(faulty, {{1000, 1, 1}, {8, 4, 2}}, address);
        EXPECT_TRUE(launched->done);
        EXPECT_EQ(launched->fault.site, 7);
        EXPECT_EQ(launched->fault.kind, static_cast<int>(FaultKind::index));
        EXPECT_EQ(launched->fault.value[0], 1000005);
        EXPECT_EQ(launched->fault.value[1], 100);
        EXPECT_EQ(launched->fault.thread[0], 3);
        EXPECT_EQ(launched->fault.thread[1], 2);
        EXPECT_EQ(launched->fault.thread[2], 1);
        EXPECT_EQ(launched->fault.block[0], 5);
        EXPECT_EQ(std::accumulate(done.begin() + 6, done.end(), 0), 0);
    }
    const auto saxpy = kernel("saxpy", saxpy_text);
    std::vector<float> x(10, 1.f), y(10, 0.f);
    EXPECT_EQ(launch(saxpy, {{1, 1, 1}, {10, 1, 1}}, Saxpy{x.data(), y.data(), 10, 1.f})->fault.kind, 0);
    EXPECT_EQ(y[9], 1.f);
}

TEST(CpuLaunch, ZeroSizedGridsDoNothing) {
    const auto boom = kernel("boom", "UNITS(boom, 1) KERNEL(boom) { *(volatile int*)0 = 1; }");
    for (const Dim3 grid : {Dim3{0, 1, 1}, Dim3{1, 0, 1}, Dim3{1, 1, 0}})
        EXPECT_TRUE(launch(boom, {grid, {1, 1, 1}}, 0)->done);
}

TEST(CpuLaunch, ShapesThatCannotBeAreRefused) {
    const auto saxpy = kernel("saxpy", saxpy_text);
    const auto refused_with = [&](const Shape& shape) {
        return message_of([&] { launch(saxpy, shape, Saxpy{}); }, "ValueError");
    };
    EXPECT_EQ(
        refused_with({{1, 1, 1}, {64, 32, 1}}),
        "a block of (64, 32, 1) is too large: at most 1024 threads, and (1024, 1024, 64) along the axes");
    EXPECT_NE(refused_with({{1, 1, 1}, {0, 1, 1}}).find("zero: a block has at least one thread"),
              std::string::npos);
    EXPECT_NE(refused_with({{-1, 1, 1}, {1, 1, 1}}).find("a length that is negative"), std::string::npos);
    EXPECT_NE(refused_with({{1, 70000, 1}, {1, 1, 1}}).find("a grid of (1, 70000, 1) blocks is too large"),
              std::string::npos);
    EXPECT_EQ(refused_with({{1, 1, 1}, {1, 1, 1}, 300000}),
              "300000 bytes of dynamic shared memory: from 0 to 262144 are possible");
}

TEST(CpuDevice, SaysWhatTheHostIs) {
    const Info& info = cpu_device()->info();
    EXPECT_EQ(info.kind, "cpu");
    EXPECT_GE(info.multiprocessors, 1);
    EXPECT_GT(info.memory_bytes, 1 << 28);
    EXPECT_TRUE(info.vector_bytes == 16 || info.vector_bytes == 32 || info.vector_bytes == 64);
    EXPECT_EQ(info.warp_size * 4, info.vector_bytes);
    EXPECT_EQ(info.max_threads_per_multiprocessor, 0);
    EXPECT_EQ(info.limits.shared_bytes_per_block_optin, 256 * 1024);
    EXPECT_NE(info.name.find(" core"), std::string::npos);
}

TEST(CpuDevice, XcudaDeviceNamesIt) {
    const std::string before = settings().device;
    settings().device = "cpu";
    EXPECT_EQ(default_device(), cpu_device());
    settings().device = "tpu";
    const std::string message = message_of([] { default_device(); }, "ValueError");
    settings().device = before;
    EXPECT_NE(message.find("XCUDA_DEVICE is \"tpu\""), std::string::npos);
    EXPECT_NE(message.find("cpu"), std::string::npos);
}
