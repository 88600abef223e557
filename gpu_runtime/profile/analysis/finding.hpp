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
};

/// What the rules look at.
struct Subject {
    const ir::Module& typed;     // as the front end gave it
    const launch::Trace& trace;  // of some blocks of one launch
    std::vector<Requests> seen;  // of each block of the trace
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

/// "16x", "1.5x"; "64", "1.25".
std::string short_number(double value);
/// The name and type of the array that an access site belongs to.
const ir::Var* array_of(const Subject& subject, int site);
std::size_t element_size(const Subject& subject, int site);

}  // namespace xcuda::profile::analysis
