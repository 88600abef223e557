#include "launch/held.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "device_cpu_kernel.hpp"
#include "launch/buffer.hpp"

namespace xcuda::launch {
namespace {

Held of_cpu() {
    for (const Held& h : held())
        if (h.device == "cpu") return h;
    return {};
}

TEST(Held, ThePeakIsTheMostSinceItBeganAnew) {
    const auto device = test::cpu_device();
    const Buffer stays(device, 1000, nullptr);
    const std::int64_t before = of_cpu().now;
    restart_peaks();
    EXPECT_EQ(of_cpu().at_begin, before);
    EXPECT_EQ(of_cpu().peak, before);
    {
        const Buffer one(device, 5000, nullptr);
        const Buffer other(device, 3000, nullptr);
        const Buffer empty(device, 0, nullptr);
    }
    EXPECT_EQ(of_cpu().now, before);
    EXPECT_EQ(of_cpu().peak, before + 8000);
    restart_peaks();
    EXPECT_EQ(of_cpu().peak, before);
}

TEST(Held, OtherLibrariesMemoryIsNotCounted) {
    const auto device = test::cpu_device();
    const std::int64_t before = of_cpu().now;
    const auto owner = std::make_shared<int>(3);
    const Buffer foreign(device, owner.get(), sizeof(int), owner, nullptr);
    EXPECT_EQ(of_cpu().now, before);
}

}  // namespace
}  // namespace xcuda::launch
