#include "ir/type.hpp"

#include <algorithm>
#include <utility>

namespace xcuda::ir {
namespace {

// A weak number's rank beside others: bool < int < float < complex.
int rank(DType d) {
    switch (info(d).kind) {
        case DKind::boolean: return 0;
        case DKind::signed_int:
        case DKind::unsigned_int: return 1;
        case DKind::floating: return 2;
        case DKind::complex: return 3;
        case DKind::datetime:
        case DKind::timedelta: return 4;
    }
    return 4;
}

// NEP 50: a Python number takes the other's type, unless its kind is above that type's.
DType weak_with_strong(DType weak, DType strong) {
    const int w = rank(weak), s = rank(strong);
    if (w <= s) return strong;
    if (w == 1) return DType::i64;
    if (w == 2) return DType::f64;
    return strong == DType::f32 || is_half(strong) ? DType::c64 : DType::c128;
}

std::string extents_text(const std::vector<std::int64_t>& extents) {
    std::string text;
    for (const std::int64_t n : extents) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return text;
}

}  // namespace

Type scalar(DType dtype, bool weak) {
    Type t;
    t.kind = Type::Kind::scalar;
    t.dtype = dtype;
    t.weak = weak;
    return t;
}

Type array(DType dtype, int ndim, Layout layout, bool readonly) {
    Type t;
    t.kind = Type::Kind::array;
    t.dtype = dtype;
    t.ndim = ndim;
    t.layout = layout;
    t.readonly = readonly;
    return t;
}

Type tile(DType dtype, std::vector<std::int64_t> extents) {
    Type t;
    t.kind = Type::Kind::tile;
    t.dtype = dtype;
    t.extents = std::move(extents);
    return t;
}

Type fixed_array(DType dtype, std::vector<std::int64_t> extents, Space space) {
    Type t = array(dtype, std::max<int>(1, static_cast<int>(extents.size())));
    t.space = space;
    t.extents = std::move(extents);
    return t;
}

Type join(const Type& a, const Type& b) {
    if (a == b) return a;
    if (a.is_tile() && b.is_tile() && a.extents == b.extents)
        return tile(promote(a.dtype, b.dtype), a.extents);
    if (!a.is_scalar() || !b.is_scalar()) return Type{};  // nothing holds both
    Type t = scalar(a.dtype);
    t.lanes = std::max(a.lanes, b.lanes);
    if (a.weak && b.weak) {
        t.weak = true;
        t.dtype = rank(a.dtype) >= rank(b.dtype) ? a.dtype : b.dtype;
    } else if (a.weak) {
        t.dtype = weak_with_strong(a.dtype, b.dtype);
    } else if (b.weak) {
        t.dtype = weak_with_strong(b.dtype, a.dtype);
    } else {
        t.dtype = promote(a.dtype, b.dtype);
    }
    return t;
}

std::string to_string(const Type& t) {
    if (t.is_none()) return "None";
    std::string text(info(t.dtype).name);
    if (t.is_scalar()) {
        if (t.lanes > 1) text += " x " + std::to_string(t.lanes);
        return t.weak ? text + " (weak)" : text;
    }
    if (t.is_tile()) return "tile " + text + "[" + extents_text(t.extents) + "]";
    if (t.space != Space::global) {
        const std::string where = t.space == Space::shared  ? "shared "
                                  : t.space == Space::local ? "local "
                                                            : "constant ";
        return where + text + "[" + (t.extents.empty() ? ":" : extents_text(t.extents)) + "]";
    }
    text += "[";
    for (int axis = 0; axis < t.ndim; ++axis) {
        const bool unit = axis == t.ndim - 1 && unit_stride(t.layout);
        text += axis ? ", " : "";
        text += unit ? "::1" : t.layout == Layout::contiguous ? ":" : "::";
    }
    text += "]";
    if (t.layout == Layout::bytes) text = "unaligned " + text;
    return t.readonly ? "readonly " + text : text;
}

}  // namespace xcuda::ir
