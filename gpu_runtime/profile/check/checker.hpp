// The watcher of one run: keeps the shadow of what is touched and says what it sees.
#pragma once

#include <array>
#include <map>
#include <random>
#include <set>

#include "profile/check/check.hpp"
#include "profile/check/findings.hpp"
#include "profile/check/memory_map.hpp"
#include "profile/check/shadow.hpp"
#include "profile/check/threads.hpp"

namespace xcuda::profile::check {

class Checker : public launch::Watcher {
public:
    /// `run`: 0 for threads and blocks as they are numbered; else in an order of its own.
    Checker(const launch::Watched& kernel, std::span<const launch::Argument> arguments,
            const Options& options, int run, Findings& findings);

    /// After the run.
    void finish(bool whole);
    std::int64_t steps() const { return steps_; }
    bool cut() const { return cut_; }

private:
    static Checker& of(launch::Watcher* w) { return *static_cast<Checker*>(w); }
    void touched(std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                 std::uint64_t address, std::uint64_t bytes);
    void passed(std::int64_t block, std::uint32_t thread, What what, std::int32_t site, std::uint64_t value);
    void gave(std::int64_t block, std::uint32_t thread, std::int32_t operation, double value, double a,
              double b);
    std::int64_t block_at(std::int64_t turn);
    void end_block();

    void read(const Access& now, std::uint64_t address, std::uint64_t bytes, const Range& range);
    void settle();
    void meet(const Cell& cell, const Access& then, const char* did, const Access& now, const char* does,
              std::uint64_t address);
    bool is_unset(const Range& range, std::uint64_t address, std::uint64_t bytes) const;
    std::string words(std::uint32_t number, bool with_block) const;
    const Place& place_of(std::int32_t site) const;

    /// A write is told of before it happens: whether it changed anything is seen at the next event.
    struct Pending {
        bool open = false, compared = false;
        Access access;
        std::uint64_t address = 0, bytes = 0;
        std::array<unsigned char, 16> before{};
    };

    const launch::Watched& kernel_;
    const Options& options_;
    Findings& findings_;
    MemoryMap map_;
    Threads threads_;
    Shadow shadow_;
    Pending pending_;
    std::set<int> constant_;  // sites whose stores are of a constant
    std::vector<std::int64_t> blocks_;
    std::int64_t block_ = -1;
    std::map<std::int32_t, std::vector<std::uint32_t>> passes_;  // by barrier: how often each thread came
    std::mt19937_64 random_;
    bool mixes_;
    std::int64_t steps_ = 0;
    bool cut_ = false;
};

}  // namespace xcuda::profile::check
