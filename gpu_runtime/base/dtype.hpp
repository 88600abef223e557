// The element types of the kernel language, in one table, and NumPy's promotion between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/export.hpp"

namespace xcuda {

enum class DType : std::uint8_t {
    b1,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f16,
    bf16,
    f32,
    f64,
    c64,
    c128,
    f8e4m3,  // the 8-bit formats of machine learning, as ml_dtypes has them
    f8e5m2,
    f8e8m0,
    datetime,  // NumPy's, one a unit from years on: base/time_unit.hpp
    timedelta = datetime + 14,
};

enum class DKind : std::uint8_t { boolean, signed_int, unsigned_int, floating, complex, datetime, timedelta };

struct DTypeInfo {
    DType dtype;
    DKind kind;
    std::size_t size;          // bytes of one element
    std::string_view name;     // NumPy's name: "float32"
    std::string_view cpp;      // the preludes' name: "f32"
    std::string_view typestr;  // __array_interface__'s, native order: "<f4"
};

XCUDA_API const DTypeInfo& info(DType);
XCUDA_API std::span<const DTypeInfo> all_dtypes();
XCUDA_API std::optional<DType> dtype_from_name(std::string_view numpy_name);
XCUDA_API std::optional<DType> dtype_from_typestr(std::string_view typestr);  // native order only

XCUDA_API bool is_integer(DType);   // signed or unsigned, not bool
XCUDA_API bool is_floating(DType);  // real floating
XCUDA_API bool is_signed(DType);
XCUDA_API bool is_half(DType);  // float16, bfloat16 or float8: computed in float32
XCUDA_API bool is_float8(DType);
XCUDA_API bool is_complex(DType);
/// The real floating type of a complex type's parts; another type itself.
XCUDA_API DType part_of(DType);

/// numpy.promote_types(a, b). Where NumPy knows none, between times and other types, the time's: what can't become it is
/// refused where it is converted.
XCUDA_API DType promote(DType a, DType b);

}  // namespace xcuda
