// What each thread of a watched run may rely on: which accesses of others came before, by barriers, by meetings of a
// warp, and by atomics after a fence.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/device.hpp"

namespace xcuda::profile::check {

/// An access as a shadow cell keeps it. `epoch`: how often its thread had met others at barriers.
struct Access {
    std::uint32_t stamp = 0, thread = 0, epoch = 0;  // thread: of the whole grid, linear
    std::int32_t site = -1;                          // -1: there was none
};

class Threads {
public:
    Threads(const device::Shape& shape, bool whole_grid);

    /// The number of an event, and of its thread in the grid.
    std::uint32_t tick() { return ++now_; }
    std::uint32_t number(std::int64_t block, std::uint32_t thread) const {
        return static_cast<std::uint32_t>(block * threads_ + thread);
    }
    std::int64_t block_of(std::uint32_t number) const { return number / threads_; }
    std::uint32_t thread_of(std::uint32_t number) const {
        return static_cast<std::uint32_t>(number % threads_);
    }

    /// Blocks come one after the other, but where the whole grid meets.
    void begin_block(std::int64_t block);
    Access access(std::uint32_t number, std::int32_t site) {
        return {now_, number, self(number).epoch, site};
    }
    /// Whether `then` is sure to have happened before what the thread does now.
    bool before(const Access& then, std::uint32_t number);

    void barrier(std::uint32_t number);  // it comes to one of its block
    void grid_barrier(std::uint32_t number);
    void lane_comes(std::uint32_t number, std::uint32_t mask);
    void lanes_met(std::uint32_t number);
    void fence(std::uint32_t number);
    /// An atomic operation on this address: knows what those knew who came with a fence.
    void atomic(std::uint32_t number, std::uint64_t address);

private:
    static constexpr std::uint32_t lanes = 32, grid_step = 1u << 24;

    /// Accesses of a block before an epoch of it, and of threads up to a stamp.
    struct Known {
        std::map<std::int64_t, std::uint32_t> blocks;
        std::unordered_map<std::uint32_t, std::uint32_t> threads;
        void add(const Known& other);
    };
    struct Thread {
        std::uint32_t epoch = 0;  // barriers; above `grid_step` those of the grid
        std::uint32_t fence = 0, came = 0, mask = 0;
        std::shared_ptr<const Known> known;
        std::unique_ptr<std::array<std::uint32_t, lanes>> seen;  // of the warp: stamps that are sure to be over
    };
    struct Block {
        bool fenced = false;
        // By epoch, what came together at the barrier that ended it: whole before the first of them goes on.
        std::map<std::uint32_t, std::shared_ptr<Known>> met;
    };

    Thread& self(std::uint32_t number);
    void meet(std::uint32_t number, std::uint32_t step);

    const std::int64_t threads_;
    const bool whole_grid_;
    std::uint32_t now_ = 0;
    std::vector<Thread> running_;
    std::map<std::int64_t, Block> blocks_;
    std::map<std::uint32_t, std::shared_ptr<Known>> grid_met_;
    std::unordered_map<std::uint64_t, Known> released_;  // by the address of an atomic
};

}  // namespace xcuda::profile::check
