// Folds over rows whose results meet the rows again (softmax, normalisation, variance), as one kernel: a block, or a
// thread, takes a row, folds it in as many passes as follow from each other, and writes all that is asked for.
#pragma once

#include <optional>
#include <span>

#include "arrays/kernel.hpp"

namespace xcuda::arrays {

/// Work over rows of one shape, found in a graph.
struct RowWork {
    std::vector<ValueP> members;  // folds and what is made of them, producers first
    std::vector<ValueP> before;   // pending values that it reads from memory: to be computed first
    std::vector<ValueP> results;  // what it must leave in memory
};

/// The first such work among pending values (producers before their users); those whose fold is in `refused` aside.
std::optional<RowWork> find_rows(std::span<const ValueP> pending, std::span<const ValueP> wanted,
                                 std::span<const ValueP> refused, const device::Info& device);

/// Whether rows stay in registers from pass to pass, and how many elements of each thread; nothing and 0: as the device
/// has them.
XCUDA_API void hold_rows(std::optional<bool> asked, int values);

/// A GPU's threads for a row of so many elements, and the rows of a block.
void share_row(Rows& rows, std::int64_t length);

/// Computes it, `before` being in memory. False, and nothing done, where it is better done otherwise.
bool run_rows(const RowWork& work, const Queue& queue);

}  // namespace xcuda::arrays
