// libnvrtc.so.13 for tests: the real one of REAL_NVRTC does the work, and RECORDED_NVRTC, a file, gets the options of each
// compile, a line each, "|" between them.
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>

namespace {

void* real(const char* name) {
    static void* library = dlopen(std::getenv("REAL_NVRTC"), RTLD_NOW | RTLD_LOCAL);
    void* found = library ? dlsym(library, name) : nullptr;
    if (!found) std::fprintf(stderr, "REAL_NVRTC is no NVRTC: it has no %s\n", name), std::abort();
    return found;
}

}  // namespace

#define FORWARD(name, parameters, ...)                                              \
    extern "C" __attribute__((visibility("default"))) nvrtcResult name parameters { \
        static const auto call = reinterpret_cast<decltype(&name)>(real(#name));    \
        return call(__VA_ARGS__);                                                   \
    }

FORWARD(nvrtcVersion, (int* major, int* minor), major, minor)
FORWARD(nvrtcGetNumSupportedArchs, (int* count), count)
FORWARD(nvrtcGetSupportedArchs, (int* all), all)
FORWARD(nvrtcCreateProgram,
        (nvrtcProgram * made, const char* text, const char* name, int count, const char* const* headers,
         const char* const* names),
        made, text, name, count, headers, names)
FORWARD(nvrtcDestroyProgram, (nvrtcProgram * program), program)
FORWARD(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t* size), program, size)
FORWARD(nvrtcGetProgramLog, (nvrtcProgram program, char* log), program, log)
FORWARD(nvrtcGetCUBINSize, (nvrtcProgram program, size_t* size), program, size)
FORWARD(nvrtcGetCUBIN, (nvrtcProgram program, char* to), program, to)
FORWARD(nvrtcGetPTXSize, (nvrtcProgram program, size_t* size), program, size)
FORWARD(nvrtcGetPTX, (nvrtcProgram program, char* to), program, to)

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(nvrtcResult result) {
    static const auto call = reinterpret_cast<decltype(&nvrtcGetErrorString)>(real("nvrtcGetErrorString"));
    return call(result);
}

extern "C" __attribute__((visibility("default"))) nvrtcResult
nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
    const char* record = std::getenv("RECORDED_NVRTC");
    if (std::FILE* file = record ? std::fopen(record, "a") : nullptr) {
        for (int i = 0; i < count; ++i) std::fprintf(file, "%s%s", i ? "|" : "", options[i]);
        std::fputc('\n', file);
        std::fclose(file);
    }
    static const auto call = reinterpret_cast<decltype(&nvrtcCompileProgram)>(real("nvrtcCompileProgram"));
    return call(program, count, options);
}
