// Each rule speaks where its figures prove it, and is silent just beside.
#include "profile/advice.hpp"

#include <gtest/gtest.h>

#include <set>

namespace xcuda::profile {
namespace {

DeviceState device_of(bool warps) {
    DeviceState d;
    d.label = warps ? "cuda:0" : "cpu", d.info.kind = warps ? "cuda" : "cpu",
    d.info.multiprocessors = warps ? 132 : 4;
    if (warps) {
        d.info.architecture = "sm_90";
        d.info.max_threads_per_multiprocessor = 2048, d.info.max_blocks_per_multiprocessor = 32;
        d.info.registers_per_multiprocessor = 65536, d.info.shared_bytes_per_multiprocessor = 233472;
    }
    return d;
}
const DeviceState gpu = device_of(true), cpu = device_of(false);

struct Facts {
    std::string signature = "(float32[::1])", how = "lanes";
    device::Attributes attributes{};
};
KernelRow row(const DeviceState& device, device::Dim3 grid, device::Dim3 block, Facts f = {}) {
    auto facts = std::make_shared<launch::KernelFacts>();
    facts->name = "k", facts->signature = f.signature, facts->how = f.how, facts->attributes = f.attributes;
    facts->place = {"cell.py", 7, 0, 0, 0};
    KernelRow r;
    r.kernel = facts, r.device = &device, r.shape = {grid, block, 0};
    r.calls = r.timed = 1, r.total = 1e-3;
    return r;
}

std::string said(const std::string& rule, const KernelRow& r, const Surroundings& cell = {}) {
    for (const auto& a : advise({r}, cell)) {
        if (a.rule == rule) return a.text;
    }
    return "";
}

TEST(Advice, PartWarps) {
    EXPECT_EQ(said("part-warps", row(gpu, {1000, 1, 1}, {100, 1, 1})),
              "A block of 100 threads leaves 28 of the 32 lanes of its last warp idle; make the block's size "
              "a multiple of 32.");
    EXPECT_EQ(said("part-warps", row(gpu, {1000, 1, 1}, {128, 1, 1})), "");
    EXPECT_EQ(said("part-warps", row(cpu, {1000, 1, 1}, {100, 1, 1})), "");
}

TEST(Advice, NarrowBlock) {
    EXPECT_EQ(said("narrow-block", row(gpu, {1000, 1, 1}, {8, 32, 1})),
              "The block 8x32 is only 8 threads wide in x, so a warp's accesses are spread over 4 rows; 32 "
              "in x keeps "
              "them together.");
    EXPECT_EQ(said("narrow-block", row(gpu, {1000, 1, 1}, {32, 8, 1})), "");
}

TEST(Advice, FewBlocks) {
    EXPECT_EQ(said("few-blocks", row(gpu, {1, 1, 1}, {256, 1, 1})),
              "1 block can occupy 1 of the 132 multiprocessors; smaller blocks, or more work a launch, would "
              "use the rest.");
    EXPECT_EQ(said("few-blocks", row(gpu, {132, 1, 1}, {256, 1, 1})), "");
    EXPECT_EQ(
        said("few-blocks-on-workers", row(cpu, {1, 1, 1}, {256, 1, 1}, {.how = "regions"})),
        "A kernel with barriers runs a block on one worker: 1 block left 3 of the 4 workers without work.");
    EXPECT_EQ(said("few-blocks-on-workers", row(cpu, {1, 1, 1}, {256, 1, 1})),
              "");  // lanes are split further
}

TEST(Advice, OccupancyAndSpills) {
    Facts f;
    f.attributes.registers = 128, f.attributes.local_bytes = 40;
    EXPECT_EQ(said("low-occupancy", row(gpu, {1000, 1, 1}, {256, 1, 1}, f)),
              "Occupancy is 25 %, limited by registers.");
    EXPECT_EQ(said("spills", row(gpu, {1000, 1, 1}, {256, 1, 1}, f)),
              "Each thread keeps 40 bytes in local memory (local arrays, or values that found no register).");
}

TEST(Advice, Fibers) {
    EXPECT_NE(
        said("fibers", row(cpu, {9, 1, 1}, {64, 1, 1}, {.how = "fibers"})).find("Each thread ran as a fiber"),
        std::string::npos);
    EXPECT_EQ(said("fibers", row(cpu, {9, 1, 1}, {64, 1, 1}, {.how = "regions"})), "");
}

TEST(Advice, CopiesThatEarlierCellsHadMade) {
    Surroundings cell{.device_seconds = 1e-3};
    cell.copies_again = 2, cell.bytes_again = 64e6, cell.seconds_again = 5e-3;
    const KernelRow r = row(gpu, {1000, 1, 1}, {256, 1, 1});
    const auto said_of = [&] {
        for (const auto& a : advise({r}, cell))
            if (a.rule == "copied-in-earlier-cells") return a.text;
        return std::string();
    };
    EXPECT_EQ(said_of().substr(0, 66), "61.0 MiB of host arrays went to the device again (2 copies, 5 ms),");
    cell.device_seconds = 1;  // the copies do not matter
    EXPECT_EQ(said_of(), "");
    cell.device_seconds = 1e-3, cell.bytes_again = 1e5;
    EXPECT_EQ(said_of(), "");
}

TEST(Advice, StridedArgumentIsNamedByNumber) {
    EXPECT_EQ(said("strided-argument",
                   row(cpu, {9, 1, 1}, {64, 1, 1}, {.signature = "(float32[:, ::1], float32[:, :])"}))
                  .substr(0, 50),
              "Argument 2 is not contiguous along its last axis, ");
    EXPECT_EQ(
        said("strided-argument", row(cpu, {9, 1, 1}, {64, 1, 1}, {.signature = "(int64 (weak), float32[:])"}))
            .substr(0, 10),
        "Argument 2");
    for (const char* fine : {"(float32[:, ::1], float32[::1])", "(float32, int64 (weak))", "()"}) {
        EXPECT_EQ(said("strided-argument", row(cpu, {9, 1, 1}, {64, 1, 1}, {.signature = fine})), "") << fine;
    }
}

TEST(Advice, CompileDominates) {
    Surroundings cell;
    cell.compiled = 1, cell.compile_seconds = 0.75, cell.device_seconds = 0.001, cell.compiled_names = {"k"};
    EXPECT_EQ(said("compile-dominates", row(cpu, {9, 1, 1}, {64, 1, 1}), cell),
              "Compiling took 750 ms, running 1 ms. The compiled kernel is kept: the next call with such "
              "arguments starts at once.");
    cell.device_seconds = 0.3;
    EXPECT_EQ(said("compile-dominates", row(cpu, {9, 1, 1}, {64, 1, 1}), cell), "");
    cell.compile_seconds = 0.03, cell.device_seconds = 0.001;
    EXPECT_EQ(said("compile-dominates", row(cpu, {9, 1, 1}, {64, 1, 1}), cell), "");
}

TEST(Advice, ManySpecialisations) {
    Surroundings cell;
    cell.compiled_names = {"k", "k", "other", "k"};
    EXPECT_EQ(said("many-specialisations", row(cpu, {9, 1, 1}, {64, 1, 1}), cell).substr(0, 27),
              "It was compiled 3 times her");
    cell.compiled_names.pop_back();
    EXPECT_EQ(said("many-specialisations", row(cpu, {9, 1, 1}, {64, 1, 1}), cell), "");
}

TEST(Advice, CopiesEachLaunch) {
    Surroundings cell;
    cell.copies_in = 20, cell.launches = 10, cell.copy_seconds = 0.010, cell.device_seconds = 0.002;
    auto r = row(gpu, {1000, 1, 1}, {256, 1, 1});
    r.calls = r.timed = 10;
    EXPECT_EQ(said("copies-each-launch", r, cell),
              "20 copies to the device for 10 launches took 10 ms, the kernels 2 ms: move arrays once with "
              "cuda.to_device "
              "and launch on those.");
    cell.copies_in = 3;
    EXPECT_EQ(said("copies-each-launch", r, cell), "");
}

TEST(Advice, ManyShortLaunches) {
    auto r = row(cpu, {9, 1, 1}, {64, 1, 1});
    r.calls = r.timed = 1000, r.total = 3e-3;
    EXPECT_EQ(said("many-short-launches", r).substr(0, 28), "1000 launches took 3 µs eac");
    r.total = 1;
    EXPECT_EQ(said("many-short-launches", r), "");
}

TEST(Advice, IsSaidOnceForAKernelOfTwoShapesAndNamesThePlace) {
    const auto all = advise({row(gpu, {1, 1, 1}, {100, 1, 1}), row(gpu, {2, 1, 1}, {100, 1, 1})}, {});
    ASSERT_EQ(std::count_if(all.begin(), all.end(), [](auto& a) { return a.rule == "part-warps"; }), 1);
    EXPECT_EQ(all[0].place.line, 7);
    EXPECT_EQ(all[0].kernel, "k");
}

TEST(Advice, RuleNamesAreUnique) {
    std::set<std::string_view> names;
    for (const auto& rule : advice_rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

}  // namespace
}  // namespace xcuda::profile
