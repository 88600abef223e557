// NVIDIA's mathematics libraries, each opened when it is first needed.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "device/vendor.hpp"

namespace xcuda::math {

inline constexpr device::VendorLibrary cublas_library{"cublas", "cuBLAS, which multiplies matrices on a GPU",
                                                      "nvidia-cublas", "nvidia-cublas-cu12"};
inline constexpr device::VendorLibrary cublaslt_library{
    "cublasLt", "cuBLASLt, which adds biases and activations within products of matrices on a GPU",
    "nvidia-cublas", "nvidia-cublas-cu12"};
inline constexpr device::VendorLibrary cufft_library{
    "cufft", "cuFFT, which makes Fourier transforms on a GPU", "nvidia-cufft", "nvidia-cufft-cu12"};
inline constexpr device::VendorLibrary cusolver_library{
    "cusolver", "cuSOLVER, which factorises matrices on a GPU", "nvidia-cusolver", "nvidia-cusolver-cu12"};

/// What is here of the four, and how to get what is not; opens them.
XCUDA_API std::vector<device::Library> libraries();

class CudaLibrary {
public:
    /// Throws missing() where there is none.
    explicit CudaLibrary(const device::VendorLibrary& library)
        : title_(library.title),
          opened_(device::open_library(library)) {}

    /// Throws missing() where the library is too old to have it.
    template <typename Function>
    Function* symbol(const char* function) const {
        if (void* address = dlsym(opened_.handle, function)) return reinterpret_cast<Function*>(address);
        throw missing(fmt::format("{} of {}, which has no {}", title_, opened_.file, function),
                      opened_.how_to_get_newer);
    }

private:
    std::string title_;
    device::OpenedLibrary opened_;
};

}  // namespace xcuda::math
