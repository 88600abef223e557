#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

namespace {

constexpr Rule table[] = {
    {"out-of-range", "an index that leaves its array", out_of_range},
    {"race", "two threads, one element, a write, and no barrier between", races},
    {"divergent-barrier", "a barrier that some threads of a block pass and others do not", divergent_barriers},
    {"strided-access", "a warp's accesses lie apart, so that each costs a transaction of its own",
     strided_accesses},
    {"contended-atomics", "many atomic operations on few elements", contended_atomics},
    {"bank-conflict", "lanes of a warp meet in one bank of shared memory", bank_conflicts},
    {"accumulation-in-memory", "a sum is kept in an array's element instead of a variable",
     accumulation_in_memory},
    {"repeated-reads", "a block reads the same elements again and again from global memory", repeated_reads},
    {"loop-invariant-load", "an element is read anew in each turn of a loop that does not change it",
     loop_invariant_loads},
    {"divergent-branch", "the threads of a warp part at a branch", divergent_branches},
    {"uneven-loop", "the threads of a warp turn a loop for different times", uneven_loops},
    {"float64-arithmetic", "float64 arithmetic in a kernel whose arrays are narrower", float64_arithmetic},
    {"integer-division", "// or % by a number that is not a constant, in a loop", integer_division},
    {"register-spills", "values that found no register are kept in local memory", register_spills},
    {"low-occupancy", "a multiprocessor holds less than half of the threads that it could", low_occupancy},
    {"small-grid", "too few blocks for the device, or a last wave that is nearly empty", small_grid},
    {"part-warp", "a block whose last warp is not full", part_warps},
    {"unused", "an argument or a shared array that nothing uses", unused_names},
};

}  // namespace

std::span<const Rule> rules() { return table; }

std::vector<Finding> analyze(const ir::Module& typed, const launch::Trace& trace, const Compiled* compiled,
                             decltype(Rule::look) only) {
    Subject subject{typed, trace, {}, compiled};
    for (const launch::BlockTrace& block : trace.blocks) subject.seen.push_back(gather(block));
    std::vector<Finding> found;
    for (const Rule& rule : table) {
        if (only && rule.look != only) continue;
        const std::size_t before = found.size();
        rule.look(subject, found);
        for (std::size_t i = before; i < found.size(); ++i) found[i].rule = rule.name;
    }
    std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
        return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
    });
    const auto last = std::unique(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
        return std::tie(a.rule, a.place.line, a.evidence) == std::tie(b.rule, b.place.line, b.evidence);
    });
    found.erase(last, found.end());
    return found;
}

std::string short_number(double value) {
    return value >= 10 || value == std::round(value) ? fmt::format("{:.0f}", value)
                                                     : fmt::format("{:.1f}", value);
}

const ir::Var* array_of(const Subject& subject, int site) {
    const ir::Module& module = subject.trace.module;
    if (site < 0 || site >= static_cast<int>(module.sites.size())) return nullptr;
    const ir::Site& s = module.sites[static_cast<std::size_t>(site)];
    const ir::Function& kernel = module.kernel();
    if (s.parameter >= 0 && s.parameter < static_cast<int>(kernel.params.size()))
        return &kernel.vars[static_cast<std::size_t>(kernel.params[static_cast<std::size_t>(s.parameter)])];
    for (const ir::Var& v : kernel.vars)
        if (v.type.is_array() && v.name == s.subject) return &v;
    return nullptr;
}

std::size_t element_size(const Subject& subject, int site) {
    const ir::Var* array = array_of(subject, site);
    return array ? info(array->type.dtype).size : 1;
}

}  // namespace xcuda::profile::analysis
