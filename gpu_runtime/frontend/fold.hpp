// Python's arithmetic on literals, done while compiling: exact integers up to 64 bits, doubles, bools.
#pragma once

#include "ir/expr.hpp"

namespace xcuda::frontend {

struct Folded {
    enum class Result { done, not_foldable, too_big } result = Result::not_foldable;
    ir::Number number{};
};

Folded fold(ir::Op op, const ir::Number& a, const ir::Number& b);
Folded fold(ir::Op op, const ir::Number& a);

double as_double(const ir::Number& n);  // of a complex number its real part
std::complex<double> as_complex(const ir::Number& n);
bool truthy(const ir::Number& n);
bool is_integral(const ir::Number& n);  // bool or int
/// Whether an integer lies in the range of an integer dtype.
bool fits(const ir::Number& n, DType dtype);
/// The number as a constant of `dtype` holds it: wrapped integers, rounded float32, truncated floats.
ir::Number to_dtype(const ir::Number& n, DType dtype);

}  // namespace xcuda::frontend
