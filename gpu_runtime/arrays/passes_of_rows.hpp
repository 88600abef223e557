// In which pass over its row each step of a kernel of rows is computed, and what each pass folds, writes and keeps.
#pragma once

#include <optional>
#include <vector>

#include "arrays/structure.hpp"

namespace xcuda::arrays {

struct PassOver {
    int number = 0;
    std::vector<int> folds;    // steps
    std::vector<int> outputs;  // of whole rows
    std::vector<Rows::Kept> keeps;
};

struct Passes {
    explicit Passes(const Structure& structure);

    /// One for the whole row: a fold, a number, a column's element, and what is made of such alone.
    bool once(int from) const;
    /// The first pass before which (once) or in which it can be computed.
    int pass_of(int from) const { return from < 0 ? 0 : level_[static_cast<std::size_t>(from)]; }
    /// The output has one element a row.
    bool of_rows(int output) const;
    /// The slot, not once(), has other elements in another row.
    bool of_each_row(int slot) const;
    /// The step is read from where an earlier pass kept it.
    bool kept(int step, int pass) const;
    /// The steps that a pass computes, folds and those that are had once aside.
    std::vector<bool> computed(const PassOver& pass) const;
    /// The slots that it reads at each element.
    std::vector<bool> reads(const PassOver& pass) const;

    std::vector<PassOver> all;
    std::vector<bool> needed, needed_slot;

private:
    struct Seen {
        std::vector<bool> steps, slots;
    };
    Seen seen(const PassOver& pass) const;

    const Structure& s_;
    std::vector<int> level_;
    std::vector<bool> once_;
};

/// Bytes of what stays in registers for one element of a row, at most: slots of each row from the first pass that reads them
/// to the last one, and what is kept.
std::size_t held_bytes(const Structure& structure);

/// sum(exp(x - top)), top being the row's maximum of x: the steps.
struct RescaledSum {
    int sum, exp, minus, top;
};
/// The sum that a fold is of that kind, if it is.
std::optional<RescaledSum> rescaled_sum(const Structure& structure, int fold);
/// Whether all passes over a row can be one: the second has rescaled sums alone, and nothing has a whole row's elements.
bool can_stream(const Structure& structure);

/// The weight of each step, of what is computed for each element of a row alone.
std::vector<int> weights_of(const Structure& structure, const Passes& passes);

}  // namespace xcuda::arrays
