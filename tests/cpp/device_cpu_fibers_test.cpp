#include <gtest/gtest.h>

#include <vector>

#include "device_cpu_kernel.hpp"

using namespace xcuda::device;
using xcuda::test::kernel;
using xcuda::test::launch;

namespace {

// A kernel whose threads are `body`, run as fibers, a block a piece.
std::string fiber_kernel(const std::string& body) {
    return R"text(
static void body(const LaunchBlock* launch, const void* packed, Worker* worker, i64 x, i64 y, i64 z, i64 bx, i64 by, i64 bz) {
    i64* out = *(i64* const*)packed; i64* shared = (i64*)worker->shared;
    const i64 rank = (z * launch->block[1] + y) * launch->block[0] + x;
    const i64 threads = launch->block[0] * launch->block[1] * launch->block[2];
    const i64 block = (bz * launch->grid[1] + by) * launch->grid[0] + bx;
    (void)out; (void)shared; (void)rank; (void)threads; (void)block;
)text" + body +
           R"text(
}
UNITS(k, launch->grid[0] * launch->grid[1] * launch->grid[2])
KERNEL(k) { for (i64 b = begin; b < end; ++b) worker->run_fibers(worker, launch, packed, b, body); }
)text";
}

std::vector<std::int64_t> run(const std::shared_ptr<Function>& k, const Dim3& grid, const Dim3& block,
                              std::size_t count) {
    std::vector<std::int64_t> out(count, -1);
    std::int64_t* address = out.data();
    EXPECT_EQ(launch(k, {grid, block, 64 * 1024}, address)->fault.kind, 0);
    return out;
}

}  // namespace

TEST(CpuFibers, EveryThreadSeesTheOthersWritesAfterABarrier) {
    const auto k = kernel("k", fiber_kernel(R"text(
    shared[rank] = rank * rank + block;
    worker->barrier(worker, 0, false);
    out[block * threads + rank] = shared[threads - 1 - rank];
)text"));
    for (const Dim3 block : {Dim3{1, 1, 1}, Dim3{7, 1, 1}, Dim3{8, 4, 2}, Dim3{1024, 1, 1}}) {
        const std::int64_t threads = block.count();
        const auto out = run(k, {3, 2, 2}, block, 12 * threads);
        for (std::int64_t b = 0; b < 12; ++b)
            for (std::int64_t t = 0; t < threads; ++t)
                ASSERT_EQ(out[b * threads + t], (threads - 1 - t) * (threads - 1 - t) + b);
    }
}

TEST(CpuFibers, TreeReduction) {
    const auto k = kernel("k", fiber_kernel(R"text(
    shared[rank] = rank + block;
    worker->barrier(worker, 0, false);
    for (i64 half = threads / 2; half > 0; half /= 2) {
        if (rank < half) shared[rank] += shared[rank + half];
        worker->barrier(worker, 0, false);
    }
    if (rank == 0) out[block] = shared[0];
)text"));
    const auto out = run(k, {9, 1, 1}, {512, 1, 1}, 9);
    for (std::int64_t b = 0; b < 9; ++b) EXPECT_EQ(out[b], 511 * 512 / 2 + 512 * b);
}

TEST(CpuFibers, AThreadThatReturnedCountsAsArrived) {
    // Thread r passes r barriers; at each, those still there count themselves.
    const auto k = kernel("k", fiber_kernel(R"text(
    if (rank == 0) for (i64 i = 0; i < threads; ++i) shared[i] = 0;
    worker->barrier(worker, 0, false);
    for (i64 round = 0; round < rank; ++round) {
        shared[round] += 1;
        worker->barrier(worker, 0, false);
        if (shared[round] != threads - 1 - round) { out[block] = round; }
    }
    if (rank == threads - 1) shared[threads] = 1;
    if (rank == threads - 1 && out[block] == -1) out[block] = 1000;
)text"));
    const auto out = run(k, {5, 1, 1}, {33, 1, 1}, 5);
    for (const std::int64_t each : out) EXPECT_EQ(each, 1000);
}

TEST(CpuFibers, DivergentBarriersMeetAsAnyBarrier) {
    const auto k = kernel("k", fiber_kernel(R"text(
    shared[rank] = 1;
    if (rank % 2) { worker->barrier(worker, 0, false); shared[rank] = shared[rank - 1] + 1; }
    else { worker->barrier(worker, 0, false); shared[rank] = 5; }
    worker->barrier(worker, 0, false);
    out[rank] = shared[rank] + 10 * shared[rank ^ 1];
)text"));
    const auto out = run(k, {1, 1, 1}, {64, 1, 1}, 64);
    // A fiber runs on until its next barrier, so an even thread's 5 is there before its odd neighbour reads.
    for (std::int64_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 ? 6 + 10 * 5 : 5 + 10 * 6);
}

TEST(CpuFibers, LocalArraysSurviveBarriers) {
    const auto k = kernel("k", fiber_kernel(R"text(
    volatile f64 kept[4000];
    for (int i = 0; i < 4000; ++i) kept[i] = rank * 10000 + i;
    worker->barrier(worker, 0, false);
    f64 sum = 0;
    for (int i = 0; i < 4000; ++i) sum += kept[i];
    out[rank] = (i64)sum;
)text"));
    const auto out = run(k, {1, 1, 1}, {256, 1, 1}, 256);
    for (std::int64_t t = 0; t < 256; ++t) EXPECT_EQ(out[t], t * 10000 * 4000 + 3999 * 4000 / 2);
}

TEST(CpuFibers, AFaultInsideAFiberEndsTheLaunchAndTheDeviceLivesOn) {
    const auto k = kernel("k", fiber_kernel(R"text(
    shared[rank] = rank;
    worker->barrier(worker, 0, false);
    if (rank == 77) worker->fail(worker, 3, 3, 1, 2, x, y, z, bx, by, bz);
    worker->barrier(worker, 0, false);
    out[0] = 1;
)text"));
    std::int64_t out = 0;
    std::int64_t* address = &out;
    for (int round = 0; round < 10; ++round) {
        const auto done = launch(k, {{4, 1, 1}, {128, 1, 1}}, address);
        EXPECT_EQ(done->fault.site, 3);
        EXPECT_EQ(done->fault.kind, static_cast<int>(FaultKind::assertion));
        EXPECT_EQ(done->fault.thread[0], 77);
        EXPECT_EQ(out, 0);
    }
    const auto fine = kernel(
        "k", fiber_kernel("shared[rank] = 2; worker->barrier(worker, 0, false); out[rank] = shared[rank];"));
    EXPECT_EQ(run(fine, {1, 1, 1}, {128, 1, 1}, 128)[127], 2);
}
