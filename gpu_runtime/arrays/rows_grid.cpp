#include "arrays/rows_grid.hpp"

#include <algorithm>

namespace xcuda::arrays {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

RowGrid::RowGrid(const Value& fold)
    : shape(dense(fold.operands[0].view.shape())),
      axes(fold.reduction->axes) {}

bool RowGrid::operator==(const RowGrid& other) const {
    return axes == other.axes && std::ranges::equal(shape.shape(), other.shape.shape());
}

std::int64_t RowGrid::rows() const {
    std::int64_t n = 1;
    for (int d = 0; d < shape.ndim; ++d)
        if (!folded(d)) n *= shape.lengths[at(d)];
    return n;
}

std::int64_t RowGrid::length() const {
    std::int64_t n = 1;
    for (int d = 0; d < shape.ndim; ++d)
        if (folded(d)) n *= shape.lengths[at(d)];
    return n;
}

bool RowGrid::is_full(const Value& value) const {
    return std::ranges::equal(shape.shape(), value.layout.shape());
}

bool RowGrid::is_row(const Value& value) const {
    const View& v = value.layout;
    const bool keepdims = v.ndim == shape.ndim;
    int next = 0;
    for (int d = 0; d < shape.ndim; ++d) {
        if (folded(d) && !keepdims) continue;
        if (next >= v.ndim || v.lengths[at(next++)] != (folded(d) ? 1 : shape.lengths[at(d)])) return false;
    }
    return next == v.ndim;
}

View RowGrid::spread(const View& view) const {
    View out = shape;
    out.offset = view.offset;
    const bool keepdims = view.ndim == shape.ndim;
    int next = 0;
    for (int d = 0; d < shape.ndim; ++d) {
        out.strides[at(d)] = folded(d) ? 0 : view.strides[at(keepdims ? d : next)];
        if (!folded(d)) ++next;
    }
    return out;
}

bool RowGrid::sees_row(const Operand& operand, bool row_user) const {
    const View seen = row_user ? spread(operand.view) : operand.view, own = spread(operand.value->layout);
    if (seen.offset != 0) return false;
    for (int d = 0; d < shape.ndim; ++d)
        if (shape.lengths[at(d)] != 1 && seen.strides[at(d)] != own.strides[at(d)]) return false;
    return true;
}

}  // namespace xcuda::arrays
