// Products whose bias, residual, scale and activation are part of the product's own kernel, by cuBLASLt.
#pragma once

#include "base/export.hpp"
#include "device/device.hpp"
#include "launch/signature.hpp"
#include "math/matmul.hpp"

namespace xcuda::math {

/// Throws missing() where cuBLASLt is not here.
XCUDA_API void expect_epilogues();

enum class Activation : int {
    none = 0,
    relu = 1,
    gelu = 2
};  // gelu: tanh's form, as the library approximates it

struct Epilogue {
    const launch::Argument* residual = nullptr;  // of out's lengths, row-major
    const launch::Argument* bias = nullptr;      // one element a column of out, contiguous
    Activation activation = Activation::none;
    int choice = 0;  // of the algorithms that the library finds, the best one first
};

/// out[m, n] = activation(alpha a[m, k] @ b[k, n] + beta residual + bias), in `stream`'s order; false, with nothing done,
/// where cuBLASLt has no kernel for that. All have one dtype of float16, bfloat16, float32 and float64; `a`, `b` and `out`
/// lie as for matmul, `out` by rows. Throws missing() where cuBLASLt is not here.
XCUDA_API bool product_with_epilogue(device::Device& device, device::Stream* stream,
                                     const launch::Argument& a, const launch::Argument& b,
                                     const launch::Argument& out, const Product& how,
                                     const Epilogue& epilogue);

}  // namespace xcuda::math
