#include "profile/roofline.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/settings.hpp"

namespace xcuda::profile {
namespace {

TEST(Roofline, TheSlowerCeilingHolds) {
    const Ceilings c{10e9, 100e9, 50e9};
    const auto memory = roofline(c, false, 100, 10'000, 2e-6).value();  // 1 us of bytes, 1 ns of arithmetic
    EXPECT_EQ(memory.bound, "memory");
    EXPECT_DOUBLE_EQ(memory.share, 0.5);
    const auto arithmetic = roofline(c, true, 100'000, 10'000, 4e-6).value();  // 2 us at float64's peak
    EXPECT_EQ(arithmetic.bound, "arithmetic");
    EXPECT_DOUBLE_EQ(arithmetic.share, 0.5);
    EXPECT_FALSE(roofline(c, false, 0, 0, 1e-3));
    EXPECT_FALSE(roofline(c, false, 1, 1, 0));
}

device::Info processor(const char* name) {
    device::Info d;
    d.kind = "cpu", d.name = name, d.multiprocessors = 1;
    return d;
}

// One process, one folder: the tests below share it, in this order.
struct Folder : testing::Test {
    static void SetUpTestSuite() {
        auto folder = std::filesystem::temp_directory_path() / ("xcuda-roofline-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
        settings().cache_dir = folder;
        std::ofstream(folder / "ceilings.json")
            << R"({"format": 1, "Known x 1": {"copy": 1e9, "flops_f32": 2e9, "flops_f64": 3e9}, "Broken x 1": {"copy": -1}})";
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(settings().cache_dir); }
};

TEST_F(Folder, KnownOnesAreReadAndNotMeasured) {
    const auto c = known_ceilings(processor("Known")).value();
    EXPECT_EQ(c.copy_bytes_per_second, 1e9);
    EXPECT_EQ(c.flops_f32, 2e9);
    EXPECT_EQ(c.flops_f64, 3e9);
    EXPECT_FALSE(known_ceilings(processor("Unknown")));
    EXPECT_FALSE(known_ceilings(processor("Broken")));
}

TEST_F(Folder, MeasuredOnesAreKeptBesideTheOthers) {
    const auto c = ceilings(processor("New")).value();
    EXPECT_GT(c.copy_bytes_per_second, 1e8);
    EXPECT_GT(c.flops_f32, 1.2 * c.flops_f64);  // twice the lanes
    std::ifstream in(settings().cache_dir / "ceilings.json");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_NE(text.find("New x 1"), std::string::npos);
    EXPECT_NE(text.find("Known x 1"), std::string::npos);
    EXPECT_EQ(known_ceilings(processor("New"))->flops_f32, c.flops_f32);
}

TEST_F(Folder, DevicesThatAreNotHereAreNotMeasured) {
    auto gpu = processor("GPU");
    gpu.kind = "cuda", gpu.ordinal = 99;
    EXPECT_FALSE(ceilings(gpu));
}

TEST(MultiplyAddPeaks, AreClockTimesUnits) {
    device::Info gpu;
    gpu.kind = "cuda", gpu.architecture = "sm_90", gpu.multiprocessors = 132, gpu.clock_hz = 1.98e9;
    const auto peaks = multiply_add_peaks(gpu).value();  // the H200's data sheet: 67 and 34 TFLOP/s
    EXPECT_NEAR(peaks.flops_f32, 66.9e12, 0.1e12);
    EXPECT_NEAR(peaks.flops_f64, 33.5e12, 0.1e12);
    EXPECT_TRUE(peaks.flops_computed);
    gpu.clock_hz = 0;
    EXPECT_FALSE(multiply_add_peaks(gpu));
    gpu.clock_hz = 1e9, gpu.architecture = "sm_999";
    EXPECT_FALSE(multiply_add_peaks(gpu));
}

}  // namespace
}  // namespace xcuda::profile
