#include "profile/check/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "profile/constant_stores.hpp"

namespace xcuda::profile::check {

namespace {

std::string triple(std::int64_t linear, const device::Dim3& d) {
    return fmt::format("({}, {}, {})", linear % d.x, linear / d.x % d.y, linear / d.x / d.y);
}

std::string shown(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

}  // namespace

Finding* Findings::add(std::string_view rule, const Place& place, const Place& other,
                       const std::string& subject) {
    const auto [at, fresh] =
        found_.try_emplace({rule, place.file, place.line, other.line, subject}, Finding{});
    if (!fresh) {
        ++at->second.count;
        return nullptr;
    }
    at->second.rule = rule;
    at->second.place = place;
    at->second.other = other;
    at->second.subject = subject;
    return &at->second;
}

std::vector<Finding> Findings::take() {
    std::vector<Finding> all;
    // An element that is read too early, by a race, has often no value yet: the race is what is to be mended.
    std::set<std::tuple<std::string, std::string, int>> raced;
    for (const auto& [key, f] : found_)
        if (f.rule == "race" || f.rule == "overlap")
            for (const int line : {f.place.line, f.other.line}) raced.emplace(f.subject, f.place.file, line);
    for (auto& [key, f] : found_)
        if (f.rule != "uninitialised-read" || !raced.contains({f.subject, f.place.file, f.place.line}))
            all.push_back(std::move(f));
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
        return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
    });
    return all;
}

bool Findings::any_cause() const {
    return std::any_of(found_.begin(), found_.end(), [](const auto& entry) {
        const std::string_view rule = entry.second.rule;
        return rule == "race" || rule == "overlap" || rule == "uninitialised-read";
    });
}

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
      map_(kernel, arguments),
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

std::string Checker::thread_words(std::uint32_t number, bool with_block) const {
    std::string text = "thread " + triple(threads_.thread_of(number), kernel_.shape.block);
    if (with_block) text += " of block " + triple(threads_.block_of(number), kernel_.shape.grid);
    return text;
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
    Finding* f = findings_.add("uninitialised-read", place_of(now.site), {}, map_.name(range));
    if (!f) return;
    f->evidence = fmt::format("{} is read by {} before anything was written to it",
                              map_.element(address, now.site, now.thread), thread_words(now.thread, true));
    f->advice =
        range.space == ir::Space::shared
            ? fmt::format(
                  "set every element first, then cuda.syncthreads(): shared memory starts with whatever "
                  "lay there")
        : range.space == ir::Space::local
            ? std::string("set every element first: a local array starts with whatever lay there")
            : fmt::format(
                  "make it with cuda.zeros(...) or cuda.to_device(...), or write every element first: "
                  "cuda.device_array starts with whatever lay there");
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
    const Place &first = place_of(then.site), &second = place_of(now.site);
    const bool swapped = first.line > second.line;
    const Range* a = map_.find(address, then.site, now.thread);
    const std::string other = a ? map_.name(*a) : std::string();
    const Range* b = map_.find(address, now.site, now.thread);
    if (!b) return;
    const std::string name = map_.name(*b);
    const bool overlap = b->space == ir::Space::global && other != name && !other.empty();
    const std::string subject =
        overlap ? fmt::format("{}, {}", std::min(name, other), std::max(name, other)) : name;
    Finding* f = findings_.add(overlap ? "overlap" : "race", swapped ? first : second,
                               swapped ? second : first, subject);
    if (!f) return;
    const bool one_block = threads_.block_of(then.thread) == threads_.block_of(now.thread);
    const std::string element = map_.element(address, now.site, now.thread);
    f->evidence = fmt::format(
        "{}{}: {} {} it at line {}, {} {} it at line {}, with no {} between: which comes first is left to "
        "chance",
        element,
        overlap ? " and " + map_.element(address, then.site, then.thread) + " are the same memory" : "",
        thread_words(then.thread, true), did, first.line, thread_words(now.thread, !one_block), does,
        second.line, one_block ? "barrier or atomic" : "atomic and fence");
    const bool shared = b->space == ir::Space::shared;
    // The line reads and writes the same element: what an atomic does at once.
    const Access& writer = *did == 'w' ? then : now;
    const auto read_there = [&](const Access& read) {
        return read.site >= 0 && read.thread == writer.thread && place_of(read.site).line == first.line;
    };
    const bool one_line = first.line == second.line && !(*did == 'w' && *does == 'w');
    if (overlap)
        f->advice =
            fmt::format("pass arrays that do not share memory ({}.copy())", *does == 'r' ? name : other);
    else if (one_line && (read_there(cell.read) || read_there(cell.other_read)))
        f->advice = fmt::format(
            "where each thread adds to it, cuda.atomic.add({}, index, value); else {}", name,
            shared ? "put cuda.syncthreads() between the turns" : "let each thread write its own element");
    else if (one_line && !shared)
        f->advice = "write to another array than the one that is read, or make two launches of it";
    else if (shared)
        f->advice =
            "put cuda.syncthreads() between the two lines (in a loop: also before the next turn writes)";
    else if (one_block)
        f->advice = "put cuda.syncthreads() between the two lines, or let each thread write its own element";
    else
        f->advice =
            "let each thread write its own element, use cuda.atomic, or make two launches of it: blocks run "
            "in any order";
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
        Finding* f = findings_.add("divergent-barrier", place_of(site), {}, "");
        if (!f) continue;
        const auto thread = [&](auto at) { return triple(at - counts.begin(), kernel_.shape.block); };
        const auto times = [](std::uint32_t n) {
            return n == 0 ? std::string("never") : n == 1 ? "once" : fmt::format("{} times", n);
        };
        f->evidence = fmt::format("in block {} thread {} comes to this barrier {}, thread {} {}",
                                  triple(block_, kernel_.shape.grid), thread(most), times(*most),
                                  thread(least), times(*least));
        f->advice =
            "let all threads of the block reach it: take cuda.syncthreads() out of the condition, and guard "
            "only "
            "the reads and writes before and after it";
    }
    passes_.clear();
}

void Checker::gave(std::int64_t block, std::uint32_t thread, std::int32_t operation, double value, double a,
                   double b) {
    if (!options_.finite || order != 0)
        return;  // as the threads are numbered: others may only follow from races
    const emit::WatchedOperation& op = kernel_.points.operations[static_cast<std::size_t>(operation)];
    Finding* f = findings_.add(std::isnan(value) ? "nan" : "inf", op.place, {}, op.name);
    if (!f) return;
    const bool infix = !std::isalpha(static_cast<unsigned char>(op.name.front()));
    const std::string text = infix             ? fmt::format("{} {} {}", shown(a), op.name, shown(b))
                             : op.operands > 1 ? fmt::format("{}({}, {})", op.name, shown(a), shown(b))
                                               : fmt::format("{}({})", op.name, shown(a));
    f->evidence = fmt::format("{} gives {} in {}, of finite numbers", text, shown(value),
                              thread_words(threads_.number(block, thread), true));
    f->advice = std::isnan(value)
                    ? "keep such values away from it (an if, or max(x, 0.0)), or use what is defined "
                      "for them"
                : op.name == "/" ? "keep the divisor from 0: if y != 0.0, or x / max(y, least)"
                                 : "compute in float64, or scale the numbers first";
}

void Checker::finish(bool whole) {
    settle();
    if (whole) end_block();
    passes_.clear();
}

}  // namespace xcuda::profile::check
