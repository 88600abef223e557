// Integer expressions that C++ says shorter, or that NVRTC makes more of, than their operators one by one.
#pragma once

#include <string>

#include "emit/writer.hpp"

namespace xcuda::emit {

/// What was computed in int, in its own type again. On CUDA sums of 16 bits and negations are opaque: see xc_low.
std::string as_computed(const Writer& w, const ir::Expr& e, std::string text);
/// The left operand's text; on CUDA opaque where an int's low 16 bits are taken, which NVRTC computes in 16 bits.
std::string low_bits(const Writer& w, const ir::Expr& e, std::string a);

// Each gives nothing where the expression is none of its kind.

/// Flooring division of integers by a power of two is a shift, its remainder a mask. a: the text of what is divided.
std::string by_power_of_two(const ir::Expr& e, const std::string& a);
/// On CUDA, without a sign and by a constant: NVRTC would work small ones out in 16 bits, which takes longer.
std::string by_constant(const Writer& w, const ir::Expr& e, const std::string& a);
/// On CUDA, `i + n if i < 0 else i` of ints: the wrapped index that it is.
std::string as_wrapped(Writer& w, const ir::Expr& e);
/// On CUDA, `low <= i and i < high` of ints, as one comparison without a sign.
std::string as_within(Writer& w, const ir::Expr& a, const ir::Expr& b);

}  // namespace xcuda::emit
