// What a person can do about it: a table of rules, each a function over the figures at hand. A rule says only what
// those figures prove. To add one: write its function in advice.cpp, put it in the table, give it a test.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/kernel_row.hpp"

namespace xcuda::profile {

/// Of the whole cell, for rules that set one thing against another.
struct Surroundings {
    double device_seconds = 0;   // of all kernels
    double compile_seconds = 0;  // of kernels compiled, not taken from the cache
    int compiled = 0;
    int launches = 0;
    int copies_in = 0;
    double copy_seconds = 0;
    double copy_bytes = 0;
    int copies_again = 0;  // of host arrays that had been copied in before the cell already
    double bytes_again = 0, seconds_again = 0;
    int compiled_of(const std::string& kernel) const;
    std::vector<std::string> compiled_names;
};

struct AdviceRule {
    std::string_view name;
    bool once;  // of the cell as a whole: said at the kernel it shows at first
    std::optional<std::string> (*say)(const KernelRow&, const Surroundings&);
};
XCUDA_API std::span<const AdviceRule> advice_rules();

struct Advice {
    std::string_view rule;
    std::string text;
    std::string kernel;
    Place place;
};
XCUDA_API std::vector<Advice> advise(const std::vector<KernelRow>& rows, const Surroundings& cell);

}  // namespace xcuda::profile
