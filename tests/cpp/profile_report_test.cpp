// Reports of made-up events: what is counted, what is left out and which figure is absent for which reason.
#include "profile/report.hpp"

#include <gtest/gtest.h>

namespace xcuda::profile {
namespace {

using launch::Event;
using nlohmann::json;

std::shared_ptr<launch::KernelFacts> facts(const std::string& name = "saxpy",
                                           const std::string& signature = "(float32[::1], float32[::1])") {
    auto f = std::make_shared<launch::KernelFacts>();
    f->name = name, f->signature = signature, f->device = "cpu", f->how = "lanes";
    f->place = {"cell.py", 3, 0, 6, 0};
    return f;
}

Event launched(std::shared_ptr<const launch::KernelFacts> kernel, double begin, double end,
               double flops = 100, double read = 4000, double written = 4000) {
    Event e{};
    e.kind = Event::Kind::launch;
    e.device = kernel->device;
    e.kernel = std::move(kernel);
    e.shape = {{4, 1, 1}, {256, 1, 1}, 0};
    e.flops = flops, e.bytes_read = read, e.bytes_written = written;
    auto timing = std::make_shared<device::Device::Launch>();
    timing->begin = begin, timing->end = end, timing->done = true;
    e.timing = timing;
    return e;
}

Event running(std::shared_ptr<const launch::KernelFacts> kernel) {
    Event e = launched(std::move(kernel), 0, 0);
    e.timing = std::make_shared<device::Device::Launch>();
    return e;
}

Event plain(Event::Kind kind, std::int64_t bytes, double seconds = 0) {
    Event e{};
    e.kind = kind, e.device = "cpu", e.bytes = bytes, e.begin = 1, e.end = 1 + seconds;
    return e;
}

DeviceState cpu(std::optional<Ceilings> ceilings = Ceilings{10e9, 100e9, 50e9}) {
    DeviceState d;
    d.label = "cpu";
    d.info.kind = "cpu", d.info.name = "Some CPU", d.info.architecture = "x86-64", d.info.multiprocessors = 2;
    d.info.vector_bytes = 32;
    d.ceilings = ceilings;
    d.no_ceilings = "not measured yet";
    d.memory = device::Device::Memory{1000, 2000, 3000, 4000, 2500, 0};
    return d;
}

json made(std::vector<Event> events, DeviceState device = cpu()) {
    const auto r =
        report({std::move(events), {}, 0}, {std::move(device)}, {"cell", "In [3]", 1.0, 1.5, false});
    EXPECT_TRUE(r.has_value());
    return r.value_or(json{});
}

TEST(Report, NoEventsNoReport) { EXPECT_FALSE(report({}, {cpu()}, {"cell", "In [1]", 0, 1, false})); }

TEST(Report, LaunchesOfOneKernelAndShapeAreOneRow) {
    auto k = facts();
    auto other_shape = launched(k, 0, 1e-3);
    other_shape.shape.grid.x = 8;
    const json r = made({launched(k, 0, 1e-3), launched(k, 5, 5.003), other_shape});
    ASSERT_EQ(r["kernels"].size(), 2);
    const auto& row = r["kernels"][0];
    EXPECT_EQ(row["calls"], 2);
    EXPECT_EQ(row["grid"], json({4, 1, 1}));
    EXPECT_NEAR(row["time"]["total"]["value"].get<double>(), 4e-3, 1e-12);
    EXPECT_NEAR(row["time"]["mean"]["value"].get<double>(), 2e-3, 1e-12);
    EXPECT_NEAR(row["time"]["min"]["value"].get<double>(), 1e-3, 1e-12);
    EXPECT_NEAR(row["time"]["max"]["value"].get<double>(), 3e-3, 1e-12);
    EXPECT_EQ(row["time"]["max"]["source"], "measured");
    EXPECT_EQ(r["totals"]["launches"], 3);
    EXPECT_EQ(r["totals"]["kernels"], 1);
    EXPECT_EQ(row["place"], json({{"file", "cell.py"}, {"line", 3}}));
}

TEST(Report, RatesAreModelledWorkOverMeasuredTime) {
    const json r = made({launched(facts(), 0, 2e-6, 1000, 8000, 4000)});
    const auto& row = r["kernels"][0];
    EXPECT_NEAR(row["bandwidth"]["value"].get<double>(), 6e9, 1);
    EXPECT_NEAR(row["flop_rate"]["value"].get<double>(), 0.5e9, 1);
    EXPECT_EQ(row["bandwidth"]["source"], "modelled");
    EXPECT_NEAR(row["roofline"]["share"]["value"].get<double>(), 0.6, 1e-9);  // 12 kB at 10 GB/s take 1.2 us
    EXPECT_EQ(row["roofline"]["bound"], "memory");
    EXPECT_NEAR(r["totals"]["memory_efficiency"]["value"].get<double>(), 0.6, 1e-9);
    EXPECT_NEAR(r["totals"]["compute_efficiency"]["value"].get<double>(), 0.005, 1e-9);
}

TEST(Report, Float64HasItsOwnPeak) {
    const json r = made({launched(facts("k", "(float64[::1])"), 0, 1e-6, 25'000, 8, 8)});
    EXPECT_EQ(r["kernels"][0]["roofline"]["bound"], "arithmetic");
    EXPECT_NEAR(r["kernels"][0]["roofline"]["share"]["value"].get<double>(), 0.5, 1e-9);
}

TEST(Report, ARunningLaunchIsSaidToRunNotToTakeNoTime) {
    const json r = made({running(facts())});
    EXPECT_EQ(r["kernels"][0]["running"], 1);
    EXPECT_EQ(r["kernels"][0]["time"]["total"]["absent"], "still running when the report was made");
    EXPECT_EQ(r["kernels"][0]["bandwidth"]["absent"], "still running when the report was made");
    EXPECT_EQ(r["totals"]["device_time"]["absent"], "still running when the report was made");
    EXPECT_TRUE(r["totals"]["memory_efficiency"].contains("absent"));
}

TEST(Report, AFailedLaunchIsCountedButNotTimed) {
    auto bad = launched(facts(), 0, 1);
    auto timing = std::make_shared<device::Device::Launch>();
    timing->fault.kind = 1, timing->end = 1, timing->done = true;
    bad.timing = timing;
    const json r = made({bad});
    EXPECT_EQ(r["totals"]["failed"], 1);
    EXPECT_EQ(r["kernels"][0]["time"]["total"]["absent"], "stopped by an error");
    EXPECT_EQ(r["advice"][0]["rule"], "failed");
    EXPECT_EQ(r["advice"][0]["text"], "1 of 1 launches stopped with an error; the figures leave it out.");
}

TEST(Report, WorkThatCouldNotBeModelledIsAbsent) {
    const json r = made({launched(facts(), 0, 1e-3, -1, -1, -1)});
    const auto& row = r["kernels"][0];
    for (const char* f : {"flops", "bytes_read", "bytes_written", "bandwidth", "flop_rate"}) {
        EXPECT_EQ(row[f]["absent"], "depends on data: a loop or branch that the model cannot follow") << f;
    }
    EXPECT_EQ(r["totals"]["compute_efficiency"]["absent"],
              "depends on data: a loop or branch that the model cannot follow");
    EXPECT_TRUE(row["time"]["total"].contains("value"));
}

TEST(Report, TheCpuDeviceHasNoOccupancy) {
    const json r = made({launched(facts(), 0, 1e-3)});
    EXPECT_EQ(r["kernels"][0]["occupancy"]["share"]["absent"], "no occupancy on the CPU device");
    EXPECT_EQ(r["kernels"][0]["registers"]["absent"], "the CPU device's compiler does not count them");
}

TEST(Report, WithoutCeilingsTheShareIsAbsentWithTheReason) {
    const json r = made({launched(facts(), 0, 1e-3)}, cpu(std::nullopt));
    EXPECT_EQ(r["kernels"][0]["roofline"]["share"]["absent"], "not measured yet");
    EXPECT_EQ(r["devices"][0]["copy_bandwidth"]["absent"], "not measured yet");
    EXPECT_EQ(r["totals"]["memory_efficiency"]["absent"], "not measured yet");
}

TEST(Report, CompilesCopiesAndMemory) {
    Event compile{};
    compile.kind = Event::Kind::compile, compile.device = "cpu", compile.kernel = facts();
    compile.compile_source = "compiled", compile.begin = 1, compile.end = 1.020;
    Event cached = compile;
    cached.compile_source = "disk", cached.end = 1.001;
    const json r =
        made({compile, cached, plain(Event::Kind::allocate, 4096), plain(Event::Kind::allocate, 1000),
              plain(Event::Kind::release, 4096), plain(Event::Kind::copy_in, 4096, 1e-6),
              plain(Event::Kind::copy_in, 4096, 1e-6), plain(Event::Kind::copy_out, 1000, 2e-6)});
    EXPECT_EQ(r["totals"]["compiled"], 1);
    EXPECT_EQ(r["totals"]["from_cache"], 1);
    EXPECT_NEAR(r["totals"]["compile_time"]["value"].get<double>(), 0.020, 1e-9);
    EXPECT_EQ(r["compiles"][1]["from"], "disk");
    EXPECT_EQ(r["devices"][0]["memory_change"]["value"], 1000);
    EXPECT_EQ(r["devices"][0]["memory_used"]["value"], 1000);
    ASSERT_EQ(r["copies"].size(), 2);
    EXPECT_EQ(r["copies"][0]["direction"], "to device");
    EXPECT_EQ(r["copies"][0]["calls"], 2);
    EXPECT_EQ(r["copies"][0]["bytes"]["value"], 8192);
    EXPECT_NEAR(r["copies"][0]["bandwidth"]["value"].get<double>(), 4.096e9, 1e3);
    EXPECT_EQ(r["totals"]["copy_bytes"]["value"], 9192);
}

TEST(Report, LostEventsAreTold) {
    const auto r = report({{launched(facts(), 0, 1)}, {}, 17}, {cpu()}, {"block", "profile", 0, 1, true});
    EXPECT_EQ((*r)["lost_events"], 17);
    EXPECT_EQ((*r)["scope"]["failed"], true);
    EXPECT_EQ((*r)["scope"]["kind"], "block");
}

}  // namespace
}  // namespace xcuda::profile
