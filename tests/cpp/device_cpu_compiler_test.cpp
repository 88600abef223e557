#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "device_cpu_kernel.hpp"

using namespace xcuda;
using namespace xcuda::device;
using xcuda::test::cpu_device;
using xcuda::test::cpu_prelude;
using xcuda::test::kernel;
using xcuda::test::launch;

namespace {

std::string math_text(const std::string& expression) {
    return R"text(
struct Arguments { const f64* x; f64* y; i64 n; };
UNITS(k, 1)
KERNEL(k) {
    const Arguments a = *(const Arguments*)packed;
    const f64* in = a.x; f64* out = a.y;
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = 0; i < a.n; ++i) { const f64 x = in[i]; out[i] = )text" +
           expression + "; }\n}\n";
}

struct Map {
    const double* x;
    double* y;
    std::int64_t n;
};

}  // namespace

// The assembly must hold the vector call: a scalar one gives right values too, five times slower.
TEST(CpuCompiler, MathInLanesCallsTheVectorLibrary) {
    const int lanes = cpu_device()->info().vector_bytes / 8;
    const char letter = lanes == 8 ? 'e' : lanes == 4 ? 'd' : 'b';
    struct {
        const char* name;
        double (*scalar)(double);
        double from, to;
    } const functions[] = {
        {"sin", std::sin, -9, 9},       {"cos", std::cos, -9, 9},      {"exp", std::exp, -20, 20},
        {"log", std::log, 0.01, 50},    {"tan", std::tan, -1.5, 1.5},  {"tanh", std::tanh, -4, 4},
        {"log1p", std::log1p, -0.9, 9}, {"expm1", std::expm1, -3, 3},  {"erf", std::erf, -3, 3},
        {"cbrt", std::cbrt, -9, 9},     {"atan", std::atan, -9, 9},    {"exp2", std::exp2, -9, 9},
        {"log2", std::log2, 0.1, 9},    {"log10", std::log10, 0.1, 9},
    };
    std::vector<double> x(1003), y(1003);
    for (const auto& each : functions) {
        const std::string text = math_text(std::string("__builtin_") + each.name + "(x)");
        const std::string vector_name =
            std::string("_ZGV") + letter + "N" + std::to_string(lanes) + "v_" + each.name;
        EXPECT_NE(cpu_device()->assembly({cpu_prelude + text, "k", "O2"}).find(vector_name), std::string::npos)
            << vector_name;
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = each.from + (each.to - each.from) * static_cast<double>(i) / static_cast<double>(x.size());
        launch(kernel("k", text), {{1, 1, 1}, {1, 1, 1}}, Map{x.data(), y.data(), 1003});
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double right = each.scalar(x[i]);
            ASSERT_NEAR(y[i], right, 4 * std::abs(right) * 2.3e-16 + 1e-300) << each.name << " of " << x[i];
        }
    }
}

TEST(CpuCompiler, OptionsChangeWhatIsMade) {
    const std::string text = cpu_prelude + math_text("x * 2 + 1");
    const std::string fast = cpu_device()->assembly({text, "k", "O2"}),
                      slow = cpu_device()->assembly({text, "k", "O0"});
    EXPECT_GT(slow.size(), 100u);
    EXPECT_NE(fast, slow);
    const char* vector = cpu_device()->info().vector_bytes == 64   ? "%zmm"
                         : cpu_device()->info().vector_bytes == 32 ? "%ymm"
                                                                   : "%xmm";
    EXPECT_NE(fast.find(vector), std::string::npos);
    EXPECT_NE(fast.find("fmadd"), std::string::npos);
    EXPECT_EQ(cpu_device()->assembly({text, "k", "O2 -ffp-contract=off"}).find("fmadd"), std::string::npos);
}

TEST(CpuCompiler, TextThatDoesNotCompileIsOurBugAndTheLogSaysWhere) {
    try {
        cpu_device()->compile({"#line 12 \"cell\"\nint f() { return nothing; }", "f", "O2"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.fault, Fault::internal);
        EXPECT_NE(std::string(error.what()).find("cell:12"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos);
    }
}

TEST(CpuCompiler, NoFileOfTheMachineIsRead) {
    EXPECT_THROW(cpu_device()->compile({"#include <math.h>\n", "f", "O2"}), Error);
    EXPECT_THROW(cpu_device()->compile({"#include \"/etc/passwd\"\n", "f", "O2"}), Error);
}

TEST(CpuCompiler, AnUnknownSymbolIsNamed) {
    try {
        kernel("k", "extern \"C\" int no_such_function(int); UNITS(k, no_such_function(1)) KERNEL(k) {}");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("no_such_function"), std::string::npos) << error.what();
    }
}

TEST(CpuCompiler, DamagedBytesAreRefused) {
    Image image = cpu_device()->compile({cpu_prelude + math_text("x"), "k", "O2"});
    image.bytes.resize(image.bytes.size() / 2);
    EXPECT_THROW(cpu_device()->load(image), Error);
    image.bytes.clear();
    EXPECT_THROW(cpu_device()->load(image), Error);
}

TEST(CpuCompiler, ThreadsCompileAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5; ++i) {
                const int k = 10 * t + i;
                double x = 3, y = 0;
                launch(kernel("k", math_text("x * " + std::to_string(k))), {{1, 1, 1}, {1, 1, 1}},
                       Map{&x, &y, 1});
                right += y == 3.0 * k;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 20);
}

TEST(CpuCompiler, GlobalsConstantsAndJumpTablesLink) {
    const auto k = kernel("k", R"text(
static const i64 table[5] = {3, 1, 4, 1, 5};
static i64 counter = 40;
__attribute__((noinline)) static i64 pick(i64 i) {
    switch (i) { case 0: return table[0] * 7; case 1: return counter; case 2: return 9; case 3: return -table[3];
                 case 4: return table[4] << 9; case 5: return 77; default: return i * i; }
}
UNITS(k, 1)
KERNEL(k) { i64* out = *(i64* const*)packed; for (i64 i = 0; i < 8; ++i) out[i] = pick(i); counter += 1; }
)text");
    std::int64_t out[8];
    std::int64_t* address = out;
    launch(k, {{1, 1, 1}, {1, 1, 1}}, address);
    launch(k, {{1, 1, 1}, {1, 1, 1}}, address);
    const std::int64_t right[8] = {21, 41, 9, -1, 2560, 77, 36, 49};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], right[i]);
}

TEST(CpuCompiler, ToolchainNamesCompilerAndProcessor) {
    const std::string text = cpu_device()->toolchain();
    EXPECT_EQ(text.rfind("clang 19.", 0), 0u) << text;
    EXPECT_NE(text.find(cpu_device()->info().architecture), std::string::npos);
    EXPECT_EQ(text, cpu_device()->toolchain());
}

// In a process of its own: the module is opened once.
TEST(CpuCompilerDeathTest, AMissingModuleIsASentence) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto say = [] {
        settings().cpu_compiler = "/nowhere/libxcuda_cpu_jit.so";
        try {
            kernel("k", math_text("x"));
        } catch (const Error& error) {
            fprintf(stderr, "%s | %s\n", error.what(), error.hint.c_str());
            _exit(error.fault == Fault::machine ? 3 : 4);
        }
        _exit(0);
    };
    EXPECT_EXIT(say(), testing::ExitedWithCode(3), "the CPU compiler.*nowhere.*reinstall xcuda");
}
