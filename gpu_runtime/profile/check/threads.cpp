#include "profile/check/threads.hpp"

#include <algorithm>

namespace xcuda::profile::check {

namespace {

template <class Map, class Key>
void raise_to(Map& map, const Key& key, std::uint32_t value) {
    auto& found = map[key];
    found = std::max(found, value);
}

}  // namespace

void Threads::Known::add(const Known& other) {
    for (const auto& [block, epoch] : other.blocks) raise_to(blocks, block, epoch);
    for (const auto& [thread, stamp] : other.threads) raise_to(threads, thread, stamp);
}

Threads::Threads(const device::Shape& shape, bool whole_grid)
    : threads_(std::max<std::int64_t>(shape.block.count(), 1)),
      whole_grid_(whole_grid),
      running_(static_cast<std::size_t>(threads_ * (whole_grid ? shape.grid.count() : 1))) {}

void Threads::begin_block(std::int64_t) {
    if (whole_grid_) return;
    for (Thread& t : running_) t = {};
    blocks_.clear();
}

Threads::Thread& Threads::self(std::uint32_t number) {
    return running_[whole_grid_ ? number : thread_of(number)];
}

bool Threads::before(const Access& then, std::uint32_t number) {
    if (then.thread == number) return true;
    const Thread& me = self(number);
    const std::int64_t theirs = block_of(then.thread), mine = block_of(number);
    if (theirs == mine) {
        if (then.epoch < me.epoch) return true;
        const std::uint32_t lane = thread_of(then.thread);
        if (me.seen && lane / lanes == thread_of(number) / lanes && (*me.seen)[lane % lanes] >= then.stamp)
            return true;
    }
    if (whole_grid_ && then.epoch / grid_step < me.epoch / grid_step) return true;
    if (!me.known) return false;
    const auto block = me.known->blocks.find(theirs);
    if (block != me.known->blocks.end() && then.epoch < block->second) return true;
    const auto thread = me.known->threads.find(then.thread);
    return thread != me.known->threads.end() && then.stamp <= thread->second;
}

void Threads::meet(std::uint32_t number, std::uint32_t step) {
    Thread& me = self(number);
    auto& met = step == grid_step ? grid_met_ : blocks_[block_of(number)].met;
    auto& together = met[me.epoch];
    if (!together) together = std::make_shared<Known>();
    if (me.known) together->add(*me.known);
    me.epoch += step;
    me.known = together;
}

void Threads::barrier(std::uint32_t number) { meet(number, 1); }

void Threads::grid_barrier(std::uint32_t number) { meet(number, grid_step); }

void Threads::lane_comes(std::uint32_t number, std::uint32_t mask) {
    Thread& me = self(number);
    me.came = tick();
    me.mask = mask;
}

void Threads::lanes_met(std::uint32_t number) {
    Thread& me = self(number);
    if (!me.seen) me.seen = std::make_unique<std::array<std::uint32_t, lanes>>();
    const std::uint32_t thread = thread_of(number), first = thread / lanes * lanes;
    for (std::uint32_t lane = 0; lane < lanes && first + lane < threads_; ++lane) {
        if (!(me.mask >> lane & 1)) continue;
        const Thread& other = self(number - thread + first + lane);
        (*me.seen)[lane] = std::max((*me.seen)[lane], other.came);
        for (std::uint32_t i = 0; other.seen && i < lanes; ++i)
            if (i != lane) (*me.seen)[i] = std::max((*me.seen)[i], (*other.seen)[i]);
    }
}

void Threads::fence(std::uint32_t number) {
    self(number).fence = tick();
    blocks_[block_of(number)].fenced = true;
}

void Threads::atomic(std::uint32_t number, std::uint64_t address) {
    Thread& me = self(number);
    if (const auto found = released_.find(address); found != released_.end()) {
        Known known = me.known ? *me.known : Known{};
        known.add(found->second);
        me.known = std::make_shared<const Known>(std::move(known));
    }
    const auto block = blocks_.find(block_of(number));
    if (block == blocks_.end() || !block->second.fenced) return;
    Known& out = released_[address];
    if (me.known) out.add(*me.known);
    raise_to(out.blocks, block_of(number), me.epoch);
    if (me.fence > 0) raise_to(out.threads, number, me.fence);
    const std::uint32_t first = number - thread_of(number) % lanes;
    for (std::uint32_t lane = 0; me.seen && lane < lanes; ++lane)
        if ((*me.seen)[lane] > 0) raise_to(out.threads, first + lane, (*me.seen)[lane]);
}

}  // namespace xcuda::profile::check
