// Starting, devices, contexts.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "state.hpp"

using namespace fake;

namespace {

CUresult known_device(CUdevice device) {
    return device >= 0 && device < state().options.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

Context& primary(CUdevice device) { return *state().primaries[static_cast<std::size_t>(device)]; }

/// An H200's, but for memory and architecture.
int attribute(CUdevice_attribute which) {
    static const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 * 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 * 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    };
    if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        return static_cast<int>(state().options.architecture / 10);
    if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        return static_cast<int>(state().options.architecture % 10);
    const auto at = values.find(which);
    return at == values.end() ? 0 : at->second;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
    return enter("cuInit", Needs::nothing, [] {
        State& s = state();
        if (s.options.init != 0) return static_cast<CUresult>(s.options.init);
        if (s.options.devices == 0) return CUDA_ERROR_NO_DEVICE;
        if (s.initialised && s.process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
        s.initialised = true;
        s.process = getpid();
        for (int i = static_cast<int>(s.primaries.size()); i < s.options.devices; ++i) {
            s.primaries.push_back(std::make_unique<Context>());
            s.primaries.back()->device = i;
            s.primaries.back()->primary = true;
            s.pools.push_back(std::make_unique<Pool>(Pool{i}));
            s.default_pools.push_back(s.pools.back().get());
            s.live_pools.insert(s.pools.back().get());
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuDriverGetVersion(int* version) {
    return enter("cuDriverGetVersion", Needs::nothing, [&] {
        *version = static_cast<int>(state().options.version);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetCount(int* count) {
    return enter("cuDeviceGetCount", Needs::driver, [&] {
        *count = static_cast<int>(state().options.devices);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return enter("cuDeviceGet", Needs::driver, [&] {
        *device = ordinal;
        return known_device(ordinal);
    });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    return enter("cuDeviceGetName", Needs::driver, [&] {
        std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
        return known_device(device);
    });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
    return enter("cuDeviceGetUuid", Needs::driver, [&] {
        std::memset(uuid->bytes, 0, sizeof uuid->bytes);
        uuid->bytes[15] = static_cast<char>(device);
        return known_device(device);
    });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
    return enter("cuDeviceGetAttribute", Needs::driver, [&] {
        *value = attribute(which);
        return known_device(device);
    });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
    return enter("cuDeviceTotalMem", Needs::driver, [&] {
        *bytes = static_cast<std::size_t>(state().options.memory);
        return known_device(device);
    });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
    return enter("cuDeviceCanAccessPeer", Needs::driver, [&] {
        *can = 1;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
    return enter("cuCtxEnablePeerAccess", Needs::context, [] { return CUDA_SUCCESS; });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return enter("cuDevicePrimaryCtxRetain", Needs::driver, [&] {
        if (known_device(device) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
        Context& c = primary(device);
        c.alive = true;  // made anew at the same address after a reset, as the driver does
        ++c.retained;
        *context = reinterpret_cast<CUcontext>(&c);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    return enter_unlocked("cuDevicePrimaryCtxRelease", Needs::driver, [&] {
        std::unique_lock lock(state().mutex);
        Context& c = primary(device);
        if (c.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
        if (--c.retained == 0) destroy(c, lock);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    return enter_unlocked("cuDevicePrimaryCtxReset", Needs::driver, [&] {
        std::unique_lock lock(state().mutex);
        destroy(primary(device), lock);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    return enter("cuDevicePrimaryCtxGetState", Needs::driver, [&] {
        *flags = 0;
        *active = primary(device).alive;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned) {
    return enter("cuDevicePrimaryCtxSetFlags", Needs::driver, [] { return CUDA_SUCCESS; });
}

// A reset leaves the thread's current context as it is, and it may be destroyed.
CUresult cuCtxGetCurrent(CUcontext* context) {
    if (state().options.idle) return *context = reinterpret_cast<CUcontext>(current()), CUDA_SUCCESS;
    return enter("cuCtxGetCurrent", Needs::driver, [&] {
        *context = reinterpret_cast<CUcontext>(current());
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return enter("cuCtxSetCurrent", Needs::driver, [&] {
        auto* c = reinterpret_cast<Context*>(context);
        if (c && !c->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        current() = c;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit which) {
    return enter("cuCtxGetLimit", Needs::context, [&] {
        if (which != CU_LIMIT_STACK_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
        *value = current()->stack;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetLimit(CUlimit which, std::size_t value) {
    return enter("cuCtxSetLimit", Needs::context, [&] {
        if (which != CU_LIMIT_STACK_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
        current()->stack = value;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice* device) {
    return enter("cuCtxGetDevice", Needs::driver, [&] {
        if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
        *device = current()->device;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
    return enter("cuCtxGetApiVersion", Needs::driver, [&] {
        *version = 3020;
        const auto* c = context ? reinterpret_cast<Context*>(context) : current();
        return c && c->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return enter("cuCtxGetStreamPriorityRange", Needs::context, [&] {
        *least = 0;
        *greatest = -5;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize() {
    return enter_unlocked("cuCtxSynchronize", Needs::context, [] {
        std::unique_lock lock(state().mutex);
        const std::uint64_t until = state().added;
        state().changed.wait(lock, [&] { return state().done >= until; });
        return current()->alive ? current()->broken : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    });
}

CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
    return enter("cuGetProcAddress", Needs::nothing, [&] {
        *function = nullptr;
        Dl_info self{};
        dladdr(reinterpret_cast<void*>(&cuInit), &self);
        void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);  // may be opened RTLD_LOCAL
        for (const char* version : {"_v4", "_v3", "_v2", ""})
            if (!*function) *function = dlsym(library, (std::string(symbol) + version).c_str());
        dlclose(library);
        if (status) *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    });
}
}
