#include "device/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "device/cuda/context.hpp"

#define XCUDA_TEXT_(x) #x
#define XCUDA_TEXT(x) XCUDA_TEXT_(x)

namespace xcuda::device::cuda {

namespace {

constexpr int oldest = 12000;
std::atomic<bool> forked{false};  // set in a child of a process that had started CUDA

struct Opened {
    Driver driver;
    std::string problem;  // empty: it is usable
};

/// A function by the name its declaration stands for; an older driver may have it without the version.
void* symbol(void* library, std::string_view versioned, const char* plain) {
    if (void* found = dlsym(library, std::string(versioned).c_str())) return found;
    // The only function here whose versions take the same arguments.
    return std::string_view(plain) == "cuEventElapsedTime" ? dlsym(library, plain) : nullptr;
}

std::string no_device_hint() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible ? fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\")", visible) : std::string();
}

Opened open() {
    Opened made;
    // The toolkit's stub is a file of another name, so it is not met here; where it is, cuInit says so.
    made.driver.found = driver_file();
    void* library = dlopen(made.driver.found.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        made.problem = fmt::format("no NVIDIA driver is installed ({})", dlerror());
        return made;
    }
    Driver& d = made.driver;
#define XCUDA_FIND(name)                                                                   \
    d.name = reinterpret_cast<decltype(d.name)>(symbol(library, XCUDA_TEXT(name), #name)); \
    if (!d.name && made.problem.empty())                                                   \
        made.problem =                                                                     \
            "the NVIDIA driver is too old: it has no " XCUDA_TEXT(name) " (CUDA 12.0 or later is needed)";
#define XCUDA_FIND_(name) XCUDA_FIND(name)
    XCUDA_DRIVER_FUNCTIONS(XCUDA_FIND)
#undef XCUDA_FIND_
#undef XCUDA_FIND
    d.cuCtxRecordEvent = reinterpret_cast<decltype(d.cuCtxRecordEvent)>(dlsym(library, "cuCtxRecordEvent"));
    if (d.cuDriverGetVersion) d.cuDriverGetVersion(&d.version);
    if (!made.problem.empty()) return made;
    if (d.version < oldest) {
        made.problem =
            fmt::format("the NVIDIA driver is for CUDA {}: 12.0 or later is needed", version_text(d.version));
        return made;
    }
    if (const CUresult result = d.cuInit(0); result != CUDA_SUCCESS) {
        const char* words = nullptr;
        d.cuGetErrorString(result, &words);
        made.problem = result == CUDA_ERROR_NO_DEVICE
                           ? "the NVIDIA driver shows no GPU" + no_device_hint()
                           : fmt::format("the NVIDIA driver does not start: {} ({})",
                                         words ? words : "no words for it", static_cast<int>(result));
        return made;
    }
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    return made;
}

const Opened& opened() {
    static const Opened& once = *new Opened(open());
    return once;
}

struct Advice {
    CUresult result;
    Fault fault;
    const char* python_type;
    const char* advice;
};

constexpr Advice advices[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, Fault::machine, "MemoryError", "delete arrays that are no longer needed"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Fault::user, "ValueError",
     "the kernel uses too many registers for so large a block: launch smaller blocks"},
    {CUDA_ERROR_INVALID_VALUE, Fault::internal, "RuntimeError", ""},
    {CUDA_ERROR_NOT_INITIALIZED, Fault::machine, "RuntimeError", ""},
    {CUDA_ERROR_INVALID_SOURCE, Fault::internal, "RuntimeError", ""},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, Fault::internal, "RuntimeError", ""},
    {CUDA_ERROR_INVALID_PTX, Fault::internal, "RuntimeError", ""},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, Fault::machine, "RuntimeError",
     "NVRTC is newer than the driver: install an older one (pip install 'nvidia-cuda-nvrtc-cu12') or a newer "
     "driver"},
    {CUDA_ERROR_INVALID_IMAGE, Fault::internal, "RuntimeError", ""},
    {CUDA_ERROR_ECC_UNCORRECTABLE, Fault::machine, "RuntimeError",
     "the GPU's memory is damaged: restart the machine"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, Fault::machine, "RuntimeError",
     "another process holds the GPU for itself alone"},
};

constexpr CUresult sticky[] = {
    CUDA_ERROR_ILLEGAL_ADDRESS,       CUDA_ERROR_LAUNCH_TIMEOUT,      CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,  CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,          CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,  CUDA_ERROR_ECC_UNCORRECTABLE,
};

}  // namespace

const Driver* find_driver(std::string* why) {
    const Opened& it = opened();
    if (it.problem.empty()) return &it.driver;
    if (why) *why = it.problem;
    return nullptr;
}

const Driver& open_driver() {
    std::string why;
    if (const Driver* found = find_driver(&why)) {
        known_driver.store(found, std::memory_order_release);
        return *found;
    }
    throw missing("a GPU to run on: " + why,
                  "use the CPU device, or install NVIDIA's driver on a machine with a GPU");
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

bool is_sticky(CUresult result) {
    for (const CUresult each : sticky)
        if (each == result) return true;
    return false;
}

Error driver_error(CUresult result, const char* doing) {
    const char *name = nullptr, *words = nullptr;
    if (const Driver* d = find_driver()) {
        d->cuGetErrorName(result, &name);
        d->cuGetErrorString(result, &words);
    }
    const std::string told =
        fmt::format("{}: the CUDA driver says \"{}\" ({})", doing, words ? words : "no words for it",
                    name ? name : std::to_string(static_cast<int>(result)));
    if (forked.load())
        return Error(Fault::user, "RuntimeError",
                     fmt::format("{}; this process was forked from one that had started CUDA", told),
                     std::nullopt, "start it anew instead: multiprocessing.set_start_method(\"spawn\")");
    if (is_sticky(result)) {
        const auto device = device_of(Current::here());
        if (!device)
            return Error(Fault::machine, "DeviceLostError", told, std::nullopt,
                         "restart the process to use the GPU again");
        lose(*device, result, doing);
        return lost_error(*device);
    }
    for (const Advice& a : advices)
        if (a.result == result) return Error(a.fault, a.python_type, told, std::nullopt, a.advice);
    return Error(Fault::machine, "RuntimeError", told);
}

}  // namespace xcuda::device::cuda
