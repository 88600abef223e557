// Against tables of made-up and real properties; the real ones are what NVIDIA's occupancy calculator gives.
#include "profile/occupancy.hpp"

#include <gtest/gtest.h>

namespace xcuda::profile {
namespace {

device::Info h200() {
    device::Info d;
    d.kind = "cuda", d.architecture = "sm_90", d.multiprocessors = 132;
    d.max_threads_per_multiprocessor = 2048, d.max_blocks_per_multiprocessor = 32;
    d.registers_per_multiprocessor = 65536, d.shared_bytes_per_multiprocessor = 233472;
    return d;
}
device::Attributes kernel(int registers, std::int64_t shared = 0) {
    device::Attributes a;
    a.registers = registers, a.shared_bytes = shared;
    return a;
}
device::Shape block(std::int64_t x, std::int64_t dynamic = 0) { return {{1, 1, 1}, {x, 1, 1}, dynamic}; }

TEST(Occupancy, ThreadsFillTheMultiprocessor) {
    const auto o = occupancy(h200(), kernel(32), block(256)).value();
    EXPECT_EQ(o.blocks, 8);
    EXPECT_DOUBLE_EQ(o.share, 1);
    EXPECT_EQ(o.limit, "threads");
}

TEST(Occupancy, SmallBlocksRunOutOfBlocks) {
    const auto o = occupancy(h200(), kernel(16), block(32)).value();
    EXPECT_EQ(o.blocks, 32);
    EXPECT_DOUBLE_EQ(o.share, 0.5);
    EXPECT_EQ(o.limit, "blocks");
}

TEST(Occupancy, RegistersAreHandedOutByWarp) {
    // 65 registers x 32 are 2080, rounded to 2304 a warp: 7 in a quarter of the file, 28 in all, 3 blocks of 8 warps.
    const auto o = occupancy(h200(), kernel(65), block(256)).value();
    EXPECT_EQ(o.blocks, 3);
    EXPECT_DOUBLE_EQ(o.share, 24.0 / 64);
    EXPECT_EQ(o.limit, "registers");
}

TEST(Occupancy, SharedMemoryStaticAndDynamicWithTheReserve) {
    // 48 KiB and the reserved 1 KiB: 4 blocks of 49 KiB in 228 KiB.
    const auto o = occupancy(h200(), kernel(32, 16 * 1024), block(128, 32 * 1024)).value();
    EXPECT_EQ(o.blocks, 4);
    EXPECT_EQ(o.limit, "shared memory");
    EXPECT_DOUBLE_EQ(o.share, 16.0 / 64);
    auto old = h200();
    old.architecture = "sm_75";  // no reserve there
    old.shared_bytes_per_multiprocessor = 96 * 1024;
    EXPECT_EQ(occupancy(old, kernel(32, 48 * 1024), block(128))->blocks, 2);
}

TEST(Occupancy, APartWarpCostsAWholeOne) {
    EXPECT_DOUBLE_EQ(occupancy(h200(), kernel(32), block(33))->share, 1.0);  // 32 blocks of 2 warps
    EXPECT_EQ(occupancy(h200(), kernel(32), block(1000))->blocks, 2);
}

TEST(Occupancy, TooMuchIsNone) {
    const auto o = occupancy(h200(), kernel(255, 300 * 1024), block(1024)).value();
    EXPECT_EQ(o.blocks, 0);
    EXPECT_DOUBLE_EQ(o.share, 0);
}

TEST(Occupancy, HasNoMeaningOnTheCpuDevice) {
    device::Info cpu;
    cpu.kind = "cpu";
    EXPECT_FALSE(occupancy(cpu, kernel(32), block(256)));
}

}  // namespace
}  // namespace xcuda::profile
