#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "launch/cache.hpp"

using namespace xcuda;
using namespace xcuda::device;
namespace fs = std::filesystem;

namespace {

/// A device that only compiles: its objects are the text twice, and it counts what it is asked.
class FakeDevice : public Device {
public:
    struct Kernel : device::Function {
        std::string code;
    };
    std::atomic<int> compiles{0}, loads{0};
    std::string version = "fake 1";
    std::string unloadable;  // a load of this code fails as an internal fault
    Info made;

    FakeDevice() { made.kind = "fake"; }
    const Info& info() const override { return made; }
    std::string toolchain() const override { return version; }
    Image compile(const Source& source) override {
        ++compiles;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (source.text == "refuse") throw bug("refused");
        Image image;
        const std::string code = source.text + source.text;
        image.bytes.resize(code.size());
        std::memcpy(image.bytes.data(), code.data(), code.size());
        image.entry = source.entry;
        image.attributes.registers = 37;
        image.attributes.shared_bytes = 0;
        return image;
    }
    std::shared_ptr<device::Function> load(const Image& image) override {
        ++loads;
        auto kernel = std::make_shared<Kernel>();
        kernel->code.assign(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
        if (kernel->code == unloadable) throw bug("can't be linked");
        return kernel;
    }
    std::string assembly(const Source&) override { return {}; }
    void* allocate(std::size_t, Stream*) override { return nullptr; }
    void release(void*, Stream*) noexcept override {}
    bool host_accessible() const override { return false; }
    void copy_to_device(void*, const void*, std::size_t, Stream*) override {}
    void copy_to_host(void*, const void*, std::size_t, Stream*) override {}
    void copy_on_device(void*, const void*, std::size_t, Stream*) override {}
    void fill(void*, int, std::size_t, Stream*) override {}
    Memory memory() const override { return {}; }
    void trim() override {}
    void set_memory_limit(std::int64_t) override {}
    std::shared_ptr<Stream> make_stream(int) override { return nullptr; }
    void synchronize(Stream*) override {}
    bool finished(Stream*) const override { return true; }
    std::shared_ptr<Event> make_event(bool) override { return nullptr; }
    void record(Event&, Stream*) override {}
    void wait(Event&, Stream*) override {}
    void synchronize(Event&) override {}
    bool happened(const Event&) const override { return true; }
    double seconds(const Event&, const Event&) const override { return 0; }
    void call_on_host(Stream*, Callback) override {}
    std::shared_ptr<Launch> launch(const std::shared_ptr<device::Function>&, const Shape&,
                                   std::span<const std::byte>, Stream*) override {
        return nullptr;
    }
};

class LaunchCache : public testing::Test {
protected:
    void SetUp() override {
        before = settings();
        std::string name = (fs::temp_directory_path() / "xcuda-cache-test-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root = name;
        settings().cache_dir = folder = root / "deep" / "folder";
        settings().cache_bytes = 1 << 30;
    }
    void TearDown() override {
        launch::clear_cache();
        settings() = before;
        fs::remove_all(root);
    }
    static std::string code(const std::shared_ptr<device::Function>& function) {
        return static_cast<FakeDevice::Kernel&>(*function).code;
    }
    fs::path file_of(Device& device, const Source& source) {
        return folder / (launch::cache_key(device, source) + ".kernel");
    }
    Settings before;
    fs::path root, folder;
};

std::string get(Device& device, const Source& source, launch::CompileInfo* info = nullptr) {
    return static_cast<FakeDevice::Kernel&>(*launch::get_or_compile(device, source, info)).code;
}

/// A device that the memory cache has never met; it lives on, as the cache knows devices by their address.
FakeDevice& fresh_device() {
    static std::vector<std::unique_ptr<FakeDevice>> all;
    return *all.emplace_back(std::make_unique<FakeDevice>());
}

/// What a new process would find: the same folder, nothing in memory.
std::string get_fresh(const Source& source, launch::CompileInfo& info) {
    return get(fresh_device(), source, &info);
}

}  // namespace

TEST_F(LaunchCache, CompiledThenMemoryThenDisk) {
    FakeDevice& device = fresh_device();
    const Source source{"text", "entry", "O2"};
    launch::CompileInfo info;
    EXPECT_EQ(get(device, source, &info), "texttext");
    EXPECT_EQ(info.source, "compiled");
    EXPECT_EQ(info.bytes, 8);
    EXPECT_GT(info.seconds, 0.001);
    EXPECT_EQ(get(device, source, &info), "texttext");
    EXPECT_EQ(info.source, "memory");
    EXPECT_EQ(info.attributes.registers, 37);
    EXPECT_EQ(device.compiles, 1);
    EXPECT_EQ(get_fresh(source, info), "texttext");
    EXPECT_EQ(info.source, "disk");
    EXPECT_EQ(info.attributes.registers, 37);
    EXPECT_EQ(info.attributes.shared_bytes, 0);
    EXPECT_FALSE(info.attributes.local_bytes.has_value());
}

TEST_F(LaunchCache, EveryPartOfTheKeyCounts) {
    FakeDevice &device = fresh_device(), &other = fresh_device();
    other.version = "fake 2";
    const auto key = [&](const Source& source) { return launch::cache_key(device, source); };
    const std::string first = key({"ab", "c", "O2"});
    EXPECT_EQ(first.size(), 32u);
    EXPECT_NE(first, key({"a", "bc", "O2"}));
    EXPECT_NE(first, key({"ab", "c", "O3"}));
    EXPECT_NE(first, key({"ab", "d", "O2"}));
    EXPECT_NE(first, launch::cache_key(other, {"ab", "c", "O2"}));
    other.version = "fake 1";
    EXPECT_EQ(first, launch::cache_key(other, {"ab", "c", "O2"}));
    other.made.kind = "other";
    EXPECT_NE(first, launch::cache_key(other, {"ab", "c", "O2"}));
}

TEST_F(LaunchCache, ThreadsThatAskForOneKernelCompileItOnce) {
    FakeDevice& device = fresh_device();
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (int k = 0; k < 20; ++k)
                right += get(device, {"kernel" + std::to_string(k), "e", ""}).rfind("kernel", 0) == 0;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 160);
    EXPECT_EQ(device.compiles, 20);
    EXPECT_EQ(device.loads, 20);
}

TEST_F(LaunchCache, AFailedCompileIsTriedAgain) {
    FakeDevice& device = fresh_device();
    EXPECT_THROW(get(device, {"refuse", "e", ""}), Error);
    EXPECT_THROW(get(device, {"refuse", "e", ""}), Error);
    EXPECT_EQ(device.compiles, 2);
    EXPECT_EQ(launch::cache_stats().kernels_in_memory, 0);
}

TEST_F(LaunchCache, DamagedFilesAreMissesAndReplaced) {
    const Source source{std::string(5000, 'k'), "entry", "O2"};
    FakeDevice& device = fresh_device();
    get(device, source);
    const fs::path file = file_of(device, source);
    ASSERT_TRUE(fs::exists(file));
    std::string whole(fs::file_size(file), '\0');
    std::ifstream(file, std::ios::binary).read(whole.data(), static_cast<std::streamsize>(whole.size()));

    std::vector<std::string> damages{"",
                                     "x",
                                     whole.substr(0, 40),
                                     whole.substr(0, whole.size() - 1),
                                     whole + "x",
                                     std::string(whole.size(), '\0')};
    for (std::size_t at = 0; at < whole.size(); at += 97) {
        damages.push_back(whole);
        damages.back()[at] ^= 4;
    }
    for (const std::string& damaged : damages) {
        std::ofstream(file, std::ios::binary | std::ios::trunc).write(damaged.data(), std::ssize(damaged));
        launch::CompileInfo info;
        EXPECT_EQ(get_fresh(source, info), source.text + source.text);
        EXPECT_EQ(info.source, "compiled");
        EXPECT_EQ(get_fresh(source, info), source.text + source.text);
        EXPECT_EQ(info.source, "disk");
    }
}

TEST_F(LaunchCache, AFileOfAnotherEntryIsAMiss) {
    FakeDevice& device = fresh_device();
    const Source source{"text", "entry", ""}, other{"text", "other", ""};
    get(device, other);
    fs::copy_file(file_of(device, other), file_of(device, source));
    launch::CompileInfo info;
    EXPECT_EQ(get_fresh(source, info), "texttext");
    EXPECT_EQ(info.source, "compiled");
}

TEST_F(LaunchCache, AWholeFileThatCannotBeLinkedIsCompiledAnew) {
    FakeDevice& device = fresh_device();
    const Source source{"text", "entry", ""};
    get(device, source);
    FakeDevice& fresh = fresh_device();
    fresh.unloadable = "texttext";
    EXPECT_THROW(get(fresh, source), Error);  // its own compile gives the same
    EXPECT_EQ(fresh.compiles, 1);
    EXPECT_EQ(fresh.loads, 2);
}

TEST_F(LaunchCache, AFolderThatCannotBeWrittenIsNoCacheAndSaysWhy) {
    std::ofstream(root / "file") << "in the way";
    settings().cache_dir = root / "file" / "folder";
    launch::CompileInfo info;
    EXPECT_EQ(get_fresh({"text", "e", ""}, info), "texttext");
    EXPECT_EQ(info.source, "compiled");
    EXPECT_EQ(get_fresh({"text", "e", ""}, info), "texttext");
    EXPECT_EQ(info.source, "compiled");
    EXPECT_NE(launch::cache_stats().disk_problem.find("can't be made: Not a directory"), std::string::npos)
        << launch::cache_stats().disk_problem;
}

TEST_F(LaunchCache, AFullDiskIsNoCacheAndSaysWhy) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    // What a writer opens is /dev/full: every write fails with ENOSPC.
    const Source source{"text", "e", ""};
    FakeDevice& device = fresh_device();
    fs::create_directories(folder);
    for (int number = 0; number < 400; ++number)
        fs::create_symlink(
            "/dev/full", folder / (launch::cache_key(device, source) + "." + std::to_string(getpid()) + "." +
                                   std::to_string(number) + ".writing"));
    EXPECT_EQ(get(device, source), "texttext");
    EXPECT_NE(launch::cache_stats().disk_problem.find("No space left on device"), std::string::npos)
        << launch::cache_stats().disk_problem;
    EXPECT_FALSE(fs::exists(file_of(device, source)));
    EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(LaunchCache, TurnedOff) {
    settings().cache_bytes = 0;
    launch::CompileInfo info;
    get_fresh({"text", "e", ""}, info);
    get_fresh({"text", "e", ""}, info);
    EXPECT_EQ(info.source, "compiled");
    EXPECT_FALSE(fs::exists(folder));
    EXPECT_EQ(launch::cache_stats().disk_problem, "it is turned off (XCUDA_CACHE_BYTES=0)");
    EXPECT_TRUE(launch::cache_stats().folder.empty());
}

TEST_F(LaunchCache, TheBoundHoldsAndTheOldestGo) {
    settings().cache_bytes = 100'000;
    FakeDevice& device = fresh_device();
    const Source kept{std::string(2000, 'a'), "kept", ""};
    get(device, kept);
    launch::CompileInfo info;
    for (int k = 0; k < 60; ++k) {
        get(device, {std::string(2000, 'b') + std::to_string(k), "e", ""});
        get_fresh(kept, info);  // used: stays young
        EXPECT_EQ(info.source, "disk") << k;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const auto stats = launch::cache_stats();
    EXPECT_LE(stats.bytes, stats.bound + stats.bound / 8);
    EXPECT_GT(stats.files, 10);
    get_fresh({std::string(2000, 'b') + "0", "e", ""}, info);
    EXPECT_EQ(info.source, "compiled");
    get_fresh({std::string(2000, 'b') + "59", "e", ""}, info);
    EXPECT_EQ(info.source, "disk");
}

TEST_F(LaunchCache, ProcessesFillAndReadOneFolderAtOnce) {
    std::vector<pid_t> children;
    for (int c = 0; c < 6; ++c) {
        const pid_t child = fork();
        if (child == 0) {
            settings().cache_bytes = 60'000;  // eviction at work too
            for (int round = 0; round < 3; ++round)
                for (int k = 0; k < 30; ++k) {
                    FakeDevice& device = fresh_device();
                    const std::string text = std::string(500 + 13 * k, 'x') + std::to_string(k);
                    if (get(device, {text, "e", ""}) != text + text) _exit(1);
                }
            _exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    for (const auto& entry : fs::directory_iterator(folder)) EXPECT_EQ(entry.path().extension(), ".kernel");
}

TEST_F(LaunchCache, ClearForgetsMemoryAndDisk) {
    FakeDevice& device = fresh_device();
    const Source source{"text", "e", ""};
    get(device, source);
    std::ofstream(folder / "somebody's.txt") << "stays";
    EXPECT_EQ(launch::cache_stats().files, 1);
    EXPECT_EQ(launch::cache_stats().kernels_in_memory, 1);
    launch::clear_cache();
    EXPECT_EQ(launch::cache_stats().files, 0);
    EXPECT_EQ(launch::cache_stats().kernels_in_memory, 0);
    EXPECT_TRUE(fs::exists(folder / "somebody's.txt"));
    launch::CompileInfo info;
    get(device, source, &info);
    EXPECT_EQ(info.source, "compiled");
}
