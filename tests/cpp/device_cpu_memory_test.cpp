#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "device_cpu_kernel.hpp"

using namespace xcuda;
using xcuda::test::cpu_device;

TEST(CpuMemory, EveryBlockIsAlignedAndItsOwn) {
    std::vector<std::pair<char*, std::size_t>> blocks;
    for (const std::size_t bytes : {0ul, 1ul, 63ul, 64ul, 1000ul, 4097ul, 300000ul, 5000000ul}) {
        auto* address = static_cast<char*>(cpu_device()->allocate(bytes, nullptr));
        ASSERT_NE(address, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 64, 0u) << bytes;
        std::memset(address, static_cast<int>(blocks.size()), bytes);
        blocks.emplace_back(address, bytes);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (std::size_t at = 0; at < blocks[i].second; at += 61)
            ASSERT_EQ(blocks[i].first[at], static_cast<char>(i));
    for (const auto& [address, bytes] : blocks) cpu_device()->release(address, nullptr);
}

TEST(CpuMemory, StatisticsFollowAndBlocksAreReused) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "no block is kept where each is watched";
#endif
    const auto before = cpu_device()->memory();
    void* first = cpu_device()->allocate(3 << 20, nullptr);
    const auto during = cpu_device()->memory();
    EXPECT_GE(during.used, before.used + (3 << 20));
    EXPECT_LE(during.used, before.used + (3 << 20) * 9 / 8);
    EXPECT_GE(during.high_water, during.used);
    cpu_device()->release(first, nullptr);
    const auto after = cpu_device()->memory();
    EXPECT_EQ(after.used, before.used);
    EXPECT_GE(after.pooled, before.pooled + (3 << 20));
    void* second = cpu_device()->allocate((3 << 20) - 100, nullptr);
    EXPECT_EQ(second, first);
    cpu_device()->release(second, nullptr);
    EXPECT_EQ(after.total, cpu_device()->info().memory_bytes);
}

TEST(CpuMemory, MoreThanTheMachineHasIsAMemoryErrorWithFigures) {
    const auto before = cpu_device()->memory();
    for (const std::size_t bytes : {std::size_t{1} << 45, ~std::size_t{0}}) {
        try {
            cpu_device()->allocate(bytes, nullptr);
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.python_type, "MemoryError");
            EXPECT_EQ(error.fault, Fault::machine);
            EXPECT_NE(std::string(error.what()).find("the CPU device can't hold "), std::string::npos);
            EXPECT_NE(std::string(error.what()).find("of the machine's "), std::string::npos);
        }
    }
    EXPECT_EQ(cpu_device()->memory().used, before.used);
    cpu_device()->release(cpu_device()->allocate(1000, nullptr), nullptr);
}

TEST(CpuMemory, CopiesAndFills) {
    std::vector<char> host(1000);
    for (int i = 0; i < 1000; ++i) host[i] = static_cast<char>(i);
    auto* a = static_cast<char*>(cpu_device()->allocate(1000, nullptr));
    auto* b = static_cast<char*>(cpu_device()->allocate(1000, nullptr));
    cpu_device()->copy_to_device(a, host.data(), 1000, nullptr);
    cpu_device()->copy_on_device(b, a, 1000, nullptr);
    cpu_device()->fill(b, 9, 10, nullptr);
    std::vector<char> back(1000);
    cpu_device()->copy_to_host(back.data(), b, 1000, nullptr);
    EXPECT_EQ(back[9], 9);
    EXPECT_TRUE(std::equal(back.begin() + 10, back.end(), host.begin() + 10));
    cpu_device()->release(a, nullptr);
    cpu_device()->release(b, nullptr);
}
