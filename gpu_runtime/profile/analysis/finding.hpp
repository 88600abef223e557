// What an analysis says of a kernel: the rule, the user's line, what was seen there, and what to write instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/trace.hpp"
#include "profile/analysis/requests.hpp"

namespace xcuda::profile::analysis {

struct Finding {
    std::string_view rule;
    Place place;
    std::string evidence;  // what was seen, with its numbers
    std::string advice;    // what to write instead
    std::optional<double>
        gain;  // how many times less of what it costs: transactions, cycles; none: not estimated
    std::string subject = {};  // the array or variable it is about, empty where there is none
    int other_line = 0;        // race: where the other access stands
};

/// What a GPU's compiler made of the kernel, and the launch it was looked at with.
struct Compiled {
    device::Info limits;  // of the architecture; multiprocessors: 0 where no one GPU is meant
    device::Attributes attributes;
    std::int64_t spill_bytes = 0;  // that a thread stores to local memory for want of registers
    device::Shape shape;
    bool real_grid = true;      // false: arrays stand in for others, the grid means nothing
    bool automatic = false;     // the shape is ours: naming another is the caller's choice
    bool names_threads = true;  // the kernel's text relies on how threads lie in blocks
    int max_registers = 0;      // that the user asked for, 0: did not
};

/// What the rules look at.
struct Subject {
    const ir::Module& typed;             // as the front end gave it
    const launch::Trace& trace;          // of some blocks of one launch
    std::vector<Requests> seen;          // of each block of the trace
    const Compiled* compiled = nullptr;  // null where no compiler for a GPU was there
};

struct Rule {
    std::string_view name;
    std::string_view about;  // one line, for `%cuda_advise --rules` and the docs
    void (*look)(const Subject& subject, std::vector<Finding>& found);
};

/// All rules, the weightiest first.
XCUDA_API std::span<const Rule> rules();
/// Every rule over one trace, or the `only` one; findings in the order of lines.
XCUDA_API std::vector<Finding> analyze(const ir::Module& typed, const launch::Trace& trace,
                                       const Compiled* compiled = nullptr,
                                       decltype(Rule::look) only = nullptr);

// The rules, a file a subject.
void strided_accesses(const Subject& subject, std::vector<Finding>& found);        // coalescing.cpp
void bank_conflicts(const Subject& subject, std::vector<Finding>& found);          // banks.cpp
void divergent_branches(const Subject& subject, std::vector<Finding>& found);      // divergence.cpp
void uneven_loops(const Subject& subject, std::vector<Finding>& found);            // divergence.cpp
void repeated_reads(const Subject& subject, std::vector<Finding>& found);          // reuse.cpp
void accumulation_in_memory(const Subject& subject, std::vector<Finding>& found);  // reuse.cpp
void loop_invariant_loads(const Subject& subject, std::vector<Finding>& found);    // reuse.cpp
void contended_atomics(const Subject& subject, std::vector<Finding>& found);       // atomics.cpp
void races(const Subject& subject, std::vector<Finding>& found);                   // races.cpp
void out_of_range(const Subject& subject, std::vector<Finding>& found);            // races.cpp
void float64_arithmetic(const Subject& subject, std::vector<Finding>& found);      // arithmetic.cpp
void integer_division(const Subject& subject, std::vector<Finding>& found);        // arithmetic.cpp
void unused_names(const Subject& subject, std::vector<Finding>& found);            // unused.cpp
void divergent_barriers(const Subject& subject, std::vector<Finding>& found);      // barriers.cpp
void part_warps(const Subject& subject, std::vector<Finding>& found);              // launching.cpp
void low_occupancy(const Subject& subject, std::vector<Finding>& found);           // launching.cpp
void register_spills(const Subject& subject, std::vector<Finding>& found);         // launching.cpp
void small_grid(const Subject& subject, std::vector<Finding>& found);              // launching.cpp

/// "16x", "1.5x"; "64", "1.25".
std::string short_number(double value);
/// The name and type of the array that an access site belongs to.
const ir::Var* array_of(const Subject& subject, int site);
std::size_t element_size(const Subject& subject, int site);

}  // namespace xcuda::profile::analysis
