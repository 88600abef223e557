// How a matrix lies in memory, in BLAS' terms.
#pragma once

#include <algorithm>
#include <cstdint>

#include "launch/signature.hpp"
#include "math/cublas.hpp"

namespace xcuda::math {

/// One of a stack's matrices as BLAS sees it: column-major memory of which a row-major matrix is the transpose.
struct Lying {
    bool by_rows;         // the last axis has stride 1
    std::int64_t stride;  // between rows, or columns; 0: BLAS can't read it
};

inline Lying lying(const launch::Argument& m) {
    const std::int64_t rows = m.lengths[m.ndim - 2], columns = m.lengths[m.ndim - 1];
    const std::int64_t by_row = m.strides[m.ndim - 2], by_column = m.strides[m.ndim - 1];
    // An axis of one element has no stride of its own.
    if ((by_column == 1 || columns == 1) && (rows == 1 || by_row >= columns))
        return {true, rows == 1 ? std::max<std::int64_t>(columns, 1) : by_row};
    if ((by_row == 1 || rows == 1) && (columns == 1 || by_column >= rows))
        return {false, columns == 1 ? std::max<std::int64_t>(rows, 1) : by_column};
    return {true, 0};
}

inline Op op_of(const Lying& m, bool as_rows, bool conjugated) {
    if (m.by_rows == as_rows) return Op::none;
    return conjugated ? Op::conjugate : Op::transpose;
}

/// Of a product's arithmetic: float16 and bfloat16 are summed in float32.
inline Compute compute_of(DType dtype, bool tf32) {
    switch (dtype) {
        case DType::f64:
        case DType::c128: return Compute::f64;
        case DType::f32:
        case DType::c64: return tf32 ? Compute::tf32 : Compute::f32;
        default: return Compute::f32;
    }
}

}  // namespace xcuda::math
