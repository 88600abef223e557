// Libraries of the GPU's maker that floors above call themselves: where they are opened, and the context that they need.
#pragma once

#include <memory>
#include <string>

#include "base/error.hpp"
#include "device/device.hpp"

namespace xcuda::device {

struct VendorLibrary {
    const char* stem;     // "cublas": of libcublas.so.13
    const char* title;    // "cuBLAS, which multiplies matrices on a GPU"
    const char* wheel;    // of CUDA 13, for pip
    const char* wheel12;  // of CUDA 12
};

struct OpenedLibrary {
    void* handle = nullptr;                    // dlopen's, for as long as the process lives
    std::string file, how_to_get_newer, from;  // from: "conda", "the CUDA toolkit", ...
};
/// The first that can be opened: XCUDA_STEM, wheels of this Python, conda, toolkit, loader path. Throws missing() with what
/// was tried and how to get it.
OpenedLibrary open_library(const VendorLibrary& library);

/// The GPU's context is current on this thread for as long as this lives. Throws a TypeError where the device is no GPU:
/// "`library` works on a GPU's arrays".
class InContext {
public:
    InContext(const Device& device, const char* library);

private:
    std::shared_ptr<void> current_;
};

/// What a failed call of a library is told as, while its InContext lives: "`doing` failed: `told`". A MemoryError where the
/// library says that memory ran out, or says something else and hardly any is free (cuFFT: an internal error).
Error library_failed(const char* doing, const std::string& told, bool out_of_memory);

}  // namespace xcuda::device
