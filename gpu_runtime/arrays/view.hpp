// How an array's elements lie in its memory: lengths, strides and an offset, all in elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/export.hpp"

namespace xcuda::arrays {

constexpr int max_axes = 64;  // as in NumPy

/// A number an axis, without a bound but max_axes: those of the first few lie in it, those of more elsewhere.
class PerAxis {
public:
    PerAxis() = default;
    PerAxis(const PerAxis&) = delete;
    PerAxis& operator=(const PerAxis&) = delete;

    std::int64_t& operator[](std::size_t axis) {
        if (axis >= few && !more_) [[unlikely]]
            grow();
        return data()[axis];
    }
    const std::int64_t& operator[](std::size_t axis) const { return data()[axis]; }
    std::int64_t* data() { return more_ ? more_->data() : first_.data(); }
    const std::int64_t* data() const { return more_ ? more_->data() : first_.data(); }
    std::int64_t* begin() { return data(); }
    const std::int64_t* begin() const { return data(); }
    /// Room for so many, before they are written by data() or begin().
    void reserve(int axes) {
        if (axes > static_cast<int>(few) && !more_) grow();
    }
    void copy(const PerAxis& from, int axes) {
        reserve(axes);
        std::copy_n(from.data(), axes, data());
    }

private:
    static constexpr std::size_t few = 8;

    void grow() {
        more_ = std::make_unique<std::array<std::int64_t, max_axes>>();
        std::copy(first_.begin(), first_.end(), more_->begin());
    }

    std::array<std::int64_t, few> first_;
    std::unique_ptr<std::array<std::int64_t, max_axes>> more_;
};

struct View {
    int ndim = 0;
    std::int64_t offset = 0;  // of the first element
    PerAxis lengths, strides;

    View() = default;
    // Only the axes that it has are copied.
    View(const View& other) { *this = other; }
    View& operator=(const View& other) {
        ndim = other.ndim;
        offset = other.offset;
        lengths.copy(other.lengths, ndim);
        strides.copy(other.strides, ndim);
        return *this;
    }

    std::int64_t size() const {
        std::int64_t n = 1;
        for (int i = 0; i < ndim; ++i) n *= lengths[static_cast<std::size_t>(i)];
        return n;
    }
    std::span<const std::int64_t> shape() const { return {lengths.data(), static_cast<std::size_t>(ndim)}; }
    XCUDA_API bool operator==(const View& other) const;
};

using Shape = std::span<const std::int64_t>;

/// C order. Strides of what has no elements are 0, here and in the other orders, as NumPy's are.
XCUDA_API View dense(Shape shape);
/// Without gaps, the axes in memory as in `order` (slowest first).
XCUDA_API View dense_in_order(Shape shape, std::span<const int> order);
/// As NumPy lays out a copy with order='K'.
XCUDA_API View as_copied(const View& view);
/// The axes, slowest in memory first, that NumPy's ufuncs with order='K' give a result of these operands.
XCUDA_API void memory_order(Shape shape, std::span<const View* const> operands, std::span<int> order);

XCUDA_API bool is_c_contiguous(const View& view);
XCUDA_API bool is_f_contiguous(const View& view);
/// Without its first axis, and with one more of length 1 before the others.
void drop_first(View& view);
void add_first(View& view);

/// Its elements lie side by side from the first on, its axes in some order: memory of their size holds them all.
XCUDA_API bool is_packed(const View& view);

/// The shape that all broadcast to; nothing where they don't.
XCUDA_API std::optional<View> broadcast_shapes(std::span<const View* const> views);
/// The view with stride 0 along axes it lacks; nothing where it can't have the shape.
XCUDA_API std::optional<View> broadcast_to(const View& view, Shape shape);
/// "(2,3)", as NumPy writes shapes in its errors.
XCUDA_API std::string shown(Shape shape);

/// The same elements in C order under another shape of the same size; nothing where that takes a copy.
XCUDA_API std::optional<View> reshape(const View& view, Shape shape);

/// Axes that lie one in the other in every view are one; those of length 1 go. All views have one shape. Axes keep their
/// order, and `groups` (one number an axis, or empty) keeps apart those of different numbers.
struct Collapsed {
    int ndim = 0;
    std::array<std::int64_t, max_axes> lengths;
    std::array<int, max_axes> group;
};
XCUDA_API Collapsed collapse(std::span<View> views, std::span<const int> groups = {});

}  // namespace xcuda::arrays
