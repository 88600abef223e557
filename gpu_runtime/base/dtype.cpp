#include "base/dtype.hpp"

#include <algorithm>
#include <array>

#include "base/time_unit.hpp"

namespace xcuda {
namespace {

constexpr DType at(DType first, int unit) { return static_cast<DType>(static_cast<int>(first) + unit); }

constexpr std::array<DTypeInfo, 18 + 2 * 14> table{{
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
    {DType::f8e4m3, DKind::floating, 1, "float8_e4m3fn", "f8e4m3", "|V1"},
    {DType::f8e5m2, DKind::floating, 1, "float8_e5m2", "f8e5m2", "|f1"},
    {DType::f8e8m0, DKind::floating, 1, "float8_e8m0fnu", "f8e8m0", "|V1"},
    {at(DType::datetime, 0), DKind::datetime, 8, "datetime64[Y]", "i64", "<M8[Y]"},
    {at(DType::datetime, 1), DKind::datetime, 8, "datetime64[M]", "i64", "<M8[M]"},
    {at(DType::datetime, 2), DKind::datetime, 8, "datetime64[W]", "i64", "<M8[W]"},
    {at(DType::datetime, 3), DKind::datetime, 8, "datetime64[D]", "i64", "<M8[D]"},
    {at(DType::datetime, 4), DKind::datetime, 8, "datetime64[h]", "i64", "<M8[h]"},
    {at(DType::datetime, 5), DKind::datetime, 8, "datetime64[m]", "i64", "<M8[m]"},
    {at(DType::datetime, 6), DKind::datetime, 8, "datetime64[s]", "i64", "<M8[s]"},
    {at(DType::datetime, 7), DKind::datetime, 8, "datetime64[ms]", "i64", "<M8[ms]"},
    {at(DType::datetime, 8), DKind::datetime, 8, "datetime64[us]", "i64", "<M8[us]"},
    {at(DType::datetime, 9), DKind::datetime, 8, "datetime64[ns]", "i64", "<M8[ns]"},
    {at(DType::datetime, 10), DKind::datetime, 8, "datetime64[ps]", "i64", "<M8[ps]"},
    {at(DType::datetime, 11), DKind::datetime, 8, "datetime64[fs]", "i64", "<M8[fs]"},
    {at(DType::datetime, 12), DKind::datetime, 8, "datetime64[as]", "i64", "<M8[as]"},
    {at(DType::datetime, 13), DKind::datetime, 8, "datetime64", "i64", "<M8"},
    {at(DType::timedelta, 0), DKind::timedelta, 8, "timedelta64[Y]", "i64", "<m8[Y]"},
    {at(DType::timedelta, 1), DKind::timedelta, 8, "timedelta64[M]", "i64", "<m8[M]"},
    {at(DType::timedelta, 2), DKind::timedelta, 8, "timedelta64[W]", "i64", "<m8[W]"},
    {at(DType::timedelta, 3), DKind::timedelta, 8, "timedelta64[D]", "i64", "<m8[D]"},
    {at(DType::timedelta, 4), DKind::timedelta, 8, "timedelta64[h]", "i64", "<m8[h]"},
    {at(DType::timedelta, 5), DKind::timedelta, 8, "timedelta64[m]", "i64", "<m8[m]"},
    {at(DType::timedelta, 6), DKind::timedelta, 8, "timedelta64[s]", "i64", "<m8[s]"},
    {at(DType::timedelta, 7), DKind::timedelta, 8, "timedelta64[ms]", "i64", "<m8[ms]"},
    {at(DType::timedelta, 8), DKind::timedelta, 8, "timedelta64[us]", "i64", "<m8[us]"},
    {at(DType::timedelta, 9), DKind::timedelta, 8, "timedelta64[ns]", "i64", "<m8[ns]"},
    {at(DType::timedelta, 10), DKind::timedelta, 8, "timedelta64[ps]", "i64", "<m8[ps]"},
    {at(DType::timedelta, 11), DKind::timedelta, 8, "timedelta64[fs]", "i64", "<m8[fs]"},
    {at(DType::timedelta, 12), DKind::timedelta, 8, "timedelta64[as]", "i64", "<m8[as]"},
    {at(DType::timedelta, 13), DKind::timedelta, 8, "timedelta64", "i64", "<m8"},
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
    if (is_float8(a) && b == DType::bf16)
        return b;  // as ml_dtypes has it, also where float8_e8m0fnu loses range
    if (is_float8(b) && a == DType::bf16) return a;
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

// A moment with anything is a moment, a span with anything else a span; of two units the finer one.
DType join_times(DType a, DType b) {
    const bool moment = is_datetime(a) || is_datetime(b);
    const auto unit_in = [](DType d) { return is_time(d) ? unit_of(d) : TimeUnit::generic; };
    const TimeUnit x = unit_in(a), y = unit_in(b);
    const TimeUnit unit = x == TimeUnit::generic ? y : y == TimeUnit::generic ? x : std::max(x, y);
    return moment ? datetime_of(unit) : timedelta_of(unit);
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
        if (i.typestr == typestr && typestr != "|V1") return i.dtype;  // which may be any of several
    // One byte has no order: '|', '<' and '=' all mean it; '=' is the native order of wider ones.
    if (typestr.size() < 3) return std::nullopt;
    for (const DTypeInfo& i : table)
        if (i.typestr.substr(1) == typestr.substr(1) && i.typestr[1] != 'V' && !is_float8(i.dtype) &&
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

bool is_half(DType d) { return d == DType::f16 || d == DType::bf16 || is_float8(d); }

bool is_float8(DType d) { return d >= DType::f8e4m3 && d <= DType::f8e8m0; }

bool is_complex(DType d) { return info(d).kind == DKind::complex; }

DType part_of(DType d) { return d == DType::c64 ? DType::f32 : d == DType::c128 ? DType::f64 : d; }

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (a == DType::b1) return b;
    if (b == DType::b1) return a;
    const DTypeInfo& x = info(a);
    const DTypeInfo& y = info(b);
    if (is_time(a) || is_time(b)) return join_times(a, b);
    if (x.kind == DKind::complex || y.kind == DKind::complex) {
        const DType part = join_floats(float_for(a), float_for(b));
        return part == DType::f64 ? DType::c128 : DType::c64;
    }
    if (x.kind == DKind::floating || y.kind == DKind::floating) {
        // A byte fits into either 16-bit format, so that bfloat16 with int8 stays bfloat16; with float8 as ml_dtypes has it.
        const auto with = [](DType d, DType other) {
            return is_integer(d) && info(d).size == 1 ? other : float_for(d);
        };
        return join_floats(with(a, b), with(b, a));
    }
    return join_integers(x, y);
}

}  // namespace xcuda
