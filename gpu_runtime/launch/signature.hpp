// The arguments of one call as a kernel sees them, and the signature that picks its specialisation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/export.hpp"
#include "ir/type.hpp"

namespace xcuda::launch {

constexpr int max_ndim = 8;

/// One argument of a call. An array's strides are in elements (Layout::bytes: in bytes); a scalar's value is in the low bytes of `bits`.
struct Argument {
    bool is_array = false;
    bool weak = false;      // scalar: a Python number
    bool readonly = false;  // array: the caller may not be written to
    DType dtype = DType::i64;
    ir::Layout layout = ir::Layout::contiguous;
    std::int8_t ndim = 0;
    std::uint64_t bits = 0, more_bits = 0;  // more: the imaginary part of a complex128
    void* address = nullptr;
    std::uint32_t known_key = 0;  // key() of it, where it has been worked out before: never 0 for an array
    std::array<std::int64_t, max_ndim> lengths, strides;

    std::int64_t stride_unit() const {  // bytes
        return layout == ir::Layout::bytes ? 1 : static_cast<std::int64_t>(info(dtype).size);
    }
    std::int64_t elements() const {
        std::int64_t n = 1;
        for (int i = 0; i < ndim; ++i) n *= lengths[i];
        return n;
    }
};

/// The first byte of an array and the byte after its last; equal where it has no element.
struct Extent {
    const char* begin;
    const char* end;
};
XCUDA_API Extent extent(const Argument& array);

/// The densest layout that lengths and strides allow; axes of length 1 don't count, nor do arrays without elements.
XCUDA_API ir::Layout layout_of(int ndim, const std::int64_t* lengths, const std::int64_t* strides);

inline constexpr std::int64_t narrow_end =
    (std::int64_t{1} << 31) - (std::int64_t{1} << 16);  // room for a step beyond

/// 2^31 elements or more lie between its first and its last, or along an axis: kernels then need 64-bit indices.
inline bool is_wide(const Argument& a) {
    std::int64_t span = 0;
    bool long_axis = false;
    for (int i = 0; i < a.ndim; ++i) {
        span += (a.lengths[i] - 1) * (a.strides[i] < 0 ? -a.strides[i] : a.strides[i]);
        long_axis |= a.lengths[i] >= narrow_end;
    }
    return long_axis || span >= narrow_end;
}

/// A 64-bit integer that fits 32 bits, with room for a step beyond: most do.
inline bool is_small(const Argument& a) {
    const auto value = static_cast<std::int64_t>(a.bits);
    return (a.dtype == DType::i64 || a.dtype == DType::u64) && value < narrow_end && value > -narrow_end &&
           (a.dtype == DType::i64 || value >= 0);
}

// Every row starts at a multiple of 16 bytes: kernels may then load vectors.
inline bool is_aligned(const Argument& a) {
    const auto size = static_cast<std::int64_t>(info(a.dtype).size);
    if (a.layout == ir::Layout::bytes) return false;
    bool aligned = a.address && reinterpret_cast<std::uintptr_t>(a.address) % 16 == 0;
    for (int i = 0; i + 1 < a.ndim; ++i) aligned &= a.strides[i] * size % 16 == 0;
    return aligned;
}

// What a specialisation depends on, in one word an argument.
using Key = std::uint32_t;
using Signature = std::vector<Key>;

constexpr Key wide_key = 1u << 24;

inline Key key(const Argument& a) {
    return a.is_array ? 0x1u | static_cast<Key>(a.dtype) << 4 | static_cast<Key>(a.ndim) << 12 |
                            static_cast<Key>(a.layout) << 20 | static_cast<Key>(is_wide(a)) << 24 |
                            static_cast<Key>(is_aligned(a)) << 25
                      : (a.weak ? 0x2u : 0x0u) | (is_small(a) ? 0x4u : 0x0u) | static_cast<Key>(a.dtype) << 4;
}
inline bool matches(const Signature& signature, std::span<const Argument> arguments) {
    if (signature.size() != arguments.size()) return false;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (signature[i] != (arguments[i].known_key ? arguments[i].known_key : key(arguments[i])))
            return false;
    return true;
}
XCUDA_API Signature signature(std::span<const Argument> arguments);
inline bool is_small(Key key) { return (key & 0x5u) == 0x4u; }
XCUDA_API ir::Type type_of(Key key);
XCUDA_API Key key(const ir::Type& type);  // the inverse, for signatures that a user wrote
XCUDA_API std::vector<ir::Type> types_of(const Signature& signature);
XCUDA_API std::string to_string(const Signature& signature);  // "(float32[:, ::1], float64 (weak))"

}  // namespace xcuda::launch
