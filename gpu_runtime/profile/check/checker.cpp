#include "profile/check/checker.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "profile/constant_stores.hpp"

namespace xcuda::profile::check {

Checker::Checker(const launch::Watched& kernel, std::span<const launch::Argument> arguments,
                 const Options& options, int run, Findings& findings)
    : Watcher{[](Watcher* w, std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                 std::uint64_t address,
                 std::uint64_t bytes) { of(w).touched(block, thread, what, site, address, bytes); },
              [](Watcher* w, std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                 std::uint64_t value) { of(w).passed(block, thread, what, site, value); },
              [](Watcher* w, std::int64_t block, std::uint32_t thread, std::int32_t variable,
                 std::uint64_t address, std::uint64_t bytes) {
                  Checker& self = of(w);
                  self.settle();
                  if (self.map_.lies(variable, self.threads_.number(block, thread), address, bytes))
                      self.shadow_.forget(address, bytes);
              },
              [](Watcher* w, std::int64_t block, std::uint32_t thread, std::int32_t operation, double value,
                 double a, double b) { of(w).gave(block, thread, operation, value, a, b); },
              [](Watcher* w, std::int64_t turn) { return of(w).block_at(turn); },
              [](Watcher* w) {
                  Checker& self = of(w);
                  self.left = self.mixes_ ? static_cast<std::int64_t>(self.random_() % 24) : INT64_MAX;
              }},
      kernel_(kernel),
      options_(options),
      findings_(findings),
      map_(kernel.module, *kernel.module.fiber, arguments),
      threads_(kernel.shape, kernel.module.whole_grid),
      constant_(constant_stores(kernel.module)),
      blocks_(static_cast<std::size_t>(kernel.shape.grid.count())),
      random_(options.seed * 1000003 + static_cast<std::uint64_t>(run)),
      mixes_(run >= 2) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
    if (run == 1) std::reverse(blocks_.begin(), blocks_.end());
    if (run > 1) std::shuffle(blocks_.begin(), blocks_.end(), random_);
    if (run > 0) order = random_() | 1;
    if (mixes_) left = 1;
}

std::int64_t Checker::block_at(std::int64_t turn) {
    settle();
    end_block();
    if (turn >= static_cast<std::int64_t>(blocks_.size())) return -1;
    block_ = blocks_[static_cast<std::size_t>(turn)];
    map_.begin_block();
    threads_.begin_block(block_);
    if (order != 0) order = random_() | 1;
    return block_;
}

const Place& Checker::place_of(std::int32_t site) const {
    return kernel_.module.sites[static_cast<std::size_t>(site)].place;
}

std::string Checker::words(std::uint32_t number, bool with_block) const {
    return thread_words(kernel_.shape, threads_.block_of(number), threads_.thread_of(number), with_block);
}

bool Checker::is_unset(const Range& range, std::uint64_t address, std::uint64_t bytes) const {
    const auto parameter = static_cast<std::size_t>(range.parameter);
    if (range.parameter < 0 || parameter >= options_.unset.size() || !options_.unset[parameter]) return false;
    const auto pattern = unset_pattern();
    if (bytes < 4) {  // so few bytes may hold the pattern by chance: with their neighbours
        const std::uint64_t from = std::max(range.begin, address & ~std::uint64_t{7});
        bytes = std::min(range.end, (address & ~std::uint64_t{7}) + 8) - from;
        address = from;
        if (bytes < 4) return false;
    }
    for (std::uint64_t i = address; i < address + bytes; ++i)
        if (*reinterpret_cast<const unsigned char*>(i) != pattern[i % pattern.size()]) return false;
    return true;
}

void Checker::touched(std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                      std::uint64_t address, std::uint64_t bytes) {
    settle();
    if (++steps_ > options_.most_steps || shadow_.cells() > 6'000'000) {
        cut_ = true;
        return;
    }
    const std::uint32_t number = threads_.number(block, thread);
    const Range* range = map_.find(address, site, number);
    if (!range) return;
    const bool as_told = bytes != 0;
    if (!as_told) bytes = range->element;
    threads_.tick();
    const Access now = threads_.access(number, site);
    if (what == What::read) {
        read(now, address, bytes, *range);
        return;
    }
    if (what == What::write) {
        pending_ = {true, false, now, address, bytes, {}};
        // Where strides are in bytes the operands may be told of after the write is: it counts as a change.
        pending_.compared = as_told && bytes <= pending_.before.size();
        if (pending_.compared)
            std::memcpy(pending_.before.data(), reinterpret_cast<const void*>(address), bytes);
        else
            settle();
        return;
    }
    if (range->space != ir::Space::local) threads_.atomic(number, address);
    shadow_.each(address, bytes, [&](Cell& cell) {
        meet(cell, cell.write, "writes", now, "changes", address);
        cell.atomic = now;
    });
    bool fresh = false;
    shadow_.each(address, bytes, [&](Cell& cell) { fresh |= !cell.written; });
    if (fresh) read(now, address, bytes, *range);
    shadow_.each(address, bytes, [&](Cell& cell) { cell.written = true; });
}

void Checker::read(const Access& now, std::uint64_t address, std::uint64_t bytes, const Range& range) {
    bool empty = false;
    shadow_.each(address, bytes, [&](Cell& cell) {
        if (cell.atomic.stamp != now.stamp) {  // an atomic's own reading is no plain one
            meet(cell, cell.write, "writes", now, "reads", address);
            if (cell.read.site >= 0 && cell.read.thread != now.thread) cell.other_read = cell.read;
            cell.read = now;
        }
        empty |= !cell.written;
    });
    if (!empty) return;
    const bool unset = range.space == ir::Space::global ? is_unset(range, address, bytes) : true;
    shadow_.each(address, bytes, [](Cell& cell) { cell.written = true; });  // said once
    if (!unset) return;
    tell_unset(
        findings_, place_of(now.site), map_.name(range), range.space,
        [&] { return map_.element(address, now.site, now.thread); }, words(now.thread, true));
}

void Checker::settle() {
    if (!pending_.open) return;
    pending_.open = false;
    const Access& now = pending_.access;
    bool fresh = false;
    shadow_.each(pending_.address, pending_.bytes, [&](Cell& cell) { fresh |= !cell.written; });
    const bool silent = pending_.compared && !fresh &&
                        std::memcmp(reinterpret_cast<const void*>(pending_.address), pending_.before.data(),
                                    pending_.bytes) == 0;
    shadow_.each(pending_.address, pending_.bytes, [&](Cell& cell) {
        cell.written = true;
        if (silent) return;  // whoever reads meanwhile reads the same
        if (!(constant_.contains(now.site) && cell.write.site == now.site))
            meet(cell, cell.write, "writes", now, "writes", pending_.address);
        meet(cell, cell.read, "reads", now, "writes", pending_.address);
        meet(cell, cell.other_read, "reads", now, "writes", pending_.address);
        meet(cell, cell.atomic, "changes", now, "writes", pending_.address);
        cell.write = now;
    });
}

void Checker::meet(const Cell& cell, const Access& then, const char* did, const Access& now, const char* does,
                   std::uint64_t address) {
    if (then.site < 0 || threads_.before(then, now.thread)) return;
    const Range* a = map_.find(address, then.site, now.thread);
    const std::string other = a ? map_.name(*a) : std::string();
    const Range* b = map_.find(address, now.site, now.thread);
    if (!b) return;
    const Place &first = place_of(then.site), &second = place_of(now.site);
    const Access& writer = *did == 'w' ? then : now;
    const auto read_there = [&](const Access& read) {
        return read.site >= 0 && read.thread == writer.thread && place_of(read.site).line == first.line;
    };
    tell(findings_, {first, second, did, does, map_.name(*b), other, b->space}, [&] {
        const bool one_block = threads_.block_of(then.thread) == threads_.block_of(now.thread);
        return MeetingWords{words(then.thread, true),
                            words(now.thread, !one_block),
                            map_.element(address, now.site, now.thread),
                            map_.element(address, then.site, then.thread),
                            one_block,
                            read_there(cell.read) || read_there(cell.other_read)};
    });
}

void Checker::passed(std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                     std::uint64_t value) {
    settle();
    const std::uint32_t number = threads_.number(block, thread);
    switch (what) {
        case What::barrier:
            threads_.barrier(number);
            if (site >= 0 && !kernel_.module.whole_grid) {
                auto& counts = passes_[site];
                counts.resize(static_cast<std::size_t>(kernel_.shape.block.count()));
                ++counts[thread];
            }
            return;
        case What::grid: threads_.grid_barrier(number); return;
        case What::lane: threads_.lane_comes(number, static_cast<std::uint32_t>(value)); return;
        case What::warp: threads_.lanes_met(number); return;
        case What::fence: threads_.fence(number); return;
        default: return;
    }
}

void Checker::end_block() {
    for (const auto& [site, counts] : passes_) {
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        if (*least == *most) continue;
        const auto thread = [&](auto at) { return triple(at - counts.begin(), kernel_.shape.block); };
        tell_parted(findings_, place_of(site),
                    {triple(block_, kernel_.shape.grid), thread(most), thread(least), *most, *least});
    }
    passes_.clear();
}

void Checker::gave(std::int64_t block, std::uint32_t thread, std::int32_t operation, double value, double a,
                   double b) {
    if (!options_.finite || order != 0)
        return;  // as the threads are numbered: others may only follow from races
    tell_born(findings_, kernel_.points.operations[static_cast<std::size_t>(operation)], value, a, b,
              words(threads_.number(block, thread), true));
}

void Checker::finish(bool whole) {
    settle();
    if (whole) end_block();
    passes_.clear();
}

}  // namespace xcuda::profile::check
