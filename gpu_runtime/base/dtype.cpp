#include "base/dtype.hpp"

#include <algorithm>
#include <array>

namespace xcuda {
namespace {

constexpr std::array<DTypeInfo, 15> table{{
    {DType::b1, DKind::boolean, 1, "bool", "b1", "|b1"},
    {DType::i8, DKind::signed_int, 1, "int8", "i8", "|i1"},
    {DType::i16, DKind::signed_int, 2, "int16", "i16", "<i2"},
    {DType::i32, DKind::signed_int, 4, "int32", "i32", "<i4"},
    {DType::i64, DKind::signed_int, 8, "int64", "i64", "<i8"},
    {DType::u8, DKind::unsigned_int, 1, "uint8", "u8", "|u1"},
    {DType::u16, DKind::unsigned_int, 2, "uint16", "u16", "<u2"},
    {DType::u32, DKind::unsigned_int, 4, "uint32", "u32", "<u4"},
    {DType::u64, DKind::unsigned_int, 8, "uint64", "u64", "<u8"},
    {DType::f16, DKind::floating, 2, "float16", "f16", "<f2"},
    {DType::bf16, DKind::floating, 2, "bfloat16", "bf16", "<V2"},
    {DType::f32, DKind::floating, 4, "float32", "f32", "<f4"},
    {DType::f64, DKind::floating, 8, "float64", "f64", "<f8"},
    {DType::c64, DKind::complex, 8, "complex64", "c64", "<c8"},
    {DType::c128, DKind::complex, 16, "complex128", "c128", "<c16"},
}};

// The smallest real floating type that NumPy lets hold every value of `d` (int32 needs float64).
DType float_for(DType d) {
    const DTypeInfo& i = info(d);
    if (i.kind == DKind::floating) return d;
    if (i.kind == DKind::complex) return d == DType::c64 ? DType::f32 : DType::f64;
    return i.size == 1 ? DType::f16 : i.size == 2 ? DType::f32 : DType::f64;
}

DType join_floats(DType a, DType b) {
    if (a == b) return a;
    if (a == DType::f64 || b == DType::f64) return DType::f64;
    return DType::f32;  // one of the 16-bit formats with the other, or with float32
}

DType join_integers(const DTypeInfo& a, const DTypeInfo& b) {
    if (a.kind == b.kind) return a.size >= b.size ? a.dtype : b.dtype;
    const DTypeInfo& s = a.kind == DKind::signed_int ? a : b;
    const DTypeInfo& u = a.kind == DKind::signed_int ? b : a;
    if (s.size > u.size) return s.dtype;
    switch (u.size) {
        case 1: return DType::i16;
        case 2: return DType::i32;
        case 4: return DType::i64;
        default: return DType::f64;  // no integer type holds both int64 and uint64
    }
}

}  // namespace

const DTypeInfo& info(DType d) { return table[static_cast<std::size_t>(d)]; }

std::span<const DTypeInfo> all_dtypes() { return table; }

std::optional<DType> dtype_from_name(std::string_view name) {
    for (const DTypeInfo& i : table)
        if (i.name == name) return i.dtype;
    return std::nullopt;
}

std::optional<DType> dtype_from_typestr(std::string_view typestr) {
    for (const DTypeInfo& i : table)
        if (i.typestr == typestr) return i.dtype;
    // One byte has no order: '|', '<' and '=' all mean it; '=' is the native order of wider ones.
    if (typestr.size() < 3) return std::nullopt;
    for (const DTypeInfo& i : table)
        if (i.typestr.substr(1) == typestr.substr(1) && i.typestr.substr(1) != "V2" &&
            (typestr[0] == '=' || (i.size == 1 && (typestr[0] == '<' || typestr[0] == '>'))))
            return i.dtype;
    return std::nullopt;
}

bool is_integer(DType d) {
    const DKind k = info(d).kind;
    return k == DKind::signed_int || k == DKind::unsigned_int;
}

bool is_floating(DType d) { return info(d).kind == DKind::floating; }

bool is_signed(DType d) { return info(d).kind == DKind::signed_int; }

bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

bool is_complex(DType d) { return info(d).kind == DKind::complex; }

DType part_of(DType d) { return d == DType::c64 ? DType::f32 : d == DType::c128 ? DType::f64 : d; }

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a == DType::b1) return b;
    if (b == DType::b1) return a;
    const DTypeInfo& x = info(a);
    const DTypeInfo& y = info(b);
    if (x.kind == DKind::complex || y.kind == DKind::complex) {
        const DType part = join_floats(float_for(a), float_for(b));
        return part == DType::f64 ? DType::c128 : DType::c64;
    }
    if (x.kind == DKind::floating || y.kind == DKind::floating) {
        // A byte fits into either 16-bit format, so that bfloat16 with int8 stays bfloat16.
        const auto with = [](DType d, DType other) {
            return is_integer(d) && info(d).size == 1 ? other : float_for(d);
        };
        return join_floats(with(a, b), with(b, a));
    }
    return join_integers(x, y);
}

}  // namespace xcuda
