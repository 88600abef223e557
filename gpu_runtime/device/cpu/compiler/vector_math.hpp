// Scalar math calls that the vectoriser may replace by libmvec's: LLVM's own table stops at AVX2.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>

namespace xcuda::device::cpu {

/// Adds those functions, at 2 to 16 lanes, that this machine's libmvec holds. Within 4 ulp, as libmvec
/// states.
void add_vector_math(llvm::TargetLibraryInfoImpl& library);

}  // namespace xcuda::device::cpu
