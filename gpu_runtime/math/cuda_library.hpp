// One of NVIDIA's mathematics libraries, opened at run time when it is first needed.
#pragma once

#include <string>

#include "device/cuda/locate.hpp"

namespace xcuda::math {

struct LibraryName {
    const char* stem;     // "cublas": of libcublas.so.13
    const char* title;    // "cuBLAS, which multiplies matrices on a GPU"
    const char* wheel;    // of CUDA 13, for pip
    const char* wheel12;  // of CUDA 12
};

class CudaLibrary {
public:
    /// Opens the first that can be: XCUDA_STEM, wheels, conda, toolkit, loader path. Throws missing() with what was tried.
    explicit CudaLibrary(const LibraryName& name);

    /// Throws missing() where the library is too old to have it.
    template <typename Function>
    Function* symbol(const char* function) const {
        return reinterpret_cast<Function*>(find(function));
    }
    const device::cuda::Candidate& found() const { return found_; }

private:
    void* find(const char* function) const;

    LibraryName name_;
    device::cuda::Candidate found_;
    void* handle_ = nullptr;  // for as long as the process lives
};

}  // namespace xcuda::math
