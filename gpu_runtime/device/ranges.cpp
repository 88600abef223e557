#include "device/ranges.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/locate.hpp"
#endif

namespace xcuda::device {

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

struct Nvtx {
    int (*push)(const char*) = nullptr;
    int (*pop)() = nullptr;
};

/// CUDA 13's library of NVTX's functions, then CUDA 12's. Both hand the calls on to the tool that listens.
Nvtx open() {
    Nvtx made;
#ifdef XCUDA_CUDA_DEVICE
    std::vector<std::string> files;
    if (const std::string named = environment("XCUDA_NVTX"); named.find('/') != std::string::npos)
        files.push_back(named);
    for (const auto& file : cuda::nvtx_files()) files.push_back(file.string());
    for (const std::string& file : files) {
        void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) continue;
        made.push = reinterpret_cast<decltype(made.push)>(dlsym(library, "nvtxRangePushA"));
        made.pop = reinterpret_cast<decltype(made.pop)>(dlsym(library, "nvtxRangePop"));
        if (made.push && made.pop) return made;
    }
#endif
    return {};
}

const Nvtx& nvtx() {
    static const Nvtx opened = open();
    return opened;
}

bool told_to() {
    const std::string ours = environment("XCUDA_NVTX");
    return ours.empty() ? !environment("NVTX_INJECTION64_PATH").empty() : ours != "0";
}

}  // namespace

const bool ranges_wanted = told_to();

void push_range(const std::string& name) noexcept {
    if (nvtx().push) nvtx().push(name.c_str());
}

void pop_range() noexcept {
    if (nvtx().pop) nvtx().pop();
}

}  // namespace xcuda::device
