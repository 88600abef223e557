// Products of matrices by the OpenBLAS that is in this process already: NumPy's, whose threads are then shared with it.
#pragma once

#include "device/cpu/abi.hpp"

namespace xcuda::device::cpu {

bool has_blas();

/// Worker::product. Row panels, between which a stopped launch leaves; the result may lie over an operand.
void blas_product(Worker*, const LaunchBlock*, const MatrixProduct*);

}  // namespace xcuda::device::cpu
