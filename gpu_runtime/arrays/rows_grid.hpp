// The rows of a row kernel: a shape and which of its axes are folded; and how values lie along it.
#pragma once

#include "arrays/value.hpp"

namespace xcuda::arrays {

struct RowGrid {
    View shape;              // lengths
    std::uint64_t axes = 0;  // folded ones

    explicit RowGrid(const Value& fold);
    bool operator==(const RowGrid& other) const;
    bool folded(int axis) const { return axes >> axis & 1; }
    std::int64_t rows() const;
    std::int64_t length() const;  // of a row

    bool is_full(const Value& value) const;
    /// One element a row, with the folded axes of length 1 or without them.
    bool is_row(const Value& value) const;
    /// A view over the shape of such a value, over the whole shape: repeated along the folded axes.
    View spread(const View& view) const;
    /// The operand of a user of the whole shape (or of one element a row) sees the row value as it is.
    bool sees_row(const Operand& operand, bool row_user) const;
};

}  // namespace xcuda::arrays
