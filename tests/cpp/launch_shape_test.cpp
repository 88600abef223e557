#include "launch/shape.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace xcuda::launch {
namespace {

device::Info toy() {
    device::Info info;
    info.name = "Toy";
    info.limits.threads_per_block = 512;
    info.limits.block = {512, 512, 64};
    info.limits.grid = {1000, 100, 10};
    info.limits.shared_bytes_per_block = info.limits.shared_bytes_per_block_optin = 4096;
    return info;
}

template <typename Work>
std::string message_of(Work&& work) {
    try {
        work();
    } catch (const Error& e) {
        EXPECT_EQ(e.python_type, "ValueError");
        EXPECT_EQ(e.fault, Fault::user);
        return e.what();
    }
    return "no error";
}

std::string refusal(device::Dim3 grid, device::Dim3 block, std::int64_t fixed = 0, std::int64_t dynamic = 0) {
    return message_of([&] { check_shape({grid, block, dynamic}, fixed, toy(), "k"); });
}

TEST(Shape, AutomaticShapesCoverTheDomain) {
    for (const std::int64_t n : {1, 255, 256, 257, 100000}) {
        const std::int64_t domain[] = {n};
        const device::Shape s = automatic_shape(domain, toy(), "k");
        EXPECT_GE(s.grid.x * s.block.x, n);
        EXPECT_LT((s.grid.x - 1) * s.block.x, n);
        EXPECT_EQ(s.grid.y * s.block.y * s.grid.z * s.block.z, 1);
    }
    const std::int64_t domain[] = {65, 17, 3};
    const device::Shape s = automatic_shape(domain, toy(), "k");
    EXPECT_GE(s.grid.x * s.block.x, 65);
    EXPECT_GE(s.grid.y * s.block.y, 17);
    EXPECT_GE(s.grid.z * s.block.z, 3);
    EXPECT_LE(s.block.count(), 512);
}

TEST(Shape, AnEmptyDomainHasNoBlocks) {
    const std::int64_t domain[] = {5, 0};
    EXPECT_EQ(automatic_shape(domain, toy(), "k").grid.count(), 0);
    const std::int64_t negative[] = {-5};
    EXPECT_EQ(automatic_shape(negative, toy(), "k").grid.count(), 0);
}

TEST(Shape, ADomainBeyondTheGridIsRefused) {
    const std::int64_t domain[] = {256 * 1000 + 1};
    EXPECT_EQ(message_of([&] { automatic_shape(domain, toy(), "k"); }),
              "k: 256001 threads along x take 1001 blocks; Toy has at most 1000 there");
}

TEST(Shape, EachRefusalNamesTheDimension) {
    EXPECT_EQ(refusal({1, 1, 1}, {512, 1, 1}), "no error");
    EXPECT_EQ(refusal({0, 1, 1}, {1, 1, 1}), "no error");
    EXPECT_EQ(refusal({1, 1, 1}, {0, 1, 1}),
              "k: the block (0, 1, 1) has 0 threads along x; every length must be at least 1");
    EXPECT_EQ(refusal({1, -2, 1}, {1, 1, 1}),
              "k: the grid (1, -2, 1) has -2 blocks along y; a length can't be negative");
    EXPECT_EQ(refusal({1, 1, 1}, {513, 1, 1}),
              "k: the block (513, 1, 1) has 513 threads along x; Toy takes at most 512 there");
    EXPECT_EQ(refusal({1, 1, 11}, {1, 1, 1}),
              "k: the grid (1, 1, 11) has 11 blocks along z; Toy takes at most 10 there");
    EXPECT_EQ(refusal({1, 1, 1}, {64, 64, 1}),
              "k: the block (64, 64, 1) has 4096 threads; Toy takes at most 512 in a block");
    EXPECT_EQ(refusal({1, 1, 1}, {1, 1, 1}, 4000, 97),
              "k: a block takes 4097 bytes of shared memory (4000 from shared.array, 97 from the launch); "
              "Toy has at most 4096");
    EXPECT_EQ(refusal({1, 1, 1}, {1, 1, 1}, 0, -1),
              "k: the launch asks for -1 bytes of dynamic shared memory; it can't be negative");
}

}  // namespace
}  // namespace xcuda::launch
