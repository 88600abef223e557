// Folds of numeric's arrays, and which of them are the same one.
#include <array>
#include <memory>

#include "_runtime_dtype.hpp"
#include "_runtime_numeric.hpp"
#include "arrays/small.hpp"

namespace xcuda::python {
namespace {

using arrays::Reduction;
using arrays::ValueP;
using arrays::View;

// A fold that was asked for a moment ago. While it is pending its elements are what they were then: whoever writes to
// memory computes what reads it before.
struct Known {
    std::weak_ptr<arrays::Value> of, made;
    View view;
    Reduction reduction;
    DType dtype = DType::f64;
};

constexpr std::size_t most_known = 8;
std::array<Known, most_known> known;
std::size_t next_known = 0;

bool same(const Reduction& a, const Reduction& b) {
    return a.fold == b.fold && a.axes == b.axes && a.identity == b.identity &&
           a.more_identity == b.more_identity;
}

// The fold's elements under the layout that it has with or without its folded axes.
View seen_with(const View& fold, const View& wanted) {
    if (fold.ndim == wanted.ndim) return fold;
    View out = wanted;
    for (std::size_t i = 0, k = 0; i < static_cast<std::size_t>(out.ndim); ++i) {
        // Axes of length 1 have no say, so that any of them may stand for another.
        while (k < static_cast<std::size_t>(fold.ndim) && fold.lengths[k] == 1) ++k;
        if (out.lengths[i] != 1) out.strides[i] = fold.strides[k++];
    }
    return out;
}

// A copy of a pending fold of the same elements; null where there is none.
ValueP known_fold(const NumericArray& a, const Reduction& reduction, DType out, bool keepdims) {
    for (const Known& k : known) {
        if (k.dtype != out || !same(k.reduction, reduction) || k.of.lock() != a.value || k.view != a.view)
            continue;
        const ValueP made = k.made.lock();
        if (!made || !made->pending()) continue;
        const View layout = arrays::layout_of_fold(a.view, reduction.axes, keepdims);
        const arrays::Operand operand{made, seen_with(made->layout, layout), out};
        return arrays::apply(made->device, arrays::cast_loop(out, out), {operand}, layout.shape(), &layout,
                             site_here());
    }
    return nullptr;
}

}  // namespace

nb::object fold_array(NumericArray& a, const std::string& ufunc, const std::string& loop_dtype,
                      const std::string& out, const std::vector<int>& axes, bool keepdims,
                      nb::handle identity) {
    const DType d = dtype_named(loop_dtype);
    const DType in[] = {d, d};
    arrays::Reduction r;
    r.fold = arrays::find_loop(ufunc, in, d);
    if (!r.fold) return nb::none();
    for (const int axis : axes) r.axes |= std::uint64_t{1} << axis;
    arrays::Operand number;
    if (!convert_number(identity.ptr(), d, number)) return nb::none();
    r.identity = number.bits;
    r.more_identity = number.more_bits;
    if (!stream_on(a.value->device))
        if (const ValueP made = arrays::folded_small(a.operand(), r, dtype_named(out), keepdims))
            return numeric_result(made);
    if (const ValueP made = known_fold(a, r, dtype_named(out), keepdims)) return numeric_result(made);
    const ValueP made =
        arrays::fold(a.value->device, a.operand(), r, dtype_named(out), keepdims, site_here());
    if (a.value->shared() || made->depth > most_depth)
        arrays::compute(std::span(&made, 1), queue_on(made->device));
    if (made->pending()) {
        known[next_known] = {a.value, made, a.view, r, made->dtype};
        next_known = (next_known + 1) % most_known;
    }
    return numeric_result(made);
}

}  // namespace xcuda::python
