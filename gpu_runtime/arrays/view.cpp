#include "arrays/view.hpp"

#include <algorithm>
#include <cstdlib>

#include "arrays/few_ints.hpp"

namespace xcuda::arrays {

namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace

bool View::operator==(const View& other) const {
    return ndim == other.ndim && offset == other.offset &&
           std::equal(lengths.begin(), lengths.begin() + ndim, other.lengths.begin()) &&
           std::equal(strides.begin(), strides.begin() + ndim, other.strides.begin());
}

View dense(Shape shape) {
    View out;
    out.ndim = static_cast<int>(shape.size());
    std::int64_t stride = 1;
    for (int i = out.ndim - 1; i >= 0; --i) {
        out.lengths[at(i)] = shape[at(i)];
        out.strides[at(i)] = stride;
        stride *= shape[at(i)];
    }
    if (stride == 0) [[unlikely]]
        std::fill_n(out.strides.begin(), out.ndim, 0);
    return out;
}

View dense_in_order(Shape shape, std::span<const int> order) {
    View out;
    out.ndim = static_cast<int>(shape.size());
    std::int64_t stride = 1;
    for (std::size_t k = order.size(); k-- > 0;) {
        const std::size_t axis = at(order[k]);
        out.lengths[axis] = shape[axis];
        out.strides[axis] = stride;
        stride *= shape[axis];
    }
    if (stride == 0) [[unlikely]]
        std::fill_n(out.strides.begin(), out.ndim, 0);
    return out;
}

namespace {

// What operands say of two axes of which one is slower in C order. They all must say that it lies closer, where they say anything.
enum class Says { nothing, c_order, swapped };

Says compared(std::span<const View* const> operands, int ndim, int slower, int faster) {
    Says says = Says::nothing;
    for (const View* v : operands) {
        const int shift = ndim - v->ndim;
        if (slower < shift || faster < shift) continue;
        const std::size_t s = at(slower - shift), f = at(faster - shift);
        if (v->lengths[s] == 1 || v->lengths[f] == 1 || !v->strides[s] || !v->strides[f]) continue;
        if (std::abs(v->strides[f]) <= std::abs(v->strides[s])) return Says::c_order;
        says = Says::swapped;
    }
    return says;
}

}  // namespace

// NumPy's insertion sort, fastest axes first: axes of which no operand says anything are passed over.
void memory_order(Shape shape, std::span<const View* const> operands, std::span<int> order) {
    const int ndim = static_cast<int>(shape.size());
    for (int i = 0; i < ndim; ++i) order[at(i)] = ndim - 1 - i;
    for (int i = 1; i < ndim; ++i) {
        int to = i;
        for (int k = i - 1; k >= 0; --k) {
            const Says says = compared(operands, ndim, order[at(i)], order[at(k)]);
            if (says == Says::c_order) break;
            if (says == Says::swapped) to = k;
        }
        std::rotate(order.begin() + to, order.begin() + i, order.begin() + i + 1);
    }
    std::reverse(order.begin(), order.end());
}

View as_copied(const View& view) {
    const std::size_t ndim = at(view.ndim);
    std::array<int, max_axes> order;
    for (std::size_t i = 0; i < ndim; ++i) order[i] = static_cast<int>(i);
    if (is_f_contiguous(view) && !is_c_contiguous(view))
        std::reverse(order.begin(), order.begin() + view.ndim);
    else if (!is_c_contiguous(view))
        sort_few(order.data(), order.data() + view.ndim,
                 [&](int a, int b) { return std::abs(view.strides[at(a)]) > std::abs(view.strides[at(b)]); });
    return dense_in_order(view.shape(), std::span(order.data(), ndim));
}

bool is_c_contiguous(const View& v) {
    std::int64_t expected = 1;
    for (int i = v.ndim - 1; i >= 0; --i) {
        if (v.lengths[at(i)] == 0) return true;
        if (v.lengths[at(i)] != 1 && v.strides[at(i)] != expected) return false;
        expected *= v.lengths[at(i)];
    }
    return true;
}

bool is_f_contiguous(const View& v) {
    std::int64_t expected = 1;
    for (int i = 0; i < v.ndim; ++i) {
        if (v.lengths[at(i)] == 0) return true;
        if (v.lengths[at(i)] != 1 && v.strides[at(i)] != expected) return false;
        expected *= v.lengths[at(i)];
    }
    return true;
}

void drop_first(View& v) {
    std::shift_left(v.lengths.begin(), v.lengths.begin() + v.ndim, 1);
    std::shift_left(v.strides.begin(), v.strides.begin() + v.ndim, 1);
    --v.ndim;
}

void add_first(View& v) {
    v.lengths.reserve(v.ndim + 1);
    v.strides.reserve(v.ndim + 1);
    std::copy_backward(v.lengths.begin(), v.lengths.begin() + v.ndim, v.lengths.begin() + v.ndim + 1);
    std::copy_backward(v.strides.begin(), v.strides.begin() + v.ndim, v.strides.begin() + v.ndim + 1);
    v.lengths[0] = 1;
    v.strides[0] = 0;
    ++v.ndim;
}

bool is_packed(const View& v) {
    if (v.offset != 0) return false;
    std::array<int, max_axes> order;
    int n = 0;
    for (int i = 0; i < v.ndim; ++i) {
        if (v.lengths[at(i)] == 0) return true;
        if (v.lengths[at(i)] != 1) order[at(n++)] = i;
    }
    std::sort(order.begin(), order.begin() + n,
              [&](int a, int b) { return v.strides[at(a)] < v.strides[at(b)]; });
    std::int64_t expected = 1;
    for (int k = 0; k < n; ++k) {
        if (v.strides[at(order[at(k)])] != expected) return false;
        expected *= v.lengths[at(order[at(k)])];
    }
    return true;
}

std::optional<View> broadcast_shapes(std::span<const View* const> views) {
    std::array<std::int64_t, max_axes> shape;
    int ndim = 0;
    for (const View* v : views) ndim = std::max(ndim, v->ndim);
    std::fill_n(shape.begin(), ndim, 1);
    for (const View* v : views) {
        const int shift = ndim - v->ndim;
        for (int i = 0; i < v->ndim; ++i) {
            std::int64_t& n = shape[at(i + shift)];
            const std::int64_t m = v->lengths[at(i)];
            if (n == m || m == 1) continue;
            if (n != 1) return std::nullopt;
            n = m;
        }
    }
    return dense({shape.data(), at(ndim)});
}

std::optional<View> broadcast_to(const View& view, Shape shape) {
    View out;
    out.ndim = static_cast<int>(shape.size());
    out.offset = view.offset;
    const int shift = out.ndim - view.ndim;
    if (shift < 0) return std::nullopt;
    for (int i = 0; i < out.ndim; ++i) {
        out.lengths[at(i)] = shape[at(i)];
        out.strides[at(i)] = 0;
        if (i < shift) continue;
        const std::int64_t n = view.lengths[at(i - shift)];
        if (n != shape[at(i)] && n != 1) return std::nullopt;
        if (n == shape[at(i)]) out.strides[at(i)] = view.strides[at(i - shift)];
    }
    return out;
}

std::string shown(Shape shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

std::optional<View> reshape(const View& view, Shape shape) {
    View out = dense(shape);
    out.offset = view.offset;
    if (out.size() == 0) {  // strides as NumPy tells them of a view
        std::int64_t stride = 1;
        for (int i = out.ndim - 1; i >= 0; --i) {
            out.strides[at(i)] = stride;
            stride *= std::max<std::int64_t>(shape[at(i)], 1);
        }
        return out;
    }
    if (is_c_contiguous(view)) return out;
    // Runs of old axes against runs of new ones of the same product.
    std::array<std::int64_t, max_axes> lengths, strides;
    int n = 0;
    for (int i = 0; i < view.ndim; ++i) {
        if (view.lengths[at(i)] == 1) continue;
        lengths[at(n)] = view.lengths[at(i)];
        strides[at(n++)] = view.strides[at(i)];
    }
    int old_begin = 0, new_begin = 0;
    while (old_begin < n && new_begin < out.ndim) {
        int old_end = old_begin + 1, new_end = new_begin + 1;
        std::int64_t old_size = lengths[at(old_begin)], new_size = out.lengths[at(new_begin)];
        while (old_size != new_size) {
            if (new_size < old_size)
                new_size *= out.lengths[at(new_end++)];
            else
                old_size *= lengths[at(old_end++)];
        }
        for (int k = old_begin; k + 1 < old_end; ++k)
            if (strides[at(k)] != lengths[at(k + 1)] * strides[at(k + 1)]) return std::nullopt;
        std::int64_t stride = strides[at(old_end - 1)];
        for (int k = new_end - 1; k >= new_begin; --k) {
            out.strides[at(k)] = stride;
            stride *= out.lengths[at(k)];
        }
        old_begin = old_end;
        new_begin = new_end;
    }
    for (int k = new_begin; k < out.ndim; ++k)
        out.strides[at(k)] = k ? out.strides[at(k - 1)] : 1;  // of length 1
    return out;
}

Collapsed collapse(std::span<View> views, std::span<const int> groups) {
    Collapsed out;
    const int ndim = views.empty() ? 0 : views[0].ndim;
    int kept = 0;  // axes so far, in each view's first places
    for (int axis = 0; axis < ndim; ++axis) {
        const std::int64_t n = views[0].lengths[at(axis)];
        if (n == 1) continue;
        const int group = groups.empty() ? 0 : groups[at(axis)];
        const bool joins = kept > 0 && out.group[at(kept - 1)] == group &&
                           std::all_of(views.begin(), views.end(), [&](const View& v) {
                               return v.strides[at(kept - 1)] == v.strides[at(axis)] * n;
                           });
        const int to = joins ? kept - 1 : kept++;
        out.lengths[at(to)] = joins ? out.lengths[at(to)] * n : n;
        out.group[at(to)] = group;
        for (View& v : views) {
            v.strides[at(to)] = v.strides[at(axis)];
            v.lengths[at(to)] = out.lengths[at(to)];
        }
    }
    for (View& v : views) v.ndim = kept;
    out.ndim = kept;
    return out;
}

}  // namespace xcuda::arrays
