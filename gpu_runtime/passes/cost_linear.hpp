// Whole numbers of a kernel as sums over its coordinates and loop variables, each with the range it runs through.
#pragma once

#include <optional>
#include <vector>

namespace xcuda::passes::counting {  // linear.hpp has a Linear of its own, over expressions

/// A coordinate of the launch or a loop's variable: takes the whole numbers of [low, high), each equally often.
struct Symbol {
    double low = 0, high = 1;
    double count() const { return high > low ? high - low : 0; }
};

/// offset + sum of coefficient * symbol, or not known.
struct Linear {
    struct Term {
        int symbol;
        double coefficient;
        bool operator==(const Term&) const = default;
    };
    bool known = false;
    double offset = 0;
    std::vector<Term> terms;  // by symbol, no zero coefficients

    bool constant() const { return known && terms.empty(); }
    bool operator==(const Linear&) const = default;
};

Linear number(double value);
Linear symbol(int id);
Linear add(const Linear& a, const Linear& b, double factor = 1);  // a + factor * b
Linear multiply(const Linear& a, const Linear& b);                // known where one side is constant

struct Interval {
    double low, high;
};  // both ends are taken
Interval interval(const Linear& value, const std::vector<Symbol>& symbols);
double mean(const Linear& value, const std::vector<Symbol>& symbols);

/// Share of `symbols`' combinations with value <= 0 (value < 0 where `strict`). A value of one symbol narrows that
/// symbol's range to them; of several, the share is taken as if the value ran evenly through its interval.
double keep_below_zero(const Linear& value, bool strict, std::vector<Symbol>& symbols);
/// The same for value == 0.
double keep_zero(const Linear& value, std::vector<Symbol>& symbols);

}  // namespace xcuda::passes::counting
