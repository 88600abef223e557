// Kernels made on threads of their own: what they are asked, that errors stay, a fork in between, and the end.
#include "launch/ahead.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.hpp"

namespace xcuda::launch {
namespace {

using namespace std::chrono_literals;

struct Asked {
    std::atomic<int> begun{0}, over{0};
};

/// A program that takes a while to say that it can't be lowered.
std::shared_ptr<Program> slow(const std::shared_ptr<Asked>& asked, std::chrono::milliseconds time) {
    return std::make_shared<Program>(
        "slow",
        [asked, time](const std::vector<ir::Type>&) -> ir::Module {
            ++asked->begun;
            std::this_thread::sleep_for(time);
            ++asked->over;
            throw bug("refused");
        },
        Options{});
}

std::shared_ptr<device::Device> cpu() {
    for (const auto& d : device::devices())
        if (d->info().kind == "cpu") return d;
    return nullptr;
}

class AheadTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cpu()) GTEST_SKIP() << "this build has no CPU device";
    }
    const std::shared_ptr<Asked> asked = std::make_shared<Asked>();
};

TEST_F(AheadTest, ErrorsAreLeftToWhoeverLaunches) {
    const auto program = slow(asked, 1ms);
    const auto begun = compile_ahead(program, {}, cpu(), false);
    wait_for(*begun);
    EXPECT_GE(asked->begun, 1);
    EXPECT_EQ(begun->left, 0);
    EXPECT_THROW(program->lower({}), Error);
    EXPECT_TRUE(program->specialisations().empty());
}

TEST_F(AheadTest, ManyAreMadeAtTheSameTime) {
    std::vector<std::shared_ptr<Program>> programs;
    std::vector<std::shared_ptr<Ahead>> all;
    for (int i = 0; i < 50; ++i) {
        programs.push_back(slow(asked, 1ms));
        all.push_back(compile_ahead(programs.back(), {}, cpu(), true));
    }
    for (const auto& one : all) wait_for(*one);
    EXPECT_GE(asked->over, 50);
}

TEST_F(AheadTest, AProgramThatNobodyKeepsIsForgotten) {
    const auto others = std::make_shared<Asked>();
    std::vector<std::shared_ptr<Program>> busy;
    for (int i = 0; i < 8; ++i) {
        busy.push_back(slow(others, 20ms));
        compile_ahead(busy.back(), {}, cpu(), true);
    }
    const auto begun = compile_ahead(slow(asked, 1ms), {}, cpu(), true);
    wait_for(*begun);
    EXPECT_EQ(asked->begun, 0);
}

TEST_F(AheadTest, AForkWaitsForWhatIsAtWorkAndTheChildGoesOnWithoutIt) {
    std::vector<std::shared_ptr<Program>> busy;
    std::vector<std::shared_ptr<Ahead>> all;
    for (int i = 0; i < 16; ++i) {
        busy.push_back(slow(asked, 10ms));
        all.push_back(compile_ahead(busy.back(), {}, cpu(), true));
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // one that hangs fails
        const bool whole = asked->begun == asked->over;
        for (const auto& one : all) wait_for(*one);
        const auto mine = std::make_shared<Asked>();
        const auto program = slow(mine, 1ms);
        wait_for(*compile_ahead(program, {}, cpu(), true));
        _exit(whole && mine->over >= 1 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (const auto& one : all) wait_for(*one);  // the parent's go on
    EXPECT_GE(asked->over, 16);
}

TEST_F(AheadTest, TheEndWaitsForWhatIsAtWorkAndForgetsTheRest) {
    const pid_t child = fork();  // it is the end for a whole process
    if (child == 0) {
        alarm(20);
        std::vector<std::shared_ptr<Program>> busy;
        for (int i = 0; i < 200; ++i) {
            busy.push_back(slow(asked, 20ms));
            compile_ahead(busy.back(), {}, cpu(), true);
        }
        end_ahead();
        const int begun = asked->begun;
        const bool whole = begun == asked->over && begun < 200;
        const auto late = compile_ahead(busy.back(), {}, cpu(), true);
        wait_for(*late);
        _exit(whole && asked->begun == begun ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace xcuda::launch
