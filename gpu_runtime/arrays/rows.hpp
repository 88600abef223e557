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

/// The first such work among pending values (producers before their users, each one's `item` its place); those whose fold
/// is in `refused` aside.
std::optional<RowWork> find_rows(std::span<const ValueP> pending, std::span<const ValueP> wanted,
                                 std::span<const ValueP> refused, const device::Info& device);

/// How kernels of rows are planned; what is left open follows from the row. on: rows stay in registers from pass to pass;
/// nothing: on GPUs. values: elements of each thread, 0: as the device has them. threads: that a multiprocessor is to have
/// room for, 0: as registers allow. streamed: a row whose results are a few numbers is read piece by piece, where its
/// passes can be made one; nothing: where a multiprocessor would hold one such row at a time.
struct HeldRows {
    std::optional<bool> on;
    int values = 0;
    std::optional<int> threads;
    std::optional<bool> streamed;
};
XCUDA_API void hold_rows(const HeldRows& asked);

/// A GPU's threads for a row of so many elements, and the rows of a block.
void share_row(Rows& rows, std::int64_t length);

/// Computes it, `before` being in memory. False, and nothing done, where it is better done otherwise.
bool run_rows(const RowWork& work, const Queue& queue);

}  // namespace xcuda::arrays
