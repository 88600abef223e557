// One of NVIDIA's mathematics libraries, opened when it is first needed.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include "device/vendor.hpp"

namespace xcuda::math {

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
