// What the launch's shape and the compiled kernel's needs make of a GPU's multiprocessors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profile/analysis/finding.hpp"
#include "profile/occupancy.hpp"

namespace xcuda::profile::analysis {
namespace {

constexpr int a_small_gpu = 16;  // multiprocessors
constexpr double low = 0.5;      // of the threads that could be resident
constexpr double worth = 1.25;   // times as many, to be named as a change

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// One thing to change, and what it comes to.
struct Change {
    std::string words;
    double share;
};

std::optional<Occupancy> with(const Compiled& c, std::optional<std::int64_t> threads,
                              std::optional<int> registers, std::optional<std::int64_t> shared) {
    device::Attributes attributes = c.attributes;
    if (registers) attributes.registers = *registers;
    device::Shape shape = c.shape;
    if (threads) shape.block = {*threads, 1, 1};
    if (shared) attributes.shared_bytes = *shared, shape.dynamic_shared_bytes = 0;
    return occupancy(c.limits, attributes, shape);
}

std::int64_t shared_of(const Compiled& c) {
    return c.attributes.shared_bytes.value_or(0) + c.shape.dynamic_shared_bytes;
}

std::optional<Change> other_block(const Compiled& c, const Occupancy& now) {
    const std::int64_t threads = c.shape.block.count();
    std::array<std::int64_t, 10> sizes{32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    std::sort(sizes.begin(), sizes.end(), [&](std::int64_t a, std::int64_t b) {  // the nearest first
        return std::abs(std::log2(double(a) / double(threads))) <
               std::abs(std::log2(double(b) / double(threads)));
    });
    for (const std::int64_t n : sizes) {
        const auto then = with(c, n, std::nullopt, std::nullopt);
        if (then && then->share >= worth * now.share && then->share >= low)
            return Change{fmt::format("blocks of {} threads", n), then->share};
    }
    return std::nullopt;
}

std::optional<Change> fewer_registers(const Compiled& c, const Occupancy& now) {
    for (int r = c.attributes.registers.value_or(0) / 8 * 8; r >= 24; r -= 8) {
        const auto then = with(c, std::nullopt, r, std::nullopt);
        if (r < *c.attributes.registers && then && then->share >= worth * now.share)
            return Change{fmt::format("at most {0} registers a thread (@cuda.kernel(max_registers={0}))", r),
                          then->share};
    }
    return std::nullopt;
}

std::optional<Change> less_shared(const Compiled& c, const Occupancy& now) {
    for (std::int64_t bytes = (shared_of(c) - 1) / 1024 * 1024; bytes >= 1024; bytes -= 1024) {
        const auto then = with(c, std::nullopt, std::nullopt, bytes);
        if (then && then->share >= worth * now.share)
            return Change{fmt::format("at most {} KiB of shared memory a block", bytes / 1024), then->share};
    }
    return std::nullopt;
}

std::vector<Change> changes(const Compiled& c, const Occupancy& now) {
    std::vector<Change> all;
    const auto keep = [&](std::optional<Change> one) {
        if (one) all.push_back(std::move(*one));
    };
    if (now.limit == "shared memory") keep(less_shared(c, now));
    // A kernel that names its threads and shares memory among them is written for its block.
    if (!c.names_threads || shared_of(c) == 0) keep(other_block(c, now));
    if (now.limit == "registers") keep(fewer_registers(c, now));
    return all;
}

Place kernel_place(const Subject& subject) { return subject.typed.kernel().place; }

}  // namespace

void part_warps(const Subject& subject, std::vector<Finding>& found) {
    const std::int64_t threads = subject.trace.shape.block.count(), part = threads % warp_lanes;
    if (part == 0) return;
    const std::int64_t whole = (threads + warp_lanes - 1) / warp_lanes * warp_lanes;
    found.push_back({{},
                     kernel_place(subject),
                     fmt::format("a block of {} threads leaves {} of the {} lanes of its {}warp idle",
                                 threads, warp_lanes - part, warp_lanes, threads > warp_lanes ? "last " : ""),
                     fmt::format("launch blocks of a multiple of {} threads: {} here", warp_lanes, whole),
                     static_cast<double>(whole) / static_cast<double>(threads)});
}

void low_occupancy(const Subject& subject, std::vector<Finding>& found) {
    if (!subject.compiled || !subject.compiled->attributes.registers) return;
    const Compiled& c = *subject.compiled;
    const auto now = occupancy(c.limits, c.attributes, c.shape);
    // Half is enough to hide latency, but not where the blocks are merely too small.
    if (!now || now->blocks == 0 || now->share > low || (now->share == low && now->limit != "blocks")) return;
    // A grid that leaves room on the multiprocessors is not kept back by what one of them holds.
    const int units = c.limits.multiprocessors ? c.limits.multiprocessors : a_small_gpu;
    if (c.real_grid && c.shape.grid.count() < now->blocks * units) return;
    const std::vector<Change> better = changes(c, *now);
    if (better.empty()) return;
    std::string words;
    double best = 0;
    for (const Change& change : better) {
        words += fmt::format("{}{} ({})", words.empty() ? "" : ", or ", change.words, percent(change.share));
        best = std::max(best, change.share);
    }
    std::string needs = fmt::format("{} threads a block, {} registers a thread", c.shape.block.count(),
                                    *c.attributes.registers);
    if (shared_of(c) > 0) needs += fmt::format(", {} bytes of shared memory", shared_of(c));
    found.push_back(
        {{},
         kernel_place(subject),
         fmt::format("{} of the threads that a multiprocessor of {} could hold are resident, limited "
                     "by {} ({})",
                     percent(now->share), c.limits.architecture, now->limit, needs),
         "take " + words,
         best / now->share});
}

void register_spills(const Subject& subject, std::vector<Finding>& found) {
    if (!subject.compiled || subject.compiled->spill_bytes == 0) return;
    const Compiled& c = *subject.compiled;
    found.push_back(
        {{},
         kernel_place(subject),
         fmt::format("{} bytes of a thread's values find no room in its {} registers and go to local memory "
                     "({})",
                     c.spill_bytes, c.attributes.registers.value_or(0), c.limits.architecture),
         c.max_registers > 0
             ? fmt::format("raise max_registers={} or leave it out: the compiler then keeps these values",
                           c.max_registers)
             : std::string("keep fewer values at once: split long sums and large local arrays, or the kernel "
                           "in two"),
         std::nullopt});
}

void small_grid(const Subject& subject, std::vector<Finding>& found) {
    if (!subject.compiled || !subject.compiled->real_grid || subject.compiled->limits.multiprocessors == 0)
        return;
    const Compiled& c = *subject.compiled;
    const auto now = occupancy(c.limits, c.attributes, c.shape);
    if (!now || now->blocks == 0) return;
    const std::int64_t blocks = c.shape.grid.count(), units = c.limits.multiprocessors;
    if (blocks == 0) return;
    if (blocks < units) {
        const std::int64_t threads = blocks * c.shape.block.count();
        const bool smaller = c.shape.block.count() > 64 && threads >= 64 * units / 2;
        found.push_back(
            {{},
             kernel_place(subject),
             fmt::format("{} block{} can occupy {} of the {} multiprocessors of {}", blocks,
                         blocks == 1 ? "" : "s", blocks, units, c.limits.architecture),
             smaller ? std::string("launch more and smaller blocks")
                     : std::string("give a launch more work: let a thread do one element instead of several, "
                                   "or several arrays go into one launch"),
             static_cast<double>(units) / static_cast<double>(blocks)});
        return;
    }
    const double waves = static_cast<double>(blocks) / static_cast<double>(now->blocks * units);
    if (waves <= 1 || std::ceil(waves) / waves < worth) return;
    found.push_back(
        {{},
         kernel_place(subject),
         fmt::format("{} blocks fill the {} multiprocessors of {} {} time{}, and the last wave to {} only",
                     blocks, units, c.limits.architecture, static_cast<std::int64_t>(waves),
                     waves < 2 ? "" : "s", percent(waves - std::floor(waves))),
         fmt::format(
             "launch {} blocks and let each thread go on in steps of cuda.gridsize(1), or take smaller "
             "blocks",
             now->blocks * units),
         std::ceil(waves) / waves});
}

}  // namespace xcuda::profile::analysis
