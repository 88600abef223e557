// Shared memory has 32 banks of 4-byte words; lanes that want different words of one bank wait for each other.
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {
namespace {

constexpr std::uint64_t banks = 32, word = 4;

// 8-byte elements go in two halves of a warp, 16-byte ones in four: each half asks for at most 128 bytes.
int passes_of(const Request& request, std::size_t size) {
    const int groups = size > 8 ? 4 : size > 4 ? 2 : 1;
    int most = 0;
    for (int g = 0; g < groups; ++g) {
        std::array<std::set<std::uint64_t>, banks> words;
        for (const Lane& lane : request.lanes) {
            if (static_cast<int>(lane.thread % warp_lanes) * groups / warp_lanes != g) continue;
            for (std::uint64_t at = lane.value / word; at <= (lane.value + size - 1) / word; ++at)
                words[at % banks].insert(at);
        }
        for (const auto& w : words) most = std::max(most, static_cast<int>(w.size()));
    }
    return most;
}

std::string padded(const ir::Var& array) {
    std::string text = "(";
    const auto& extents = array.type.extents;
    for (std::size_t i = 0; i < extents.size(); ++i)
        text += fmt::format("{}{}", i ? ", " : "", extents[i] + (i + 1 == extents.size()));
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
            for (const auto& all : blocks)
                for (const Request& r : all) {
                    ways += passes_of(r, size);
                    ++requests;
                }
            if (requests == 0 || ways < 2.0 * requests) continue;
            const double mean = ways / requests;
            std::string advice =
                array->type.ndim > 1
                    ? fmt::format("make the rows one element longer: cuda.shared.array({}, ...)",
                                  padded(*array))
                    : std::string(
                          "let neighbouring threads use neighbouring elements, for example by "
                          "halving the stride (sequential addressing) in a reduction");
            found.push_back(
                {{},
                 subject.trace.module.sites[static_cast<std::size_t>(site)].place,
                 fmt::format("{} {}: the lanes of a warp meet in one bank of shared memory, {} deep",
                             what == What::read ? "reading" : "writing", array->name, short_number(mean)),
                 std::move(advice),
                 mean});
        }
    }
}

}  // namespace xcuda::profile::analysis
