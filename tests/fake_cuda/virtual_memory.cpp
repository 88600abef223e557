// Virtual memory: address ranges that are mapped to pieces of memory, a GPU's or the host's, as files in memory.
#include <sys/mman.h>
#include <unistd.h>

#include "control.hpp"
#include "state.hpp"

using namespace fake;

namespace {

constexpr std::size_t unit = 2 << 20;

Piece* piece_of(CUmemGenericAllocationHandle handle) {
    const auto at = state().pieces.find(reinterpret_cast<Piece*>(handle));
    return at == state().pieces.end() ? nullptr : at->first;
}

void drop(Piece* piece) {
    if (--piece->holders > 0) return;
    close(piece->file);
    state().pieces.erase(piece);
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
    return enter("cuMemGetAllocationGranularity", Needs::driver, [&] {
        *bytes = unit;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long) {
    return enter("cuMemAddressReserve", Needs::driver, [&] {
        if (bytes == 0 || bytes % unit != 0) return CUDA_ERROR_INVALID_VALUE;
        const std::size_t step = alignment ? alignment : unit;
        void* made =
            mmap(nullptr, bytes + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
        const auto begin = reinterpret_cast<std::uintptr_t>(made), at = (begin + step - 1) / step * step;
        if (at > begin) munmap(made, at - begin);
        if (const std::size_t left = begin + step - at) munmap(reinterpret_cast<void*>(at + bytes), left);
        state().reserved[at] = bytes;
        *address = at;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
    return enter("cuMemAddressFree", Needs::driver, [&] {
        const auto at = state().reserved.find(address);
        if (at == state().reserved.end() || at->second != bytes || state().memory.contains(address))
            return CUDA_ERROR_INVALID_VALUE;
        munmap(reinterpret_cast<void*>(address), bytes);
        state().reserved.erase(at);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
    return enter("cuMemCreate", Needs::driver, [&] {
        if (bytes == 0 || bytes % unit != 0) return CUDA_ERROR_INVALID_VALUE;
        const bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
        const int device = on_device ? properties->location.id : -1;
        if (on_device && bytes > available(device)) return CUDA_ERROR_OUT_OF_MEMORY;
        auto made = std::make_unique<Piece>(Piece{bytes, device, memfd_create("fake_cuda", MFD_CLOEXEC)});
        if (made->file < 0 || ftruncate(made->file, static_cast<off_t>(bytes)) != 0)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *handle = reinterpret_cast<CUmemGenericAllocationHandle>(made.get());
        Piece* key = made.get();
        state().pieces.emplace(key, std::move(made));
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return enter("cuMemRelease", Needs::driver, [&] {
        Piece* piece = piece_of(handle);
        if (!piece || piece->released) return CUDA_ERROR_INVALID_VALUE;
        piece->released = true;
        drop(piece);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
    return enter("cuMemMap", Needs::context, [&] {
        State& s = state();
        Piece* piece = piece_of(handle);
        const auto range = s.reserved.find(address);
        if (!piece || offset != 0 || piece->bytes != bytes || range == s.reserved.end() ||
            range->second != bytes || s.memory.contains(address))
            return CUDA_ERROR_INVALID_VALUE;
        ++piece->holders;
        // Nobody may touch it before cuMemSetAccess.
        mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, piece->file, 0);
        s.memory[address] = {bytes, current()->device, nullptr, current(), false, piece};
        return CUDA_SUCCESS;
    });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
    return enter("cuMemSetAccess", Needs::context, [&] {
        const auto at = state().memory.find(address);
        if (at == state().memory.end() || !at->second.piece || at->second.bytes != bytes || count == 0 ||
            access[0].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
    return enter("cuMemUnmap", Needs::context, [&] {
        State& s = state();
        const auto at = s.memory.find(address);
        if (at == s.memory.end() || !at->second.piece || at->second.bytes != bytes)
            return CUDA_ERROR_INVALID_VALUE;
        mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        drop(at->second.piece);
        s.memory.erase(at);
        return CUDA_SUCCESS;
    });
}
}
