#include "device/cpu/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

using xcuda::Guard;
using xcuda::device::cpu::GuardedMemory;

namespace {

class EachSide : public testing::TestWithParam<Guard> {
protected:
    void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
    GuardedMemory memory{GetParam()};
};

constexpr std::size_t sizes[] = {1, 8, 24, 100, 4095, 4096, 4097, 300000};

}  // namespace

TEST_P(EachSide, BlocksAreUnsetAlignedAsTheirSizeAndTheirOwn) {
    std::vector<unsigned char*> blocks;
    for (const std::size_t bytes : sizes) {
        auto* block = static_cast<unsigned char*>(memory.take(bytes));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % (bytes & -bytes), 0u) << bytes;
        EXPECT_EQ(block[0], 0xff);
        EXPECT_EQ(block[bytes - 1], 0xff);
        std::memset(block, static_cast<int>(blocks.size()), bytes);
        blocks.push_back(block);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_EQ(blocks[i][0], i);
        EXPECT_EQ(blocks[i][sizes[i] - 1], i);
        memory.release(blocks[i], sizes[i]);
    }
    void* none = memory.take(0);
    EXPECT_NE(none, nullptr);
    memory.release(none, 0);
}

TEST_P(EachSide, AnAccessBeyondTheGuardedSideFaults) {
    for (const std::size_t bytes : {24ul, 4096ul}) {
        auto* block = static_cast<volatile char*>(memory.take(bytes));
        volatile char* beyond = GetParam() == Guard::end ? block + bytes : block - 1;
        EXPECT_DEATH(*beyond = 1, "") << bytes;
        EXPECT_DEATH((void)*beyond, "") << bytes;
        memory.release(const_cast<char*>(block), bytes);
    }
}

TEST_P(EachSide, AWriteBeyondTheOtherSideIsToldWhenTheBlockGoes) {
    auto* block = static_cast<char*>(memory.take(24));
    const bool end = GetParam() == Guard::end;
    EXPECT_DEATH(
        {
            block[end ? -2 : 25] = 1;
            memory.release(block, 24);
        },
        end ? "byte 2 before an array's 24 bytes" : "byte 2 after an array's 24 bytes");
    memory.release(block, 24);
}

TEST_P(EachSide, ABlockThatWentFaults) {
    auto* block = static_cast<volatile char*>(memory.take(24));
    memory.release(const_cast<char*>(block), 24);
    void* next = memory.take(24);
    EXPECT_NE(next, block);
    EXPECT_DEATH((void)*block, "");
    memory.release(next, 24);
}

INSTANTIATE_TEST_SUITE_P(Guarded, EachSide, testing::Values(Guard::end, Guard::begin));
