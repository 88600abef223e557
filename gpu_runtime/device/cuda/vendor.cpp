#include "device/vendor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/bytes.hpp"
#include "device/cuda/context.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/locate.hpp"

namespace xcuda::device {

namespace {

std::string how_to_get(const VendorLibrary& library) {
    const cuda::Driver* driver = cuda::find_driver();
    const char* wheel = driver && driver->version < 13000 ? library.wheel12 : library.wheel;
    return fmt::format("pip install {}, or set {} to the folder of lib{}.so", wheel,
                       cuda::variable(library.stem), library.stem);
}

CUcontext context_of(int ordinal) {
    static std::mutex mutex;
    static std::map<int, CUcontext> known;
    const std::scoped_lock lock(mutex);
    CUcontext& context = known[ordinal];
    if (!context) context = cuda::primary_context(ordinal);
    return context;
}

}  // namespace

OpenedLibrary open_library(const VendorLibrary& library) {
    const cuda::Driver* driver = cuda::find_driver();
    std::string tried;
    for (const cuda::Candidate& candidate : cuda::candidates(library.stem)) {
        if (driver && candidate.major > driver->version / 1000) {
            tried += fmt::format("; {} is of CUDA {}, newer than the driver", candidate.file.string(),
                                 candidate.major);
            continue;
        }
        if (void* handle = dlopen(candidate.file.c_str(), RTLD_NOW | RTLD_LOCAL))
            return {handle, candidate.file.string(), "a newer one: " + how_to_get(library), candidate.from};
        tried += std::string("; ") + dlerror();
    }
    throw missing(fmt::format("{} ({})", library.title, tried.empty() ? "no file" : tried.substr(2)),
                  how_to_get(library));
}

InContext::InContext(const Device& device, const char* library) {
    if (device.info().kind != "cuda")
        throw Error(
            Fault::user, "TypeError",
            fmt::format("{} works on a GPU's arrays; this one is on {}", library, device.info().name));
    current_ = std::make_shared<cuda::Current>(context_of(device.info().ordinal));
}

Error library_failed(const char* doing, const std::string& told, bool out_of_memory) {
    constexpr std::size_t hardly_any = std::size_t{32}
                                       << 20;  // less than a library's kernels and tables take
    std::size_t free = 0, total = 0;
    const bool known = cuda::driver().cuMemGetInfo(&free, &total) == CUDA_SUCCESS;
    std::string message = fmt::format("{} failed: {}", doing, told);
    if (!out_of_memory && !(known && free < hardly_any)) return {Fault::machine, "RuntimeError", message};
    if (known)
        message +=
            fmt::format("; {} of the GPU's memory are free", human_bytes(static_cast<std::int64_t>(free)));
    return {Fault::machine, "MemoryError", message};
}

}  // namespace xcuda::device
