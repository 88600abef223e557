// Shared memory has 32 banks of 4-byte words; lanes that want different words of one bank wait for each other.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {
namespace {

constexpr std::uint64_t banks = 32, word = 4;

// 8-byte elements go in two halves of a warp, 16-byte ones in four: each half asks for at most 128 bytes.
template <class Address>
int passes_of(const Request& request, std::size_t size, const Address& address) {
    const int groups = size > 8 ? 4 : size > 4 ? 2 : 1;
    int most = 0;
    for (int g = 0; g < groups; ++g) {
        std::array<std::set<std::uint64_t>, banks> words;
        for (const Lane& lane : request.lanes) {
            if (static_cast<int>(lane.thread % warp_lanes) * groups / warp_lanes != g) continue;
            const std::uint64_t first = address(lane.value);
            for (std::uint64_t at = first / word; at <= (first + size - 1) / word; ++at)
                words[at % banks].insert(at);
        }
        for (const auto& w : words) most = std::max(most, static_cast<int>(w.size()));
    }
    return most;
}

int passes_of(const Request& request, std::size_t size) {
    return passes_of(request, size, [](std::uint64_t value) { return value; });
}

/// All accesses of the traced blocks to one shared array, a list a block.
struct Uses {
    std::size_t size = 1;
    std::vector<std::vector<const Request*>> blocks;
};

Uses uses_of(const Subject& subject, const ir::Var& array) {
    Uses uses{info(array.type.dtype).size, {}};
    for (const Requests& block : subject.seen) {
        uses.blocks.emplace_back();
        for (const Request& r : block.all)
            if ((r.what == launch::TraceRecord::What::read || r.what == launch::TraceRecord::What::write) &&
                array_of(subject, r.where) == &array)
                uses.blocks.back().push_back(&r);
    }
    return uses;
}

/// Passes an access takes in the mean if the rows were so many elements longer.
double mean_passes(const Uses& uses, std::uint64_t row, std::uint64_t longer) {
    double passes = 0, requests = 0;
    for (const auto& block : uses.blocks) {
        std::uint64_t base = ~std::uint64_t{0};
        for (const Request* r : block)
            for (const Lane& lane : r->lanes) base = std::min(base, lane.value);
        for (const Request* r : block) {
            passes += passes_of(*r, uses.size, [&](std::uint64_t value) {
                const std::uint64_t at = (value - base) / uses.size;
                return (at + at / row * longer) * uses.size;
            });
            ++requests;
        }
    }
    return requests > 0 ? passes / requests : 1;
}

/// How much longer the rows must be for hardly any conflict to be left; 0 where that does not help.
std::uint64_t padding(const Subject& subject, const ir::Var& array) {
    if (array.type.extents.size() < 2) return 0;
    const Uses uses = uses_of(subject, array);
    const auto row = static_cast<std::uint64_t>(array.type.extents.back());
    for (std::uint64_t longer = 1; longer <= banks; ++longer)
        if (mean_passes(uses, row, longer) < 1.2) return longer;
    return 0;
}

/// Words from lane to lane where it is always the same number, as in most kernels; and the banks that they meet in.
struct Pattern {
    std::optional<std::int64_t> step;
    bool same = true;
    std::size_t most_banks = 0;
};

void add(Pattern& p, const Request& request) {
    std::set<std::uint64_t> met;
    for (std::size_t i = 0; i < request.lanes.size(); ++i) {
        met.insert(request.lanes[i].value / word % banks);
        if (i == 0 || request.lanes[i].thread != request.lanes[i - 1].thread + 1) continue;
        const auto bytes = static_cast<std::int64_t>(request.lanes[i].value - request.lanes[i - 1].value);
        if (!p.step) p.step = bytes;
        p.same &= bytes == *p.step;
    }
    p.most_banks = std::max(p.most_banks, met.size());
}

std::string told(const Pattern& p) {
    const std::string lie = fmt::format("a warp's lanes meet in {} of the {} banks", p.most_banks, banks);
    if (!p.step || !p.same || *p.step % static_cast<std::int64_t>(word) != 0) return lie;
    const std::int64_t words = std::abs(*p.step) / static_cast<std::int64_t>(word);
    return fmt::format("neighbouring threads are {} word{} of 4 bytes apart, so that {}", words,
                       words == 1 ? "" : "s", lie);
}

std::string padded(const ir::Var& array, std::uint64_t longer) {
    std::string text = "(";
    const auto& extents = array.type.extents;
    for (std::size_t i = 0; i < extents.size(); ++i)
        text += fmt::format("{}{}", i ? ", " : "",
                            extents[i] + (i + 1 == extents.size() ? static_cast<std::int64_t>(longer) : 0));
    return text + (extents.size() == 1 ? ",)" : ")");
}

}  // namespace

void bank_conflicts(const Subject& subject, std::vector<Finding>& found) {
    using What = launch::TraceRecord::What;
    for (const What what : {What::read, What::write}) {
        for (const auto& [site, blocks] : places(subject.seen, what)) {
            const ir::Var* array = array_of(subject, site);
            if (!array || array->type.space != ir::Space::shared) continue;
            const std::size_t size = element_size(subject, site);
            double ways = 0;
            int requests = 0;
            Pattern pattern;
            for (const auto& all : blocks)
                for (const Request& r : all) {
                    const int passes = passes_of(r, size);
                    if (passes > 1) add(pattern, r);
                    ways += passes;
                    ++requests;
                }
            if (requests == 0 || ways < 2.0 * requests) continue;
            const double mean = ways / requests;
            const std::uint64_t longer = padding(subject, *array);
            std::string advice =
                longer > 0 ? fmt::format("make the rows {} element{} longer: cuda.shared.array({}, ...)",
                                         longer, longer == 1 ? "" : "s", padded(*array, longer))
                           : std::string(
                                 "let neighbouring threads use neighbouring elements, for example by halving "
                                 "the stride "
                                 "(sequential addressing) in a reduction, or leave a gap every 32 elements "
                                 "(index + index "
                                 "// 32)");
            found.push_back({{},
                             subject.trace.module.sites[static_cast<std::size_t>(site)].place,
                             fmt::format("{} {}: {}; an access waits for others of its warp, {} deep",
                                         what == What::read ? "reading" : "writing", array->name,
                                         told(pattern), short_number(mean)),
                             std::move(advice),
                             mean,
                             array->name});
        }
    }
}

}  // namespace xcuda::profile::analysis
