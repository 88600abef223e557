// Memory: pools with limits, over host memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "control.hpp"
#include "profiling.hpp"
#include "state.hpp"

using namespace fake;

namespace {

constexpr std::uint64_t step = 2 << 20;  // what a pool reserves in

std::uint64_t taken(int device) {
    const State& s = state();
    std::uint64_t bytes = static_cast<std::uint64_t>(s.options.others);
    for (const Pool* pool : s.live_pools)
        if (pool->device == device) bytes += pool->reserved;
    for (const auto& [address, a] : s.memory)
        if (a.device == device && !a.pool && !a.piece) bytes += a.bytes;
    for (const auto& [piece, _] : s.pieces)
        if (piece->device == device) bytes += piece->bytes;
    return bytes;
}

}  // namespace

namespace fake {

std::uint64_t available(int device) {
    const auto all = static_cast<std::uint64_t>(state().options.memory);
    return all - std::min(all, taken(device));
}

}  // namespace fake

namespace {

void* bytes_for(std::uint64_t bytes) {
    return std::aligned_alloc(512, (std::max<std::uint64_t>(bytes, 1) + 511) / 512 * 512);
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes, Pool* pool, Context* context) {
    State& s = state();
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    const int device = pool ? pool->device : context->device;
    if (pool) {
        const std::uint64_t used = pool->used + bytes;
        if (used > pool->reserved) {
            const std::uint64_t more = (used - pool->reserved + step - 1) / step * step;
            if (more > available(device)) return CUDA_ERROR_OUT_OF_MEMORY;
            pool->reserved += more;
        }
        pool->used = used;
        pool->used_high = std::max(pool->used_high, pool->used);
        pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
    } else if (bytes > available(device)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void* made = bytes_for(bytes);
    std::memset(made, 0xcd, bytes);
    *address = reinterpret_cast<CUdeviceptr>(made);
    s.memory[reinterpret_cast<std::uintptr_t>(made)] = {bytes, device, pool, context, true};
    return CUDA_SUCCESS;
}

/// The allocation that holds these bytes; null where none does.
const Allocation* holder(std::uintptr_t address, std::size_t bytes) {
    State& s = state();
    auto at = s.memory.upper_bound(address);
    if (at == s.memory.begin()) return nullptr;
    --at;
    return address + bytes <= at->first + at->second.bytes ? &at->second : nullptr;
}

bool on_device(CUdeviceptr address, std::size_t bytes) {
    const Allocation* a = holder(address, bytes);
    return a && a->device >= 0;
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void free_now(std::uintptr_t address) {
    State& s = state();
    const auto at = s.memory.find(address);
    if (at == s.memory.end()) return;
    if (Pool* pool = at->second.pool) pool->used -= at->second.bytes;
    release_bytes(address, at->second);
    s.memory.erase(at);
}

/// Copies in the stream's order. Ordinary host memory is read or written before the call returns, as the driver does.
CUresult copy(const char* name, void* to, const void* from, std::size_t bytes, CUstream handle) {
    std::uint64_t until = 0;
    const CUresult result = enter(name, Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        const Allocation *a = holder(reinterpret_cast<std::uintptr_t>(to), bytes),
                         *b = holder(reinterpret_cast<std::uintptr_t>(from), bytes);
        const auto move = [=, call = call_number()](const void* source) {
            const double begin = now();
            std::memcpy(to, source, bytes);
            profile_copy({call, stream->context, stream, begin, now()}, to, from, bytes);
        };
        if (a && b) {
            add(*stream, [=] { move(from); });
            return CUDA_SUCCESS;
        }
        if (stream->capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        if (a) {  // from ordinary memory: through a buffer
            auto buffer = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
            add(*stream, [=] { move(buffer->data()); });
        } else {
            add(*stream, [=] { move(from); });
            until = stream->last;
        }
        return CUDA_SUCCESS;
    });
    if (result != CUDA_SUCCESS || until == 0) return result;
    std::unique_lock lock(state().mutex);
    state().changed.wait(lock, [&] { return state().done >= until; });
    return current()->broken;
}

}  // namespace

namespace fake {

void release_bytes(std::uintptr_t address, const Allocation& allocation) {
    if (allocation.owned) std::free(reinterpret_cast<void*>(address));
}

}  // namespace fake

extern "C" {

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
    return enter("cuMemPoolCreate", Needs::driver, [&] {
        State& s = state();
        s.pools.push_back(std::make_unique<Pool>(Pool{properties->location.id}));
        s.live_pools.insert(s.pools.back().get());
        *pool = reinterpret_cast<CUmemoryPool>(s.pools.back().get());
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    return enter("cuMemPoolDestroy", Needs::driver, [&] {
        return state().live_pools.erase(reinterpret_cast<Pool*>(pool)) ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
    return enter("cuDeviceGetDefaultMemPool", Needs::driver, [&] {
        *pool = reinterpret_cast<CUmemoryPool>(state().default_pools[static_cast<std::size_t>(device)]);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute which, void* value) {
    return enter("cuMemPoolSetAttribute", Needs::driver, [&] {
        auto* pool = reinterpret_cast<Pool*>(handle);
        if (!state().live_pools.contains(pool)) return CUDA_ERROR_INVALID_VALUE;
        const auto number = *static_cast<cuuint64_t*>(value);
        if (which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) pool->threshold = number;
        if (which == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool->used_high = pool->used;
        if (which == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) pool->reserved_high = pool->reserved;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute which, void* value) {
    return enter("cuMemPoolGetAttribute", Needs::driver, [&] {
        auto* pool = reinterpret_cast<Pool*>(handle);
        if (!state().live_pools.contains(pool)) return CUDA_ERROR_INVALID_VALUE;
        cuuint64_t& out = *static_cast<cuuint64_t*>(value);
        switch (which) {
            case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: out = pool->threshold; break;
            case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: out = pool->used; break;
            case CU_MEMPOOL_ATTR_USED_MEM_HIGH: out = pool->used_high; break;
            case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: out = pool->reserved; break;
            case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: out = pool->reserved_high; break;
            default: return CUDA_ERROR_INVALID_VALUE;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
    return enter("cuMemPoolTrimTo", Needs::driver, [&] {
        auto* pool = reinterpret_cast<Pool*>(handle);
        if (!state().live_pools.contains(pool)) return CUDA_ERROR_INVALID_VALUE;
        const std::uint64_t least = std::max<std::uint64_t>(pool->used, keep);
        pool->reserved = std::min(pool->reserved, (least + step - 1) / step * step);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc*, std::size_t) {
    return enter("cuMemPoolSetAccess", Needs::driver, [] { return CUDA_SUCCESS; });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool handle,
                                 CUstream stream) {
    return enter("cuMemAllocFromPoolAsync", Needs::context, [&] {
        auto* pool = reinterpret_cast<Pool*>(handle);
        if (!state().live_pools.contains(pool) || !stream_of(stream)) return CUDA_ERROR_INVALID_VALUE;
        return allocate(address, bytes, pool, current());
    });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    return enter("cuMemAllocAsync", Needs::context, [&] {
        if (!stream_of(stream)) return CUDA_ERROR_INVALID_HANDLE;
        Pool* pool = state().default_pools[static_cast<std::size_t>(current()->device)];
        return allocate(address, bytes, pool, current());
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    return enter("cuMemFreeAsync", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (!state().memory.contains(address)) return CUDA_ERROR_INVALID_VALUE;
        add(*stream, [=] {
            const std::lock_guard lock(state().mutex);
            free_now(address);
        });
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
    return enter("cuMemAlloc", Needs::context, [&] { return allocate(address, bytes, nullptr, current()); });
}

CUresult cuMemFree(CUdeviceptr address) {
    return enter("cuMemFree", Needs::context, [&] {
        if (!on_device(address, 1)) return CUDA_ERROR_INVALID_VALUE;
        free_now(address);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
    return enter("cuMemGetInfo", Needs::context, [&] {
        *free = available(current()->device);
        *total = static_cast<std::size_t>(state().options.memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    return enter("cuMemHostAlloc", Needs::context, [&] {
        *memory = bytes_for(bytes);
        state().memory[reinterpret_cast<std::uintptr_t>(*memory)] = {bytes, -1, nullptr, current(), true};
        return CUDA_SUCCESS;
    });
}

CUresult cuMemFreeHost(void* memory) {
    return enter("cuMemFreeHost", Needs::context, [&] {
        if (!state().memory.contains(reinterpret_cast<std::uintptr_t>(memory)))
            return CUDA_ERROR_INVALID_VALUE;
        free_now(reinterpret_cast<std::uintptr_t>(memory));
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostRegister(void* memory, std::size_t bytes, unsigned) {
    return enter("cuMemHostRegister", Needs::context, [&] {
        const auto [at, added] = state().memory.try_emplace(reinterpret_cast<std::uintptr_t>(memory),
                                                            Allocation{bytes, -1, nullptr, current(), false});
        return added ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    });
}

CUresult cuMemHostUnregister(void* memory) {
    return enter("cuMemHostUnregister", Needs::context, [&] {
        return state().memory.erase(reinterpret_cast<std::uintptr_t>(memory))
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned) {
    return enter("cuMemHostGetDevicePointer", Needs::context, [&] {
        *address = reinterpret_cast<CUdeviceptr>(memory);
        return holder(*address, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** values,
                                CUdeviceptr address) {
    return enter("cuPointerGetAttributes", Needs::context, [&] {
        const Allocation* a = holder(address, 1);
        for (unsigned i = 0; i < count; ++i) switch (which[i]) {
                case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
                    *static_cast<unsigned*>(values[i]) =
                        !a ? 0u : unsigned(a->device >= 0 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
                    break;
                case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
                    *static_cast<int*>(values[i]) = a ? std::max(a->device, 0) : -2;
                    break;
                case CU_POINTER_ATTRIBUTE_CONTEXT:
                    *static_cast<CUcontext*>(values[i]) =
                        reinterpret_cast<CUcontext>(a ? a->context : nullptr);
                    break;
                case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
                    *static_cast<CUdeviceptr*>(values[i]) = a ? address : 0;
                    break;
                case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<unsigned*>(values[i]) = 0; break;
                default: return CUDA_ERROR_INVALID_VALUE;
            }
        return CUDA_SUCCESS;
    });
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute which, CUdeviceptr address) {
    {
        const std::lock_guard lock(state().mutex);
        if (!holder(address, 1)) return CUDA_ERROR_INVALID_VALUE;
    }
    return cuPointerGetAttributes(1, &which, &value, address);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy("cuMemcpyAsync", pointer(to), pointer(from), bytes, stream);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes,
                           CUstream stream) {
    return copy("cuMemcpyPeerAsync", pointer(to), pointer(from), bytes, stream);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy("cuMemcpyDtoDAsync", pointer(to), pointer(from), bytes, stream);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
    return copy("cuMemcpyHtoDAsync", pointer(to), from, bytes, stream);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy("cuMemcpyDtoHAsync", to, pointer(from), bytes, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, std::size_t bytes, CUstream handle) {
    return enter("cuMemsetD8Async", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (!on_device(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
        add(*stream, [=, call = call_number()] {
            const double begin = now();
            std::memset(pointer(to), byte, bytes);
            profile_fill({call, stream->context, stream, begin, now()}, bytes);
        });
        return CUDA_SUCCESS;
    });
}
}
