#include "device/cuda/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr int oldest = 12000;

/// A driver loads what its own major version's compiler made, and all before.
bool too_new(const Candidate& candidate) {
    const Driver* d = find_driver();
    return d && candidate.major > d->version / 1000;
}

/// Why the candidate can't be used; empty: it is open.
std::string open(const Candidate& candidate, Nvrtc& to) {
    void* library = dlopen(candidate.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define XCUDA_FIND(name)                                                  \
    to.name = reinterpret_cast<decltype(to.name)>(dlsym(library, #name)); \
    if (!to.name) return fmt::format("{} has no " #name, candidate.file.string());
    XCUDA_NVRTC_FUNCTIONS(XCUDA_FIND)
#undef XCUDA_FIND
    int major = 0, minor = 0, count = 0;
    if (to.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS)
        return candidate.file.string() + " does not tell its version";
    to.version = major * 1000 + minor * 10;
    if (to.version < oldest)
        return fmt::format("{} is of CUDA {}; 12.0 or later is needed", candidate.file.string(),
                           version_text(to.version));
    to.nvrtcGetNumSupportedArchs(&count);
    to.architectures.resize(static_cast<std::size_t>(count));
    to.nvrtcGetSupportedArchs(to.architectures.data());
    to.found = candidate;
    return {};
}

Nvrtc open_first() {
    std::string tried;
    for (const Candidate& candidate : candidates("nvrtc")) {
        std::string why;
        if (too_new(candidate)) {
            why = fmt::format("{} is of CUDA {}, newer than the driver's CUDA {}", candidate.file.string(),
                              candidate.major, version_text(driver().version));
        } else {
            Nvrtc made;
            why = open(candidate, made);
            if (why.empty()) return made;
        }
        tried += (tried.empty() ? "" : "; ") + why;
    }
    const Driver* d = find_driver();
    throw missing(fmt::format("NVRTC, which compiles kernels for a GPU ({})", tried),
                  fmt::format("pip install {}, or set XCUDA_NVRTC to the folder of libnvrtc.so",
                              d && d->version < 13000 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc"));
}

}  // namespace

const Nvrtc& nvrtc() {
    static const Nvrtc& opened = *new Nvrtc(open_first());
    return opened;
}

Candidate nvrtc_file() {
    for (const Candidate& candidate : candidates("nvrtc"))
        if (!too_new(candidate)) return candidate;
    return {};
}

}  // namespace xcuda::device::cuda
