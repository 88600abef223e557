#include "math/cuda_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "device/cuda/driver.hpp"

namespace xcuda::math {

using device::cuda::Candidate;

namespace {

std::string how_to_get(const LibraryName& name) {
    const device::cuda::Driver* driver = device::cuda::find_driver();
    const char* wheel = driver && driver->version < 13000 ? name.wheel12 : name.wheel;
    return fmt::format("pip install {}, or set {} to the folder of lib{}.so", wheel,
                       device::cuda::variable(name.stem), name.stem);
}

}  // namespace

CudaLibrary::CudaLibrary(const LibraryName& name) : name_(name) {
    const device::cuda::Driver* driver = device::cuda::find_driver();
    std::string tried;
    for (const Candidate& candidate : device::cuda::candidates(name.stem)) {
        if (driver && candidate.major > driver->version / 1000) {
            tried += fmt::format("; {} is of CUDA {}, newer than the driver", candidate.file.string(),
                                 candidate.major);
            continue;
        }
        handle_ = dlopen(candidate.file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) {
            found_ = candidate;
            return;
        }
        tried += std::string("; ") + dlerror();
    }
    throw missing(fmt::format("{} ({})", name.title, tried.empty() ? "no file" : tried.substr(2)),
                  how_to_get(name));
}

void* CudaLibrary::find(const char* function) const {
    if (void* address = dlsym(handle_, function)) return address;
    throw missing(fmt::format("{} of {}, which has no {}", name_.title, found_.file.string(), function),
                  "a newer one: " + how_to_get(name_));
}

}  // namespace xcuda::math
