#include "passes/cost_linear.hpp"

#include <algorithm>
#include <cmath>

namespace xcuda::passes::counting {

Linear number(double value) { return {true, value, {}}; }
Linear symbol(int id) { return {true, 0, {{id, 1}}}; }

Linear add(const Linear& a, const Linear& b, double factor) {
    if (!a.known || !b.known) return {};
    Linear sum = a;
    sum.offset += factor * b.offset;
    for (const auto& term : b.terms) {
        auto at = std::find_if(sum.terms.begin(), sum.terms.end(),
                               [&](auto& t) { return t.symbol >= term.symbol; });
        if (at != sum.terms.end() && at->symbol == term.symbol) {
            at->coefficient += factor * term.coefficient;
        } else {
            sum.terms.insert(at, {term.symbol, factor * term.coefficient});
        }
    }
    std::erase_if(sum.terms, [](auto& t) { return t.coefficient == 0; });
    return sum;
}

Linear multiply(const Linear& a, const Linear& b) {
    if (a.constant()) return add(number(0), b, a.offset);
    if (b.constant()) return add(number(0), a, b.offset);
    return {};
}

Interval interval(const Linear& value, const std::vector<Symbol>& symbols) {
    Interval range{value.offset, value.offset};
    for (const auto& [id, coefficient] : value.terms) {
        const double first = coefficient * symbols[id].low, last = coefficient * (symbols[id].high - 1);
        range.low += std::min(first, last);
        range.high += std::max(first, last);
    }
    return range;
}

double mean(const Linear& value, const std::vector<Symbol>& symbols) {
    const auto [low, high] = interval(value, symbols);
    return (low + high) / 2;
}

double keep_below_zero(const Linear& value, bool strict, std::vector<Symbol>& symbols) {
    const double slack = strict ? 1 : 0;  // whole numbers: v < 0 is v + 1 <= 0
    if (value.terms.size() != 1) {
        const auto [low, high] = interval(value, symbols);
        return std::clamp((-slack - low + 1) / (high - low + 1), 0.0, 1.0);
    }
    const auto [id, coefficient] = value.terms.front();
    Symbol& range = symbols[id];
    const double before = range.count(), border = (-slack - value.offset) / coefficient;
    if (coefficient > 0) {
        range.high = std::min(range.high, std::floor(border) + 1);
    } else {
        range.low = std::max(range.low, std::ceil(border));
    }
    return before > 0 ? range.count() / before : 0;
}

double keep_zero(const Linear& value, std::vector<Symbol>& symbols) {
    const auto [low, high] = interval(value, symbols);
    if (low > 0 || high < 0) return 0;
    if (value.terms.size() != 1) return 1 / (high - low + 1);
    const auto [id, coefficient] = value.terms.front();
    const double before = symbols[id].count(), at = -value.offset / coefficient;
    symbols[id] = {at, at + 1};
    return 1 / before;
}

}  // namespace xcuda::passes::counting
