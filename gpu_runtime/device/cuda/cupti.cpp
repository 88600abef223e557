#include "device/cuda/cupti.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

/// Why the library can't be used; empty: it is open.
std::string fill(void* library, const Candidate& candidate, Cupti& to) {
#define XCUDA_FIND(name)                                                  \
    to.name = reinterpret_cast<decltype(to.name)>(dlsym(library, #name)); \
    if (!to.name) return fmt::format("{} has no " #name, candidate.file.string());
    XCUDA_CUPTI_FUNCTIONS(XCUDA_FIND)
#undef XCUDA_FIND
#define XCUDA_FIND(name) to.name = reinterpret_cast<decltype(to.name)>(dlsym(library, #name));
    XCUDA_CUPTI_GRAPH_FUNCTIONS(XCUDA_FIND)
#undef XCUDA_FIND
#define XCUDA_FIND(name)                                                  \
    to.name = reinterpret_cast<decltype(to.name)>(dlsym(library, #name)); \
    if (!to.name && to.no_counters.empty())                               \
        to.no_counters =                                                  \
            fmt::format("{} has no " #name ": CUPTI of CUDA 12.6 or later has it", candidate.file.string());
    XCUDA_CUPTI_COUNTER_FUNCTIONS(XCUDA_FIND)
#undef XCUDA_FIND
    if (to.cuptiGetVersion(&to.version) != CUPTI_SUCCESS)
        return candidate.file.string() + " does not tell its version";
    to.found = candidate;
    return {};
}

/// Another library (torch) may have loaded one already: two in a process stand in each other's way.
void* already_loaded(Candidate& candidate) {
    for (const Candidate& each : candidates("cupti")) {
        if (each.file.has_parent_path()) continue;
        if (void* library = dlopen(each.file.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
            candidate = each;
            candidate.from = "loaded by another library";
            Dl_info info;
            if (void* symbol = dlsym(library, "cuptiGetVersion"); symbol && dladdr(symbol, &info))
                candidate.file = info.dli_fname;
            return library;
        }
    }
    return nullptr;
}

std::string open_first(Cupti& made) {
    const char* named = std::getenv("XCUDA_CUPTI");
    if (named && !*named) named = nullptr;
    Candidate loaded;
    if (void* library = named ? nullptr : already_loaded(loaded)) {
        if (const std::string why = fill(library, loaded, made); why.empty()) return {};
        made = {};
    }
    const Driver* d = find_driver();
    std::string tried;
    for (const Candidate& candidate : candidates("cupti")) {
        if (named && candidate.from != "XCUDA_CUPTI") continue;
        std::string why;
        if (d && candidate.major > d->version / 1000) {
            why = fmt::format("{} is of CUDA {}, newer than the driver's CUDA {}", candidate.file.string(),
                              candidate.major, version_text(d->version));
        } else if (void* library = dlopen(candidate.file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            why = fill(library, candidate, made);
            if (why.empty()) return {};
            made = {};
        } else {
            why = dlerror();
        }
        tried += (tried.empty() ? "" : "; ") + why;
    }
    return tried.empty() ? fmt::format("XCUDA_CUPTI is \"{}\": no libcupti is there", named) : tried;
}

}  // namespace

const Cupti* find_cupti(std::string* why, std::string* advice) {
    static std::mutex& mutex = *new std::mutex;
    static std::optional<Cupti>& opened = *new std::optional<Cupti>;
    const std::lock_guard lock(mutex);
    if (!opened) {
        Cupti made;
        const std::string problem = open_first(made);
        if (!problem.empty()) {  // tried again the next time: it may have been installed
            if (why) *why = problem;
            const Driver* d = find_driver();
            if (advice)
                *advice =
                    fmt::format("pip install {}, or set XCUDA_CUPTI to the folder of libcupti.so",
                                d && d->version < 13000 ? "nvidia-cuda-cupti-cu12" : "nvidia-cuda-cupti");
            return nullptr;
        }
        opened = std::move(made);
    }
    return &*opened;
}

std::string cupti_problem(const Cupti& cupti, CUptiResult result, const char* doing) {
    switch (result) {
        case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
            return "another profiler (Nsight, torch.profiler) has the GPU's profiling interface to itself";
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
            return "the driver lets only administrators read hardware counters: run as root, or have "
                   "NVreg_RestrictProfilingToAdminUsers=0 set for the nvidia module "
                   "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
            return "this virtual GPU does not let its guests profile: its host must enable that";
        case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
            return "the GPU runs in confidential computing mode, which allows no profiling";
        case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED: return "CUPTI does not profile this MIG slice of a GPU";
        default: break;
    }
    const char* name = nullptr;
    cupti.cuptiGetResultString(result, &name);
    return fmt::format("{}: CUPTI says {} ({})", doing, name ? name : "nothing", static_cast<int>(result));
}

}  // namespace xcuda::device::cuda
