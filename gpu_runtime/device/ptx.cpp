#include "device/ptx.hpp"

#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/compile.hpp"
#endif

namespace xcuda::device {

std::string ptx_for([[maybe_unused]] const std::string& architecture, [[maybe_unused]] const Source& source) {
#ifdef XCUDA_CUDA_DEVICE
    return cuda::ptx(source, architecture);
#else
    throw missing("the CUDA device, which compiles for " + architecture,
                  "build xcuda with -DXCUDA_CUDA_DEVICE=ON");
#endif
}

}  // namespace xcuda::device
