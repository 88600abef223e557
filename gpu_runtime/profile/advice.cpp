#include "profile/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profile/occupancy.hpp"
#include "profile/units.hpp"

namespace xcuda::profile {
namespace {

using Say = std::optional<std::string>;

std::string shape(const device::Dim3& d) {
    return d.z > 1   ? fmt::format("{}x{}x{}", d.x, d.y, d.z)
           : d.y > 1 ? fmt::format("{}x{}", d.x, d.y)
                     : fmt::format("{}", d.x);
}

Say part_warps(const KernelRow& r, const Surroundings&) {
    const auto threads = r.shape.block.count();
    if (!r.has_warps()) return {};
    const auto warp = r.device->info.warp_size;
    if (threads % warp == 0) return {};
    const auto idle = warp - threads % warp;
    return fmt::format(
        "A block of {} threads leaves {} of the {} lanes of its last warp idle; make the block's size a "
        "multiple of {}.",
        threads, idle, warp, warp);
}

Say narrow_block(const KernelRow& r, const Surroundings&) {
    if (!r.has_warps() || r.shape.block.y * r.shape.block.z == 1) return {};
    const auto x = r.shape.block.x, warp = static_cast<std::int64_t>(r.device->info.warp_size);
    if (x * 2 > warp) return {};
    return fmt::format(
        "The block {} is only {} threads wide in x, so a warp's accesses are spread over {} rows; {} in x "
        "keeps them together.",
        shape(r.shape.block), x, warp / std::max<std::int64_t>(x, 1), warp);
}

Say few_blocks(const KernelRow& r, const Surroundings&) {
    if (!r.has_warps()) return {};
    const auto blocks = r.shape.grid.count();
    const int units = r.device->info.multiprocessors;
    if (blocks >= units || blocks == 0) return {};
    return fmt::format(
        "{} block{} can occupy {} of the {} multiprocessors; smaller blocks, or more work a launch, "
        "would use the rest.",
        blocks, blocks == 1 ? "" : "s", blocks, units);
}

Say few_blocks_on_workers(const KernelRow& r, const Surroundings&) {
    const auto& how = r.kernel->how;
    if (r.has_warps() || !r.device || !(how.starts_with("regions") || how.starts_with("fibers"))) return {};
    const auto blocks = r.shape.grid.count();
    const int workers = r.device->info.multiprocessors;
    if (blocks >= workers || blocks == 0) return {};
    return fmt::format(
        "A kernel with barriers runs a block on one worker: {} block{} left {} of the {} workers without "
        "work.",
        blocks, blocks == 1 ? "" : "s", workers - blocks, workers);
}

Say low_occupancy(const KernelRow& r, const Surroundings&) {
    if (!r.has_warps()) return {};
    const auto found = occupancy(r.device->info, r.kernel->attributes, r.shape);
    if (!found || found->share >= 0.5) return {};
    return fmt::format("Occupancy is {:.0f} %, limited by {}.", 100 * found->share, found->limit);
}

Say spills(const KernelRow& r, const Surroundings&) {
    const auto bytes = r.kernel->attributes.local_bytes.value_or(0);
    if (!r.has_warps() || bytes == 0) return {};
    return fmt::format(
        "Each thread keeps {} bytes in local memory (local arrays, or values that found no register).",
        bytes);
}

Say fibers(const KernelRow& r, const Surroundings&) {
    if (r.has_warps() || !r.device || !r.kernel->how.starts_with("fibers")) return {};
    return "Each thread ran as a fiber of its own, because not all threads of a block are seen to reach the "
           "same "
           "barriers; with every syncthreads() outside of conditions that differ between threads, the block "
           "runs as "
           "vector loops.";
}

Say strided_argument(const KernelRow& r, const Surroundings&) {
    const auto& s = r.kernel->signature;
    int argument = 1;
    for (std::size_t i = 0, depth = 0; i < s.size(); ++i) {
        if (s[i] == '[') ++depth;
        if (s[i] == ']') {
            --depth;
            if (i > 0 && s[i - 1] == ':' && !(i > 2 && s[i - 2] == ':')) {
                return fmt::format(
                    "Argument {} is not contiguous along its last axis, so neighbouring elements are not "
                    "neighbours in memory; a contiguous copy (numpy.ascontiguousarray) is read in whole "
                    "vectors.",
                    argument);
            }
        }
        if (s[i] == ',' && depth == 0) ++argument;
    }
    return {};
}

Say compile_dominates(const KernelRow& r, const Surroundings& cell) {
    // A first compile of a fraction of a second is nobody's problem.
    if (!cell.compiled_of(r.kernel->name) || cell.compile_seconds < 0.5) return {};
    if (cell.device_seconds <= 0 || cell.compile_seconds < 5 * cell.device_seconds) return {};
    return fmt::format(
        "Compiling took {}, running {}. The compiled kernel is kept: the next call with such arguments "
        "starts at once.",
        in_unit(cell.compile_seconds, "s"), in_unit(cell.device_seconds, "s"));
}

Say many_specialisations(const KernelRow& r, const Surroundings& cell) {
    const int n = cell.compiled_of(r.kernel->name);
    if (n < 3) return {};
    return fmt::format(
        "It was compiled {} times here, once for each new set of argument types, layouts or block shape; "
        "calls that agree in those share one.",
        n);
}

Say copies_each_launch(const KernelRow& r, const Surroundings& cell) {
    if (r.calls < 2 || cell.copies_in < cell.launches || cell.copy_seconds < cell.device_seconds) return {};
    return fmt::format(
        "{} copies to the device for {} launches took {}, the kernels {}: move arrays once with "
        "cuda.to_device and launch on those.",
        cell.copies_in, cell.launches, in_unit(cell.copy_seconds, "s"), in_unit(cell.device_seconds, "s"));
}

Say copied_in_earlier_cells(const KernelRow&, const Surroundings& cell) {
    constexpr double small = 1e6;  // bytes
    if (cell.bytes_again < small || cell.seconds_again < 0.1 * cell.device_seconds) return {};
    return fmt::format(
        "{} of host arrays went to the device again ({}, {}), though an earlier cell had sent the same "
        "arrays: keep them "
        "there with cuda.to_device, and fetch only what is looked at (copy_to_host).",
        in_unit(cell.bytes_again, "B"),
        cell.copies_again == 1 ? "1 copy" : fmt::format("{} copies", cell.copies_again),
        in_unit(cell.seconds_again, "s"));
}

Say many_short_launches(const KernelRow& r, const Surroundings&) {
    if (r.timed - r.replayed < 200 || r.total / r.timed > 10e-6) return {};
    return fmt::format(
        "{} launches took {} each on the device; at that length starting them costs as much as running "
        "them. One launch over more elements, or a graph of the launches (cuda.graph()), is faster.",
        r.timed, in_unit(r.total / r.timed, "s"));
}

Say failed(const KernelRow& r, const Surroundings&) {
    if (!r.failed) return {};
    return fmt::format("{} of {} launches stopped with an error; the figures leave {} out.", r.failed,
                       r.calls, r.failed == 1 ? "it" : "them");
}

constexpr AdviceRule table[] = {
    {"failed", false, failed},
    {"strided-argument", false, strided_argument},
    {"fibers", false, fibers},
    {"part-warps", false, part_warps},
    {"narrow-block", false, narrow_block},
    {"few-blocks", false, few_blocks},
    {"few-blocks-on-workers", false, few_blocks_on_workers},
    {"low-occupancy", false, low_occupancy},
    {"spills", false, spills},
    {"many-short-launches", false, many_short_launches},
    {"many-specialisations", false, many_specialisations},
    {"copies-each-launch", true, copies_each_launch},
    {"copied-in-earlier-cells", true, copied_in_earlier_cells},
    {"compile-dominates", true, compile_dominates},
};

}  // namespace

int Surroundings::compiled_of(const std::string& kernel) const {
    return static_cast<int>(std::count(compiled_names.begin(), compiled_names.end(), kernel));
}

std::span<const AdviceRule> advice_rules() { return table; }

std::vector<Advice> advise(const std::vector<KernelRow>& rows, const Surroundings& cell) {
    std::vector<Advice> all;
    std::set<std::pair<std::string_view, std::string>> said;  // two shapes of one kernel need it once
    for (const auto& rule : table) {
        for (const auto& row : rows) {
            if (row.foreign) continue;  // not the user's to change
            auto text = rule.say(row, cell);
            if (!text ||
                !said.emplace(rule.name, rule.once ? "" : row.kernel->name + row.kernel->signature).second)
                continue;
            all.push_back({rule.name, std::move(*text), row.kernel->name, row.kernel->place});
        }
    }
    return all;
}

}  // namespace xcuda::profile
