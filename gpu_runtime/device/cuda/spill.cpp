#include "device/cuda/spill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

std::int64_t signed_of(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

CUdeviceptr address_of(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    return driver().cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

/// Waits for all that was given to the GPU, in all streams of all libraries.
void wait_for_all() { check(driver().cuCtxSynchronize(), "waiting for the GPU"); }

}  // namespace

CUmemAllocationProp Spill::properties(bool on_host) const {
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = on_host ? host_ : CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = on_host ? node_ : device_;
    return p;
}

void Spill::set_limit(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > 0 && host_ == CU_MEM_LOCATION_TYPE_INVALID) {
        const Driver& d = driver();
        const int node = attribute(device_, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
        // Tried out, since what a container or a virtual machine lets the driver do is not among the attributes.
        const std::pair<CUmemLocationType, int> places[] = {
            {CU_MEM_LOCATION_TYPE_HOST_NUMA, std::max(node, 0)}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
        for (const auto& [type, id] : places) {
            host_ = type, node_ = id;
            std::size_t unit = 0, host_unit = 0;
            const CUmemAllocationProp here = properties(false), there = properties(true);
            CUmemGenericAllocationHandle handle = 0;
            if (d.cuMemGetAllocationGranularity(&unit, &here, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) ==
                    CUDA_SUCCESS &&
                d.cuMemGetAllocationGranularity(&host_unit, &there, CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
                    CUDA_SUCCESS &&
                d.cuMemCreate(&handle, std::max(unit, host_unit), &there, 0) == CUDA_SUCCESS) {
                d.cuMemRelease(handle);
                unit_ = std::max({unit, host_unit, smallest});
                break;
            }
            host_ = CU_MEM_LOCATION_TYPE_INVALID;
        }
        if (host_ == CU_MEM_LOCATION_TYPE_INVALID)
            throw Error(
                Fault::machine, "RuntimeError",
                fmt::format("arrays of {} can't move to host memory: the CUDA driver maps none under a GPU's "
                            "addresses on this machine",
                            gpu_name_),
                std::nullopt, "a driver for CUDA 12.2 or later does, outside of some containers");
    }
    limit_ = bytes;
}

std::int64_t Spill::limit() const {
    const std::lock_guard lock(mutex_);
    return limit_;
}

bool Spill::takes(std::size_t bytes) const { return bytes >= smallest && limit() > 0; }

CUresult Spill::map(CUdeviceptr at, std::size_t bytes, CUmemGenericAllocationHandle handle) const {
    const Driver& d = driver();
    if (const CUresult mapped = d.cuMemMap(at, bytes, 0, handle, 0); mapped != CUDA_SUCCESS) return mapped;
    // As the pool's memory: other GPUs that can reach this one's may read and write it.
    std::vector<CUmemAccessDesc> access;
    int count = 0;
    d.cuDeviceGetCount(&count);
    for (int i = 0; i < count; ++i) {
        CUdevice peer = 0;
        int can = 0;
        if (d.cuDeviceGet(&peer, i) != CUDA_SUCCESS) continue;
        if (peer != device_ && (d.cuDeviceCanAccessPeer(&can, peer, device_) != CUDA_SUCCESS || !can))
            continue;
        CUmemAccessDesc one{};
        one.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        one.location.id = peer;
        one.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        access.push_back(one);
    }
    const CUresult set = d.cuMemSetAccess(at, bytes, access.data(), access.size());
    if (set != CUDA_SUCCESS) d.cuMemUnmap(at, bytes);
    return set;
}

void* Spill::allocate(std::size_t bytes, CUstream stream) {
    const Driver& d = driver();
    const std::lock_guard lock(mutex_);
    const std::size_t whole = (bytes + unit_ - 1) / unit_ * unit_;
    forget_released();
    for (auto& [address, block] : blocks_) {
        if (block.in_use || block.on_host || block.bytes != whole) continue;
        check(d.cuStreamWaitEvent(stream, block.released, CU_EVENT_WAIT_DEFAULT), "waiting for an event");
        block.in_use = true;
        block.stays = false;
        block.used = ++clock_;
        count();
        return reinterpret_cast<void*>(address);
    }
    Block made;
    made.bytes = whole;
    made.used = ++clock_;
    const CUmemAllocationProp here = properties(false);
    CUresult result = d.cuMemCreate(&made.handle, whole, &here, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
    check(result, "allocating memory on the GPU");
    CUdeviceptr address = 0;
    result = d.cuMemAddressReserve(&address, whole, unit_, 0, 0);
    if (result == CUDA_SUCCESS && (result = map(address, whole, made.handle)) != CUDA_SUCCESS)
        d.cuMemAddressFree(address, whole);
    if (result != CUDA_SUCCESS) {
        d.cuMemRelease(made.handle);
        throw driver_error(result, "mapping memory of the GPU");
    }
    blocks_.emplace(address, made);
    count();
    return reinterpret_cast<void*>(address);
}

bool Spill::release(const void* address, CUstream stream) {
    const std::lock_guard lock(mutex_);
    const auto at = blocks_.find(address_of(address));
    if (at == blocks_.end()) return false;
    Block& block = at->second;
    if (!block.released)
        check(driver().cuEventCreate(&block.released, CU_EVENT_DISABLE_TIMING), "making an event");
    check(driver().cuEventRecord(block.released, stream), "recording an event");
    block.in_use = false;
    room_came_ = true;
    return true;
}

// Nothing works on it any more.
void Spill::forget(Blocks::iterator at) {
    const Driver& d = driver();
    Block& block = at->second;
    d.cuMemUnmap(at->first, block.bytes);
    d.cuMemRelease(block.handle);
    d.cuMemAddressFree(at->first, block.bytes);
    if (block.released) d.cuEventDestroy(block.released);
    if (block.on_host) spilled_ -= signed_of(block.bytes);
    blocks_.erase(at);
}

// Host memory of arrays that went.
void Spill::forget_released() {
    if (spilled_ == 0) return;
    for (auto at = blocks_.begin(); at != blocks_.end();) {
        const auto here = at++;
        if (!here->second.in_use && here->second.on_host &&
            driver().cuEventQuery(here->second.released) == CUDA_SUCCESS)
            forget(here);
    }
}

void Spill::trim() {
    const std::lock_guard lock(mutex_);
    for (auto at = blocks_.begin(); at != blocks_.end();) {
        const auto here = at++;
        if (here->second.in_use) continue;
        check(driver().cuEventSynchronize(here->second.released), "waiting for the GPU");
        forget(here);
    }
}

std::int64_t Spill::resident(bool in_use) const {
    std::int64_t bytes = 0;
    for (const auto& [_, block] : blocks_)
        if (!block.on_host && block.in_use == in_use) bytes += signed_of(block.bytes);
    return bytes;
}

Spill::Figures Spill::figures() {
    const std::lock_guard lock(mutex_);
    forget_released();
    return {resident(true), high_, resident(false), spilled_};
}

// The GPU has no work, and gets none.
void Spill::move(CUdeviceptr at, Block& block, bool to_host) {
    const Driver& d = driver();
    const CUmemAllocationProp there = properties(to_host);
    CUmemGenericAllocationHandle handle = 0;
    check(d.cuMemCreate(&handle, block.bytes, &there, 0),
          to_host ? "getting host memory for an array" : "getting memory on the GPU for an array");
    CUdeviceptr beside = 0;
    CUresult result = d.cuMemAddressReserve(&beside, block.bytes, unit_, 0, 0);
    if (result == CUDA_SUCCESS) {
        if ((result = map(beside, block.bytes, handle)) == CUDA_SUCCESS) {
            if ((result = d.cuMemcpyAsync(beside, at, block.bytes, nullptr)) == CUDA_SUCCESS)
                result = d.cuStreamSynchronize(nullptr);
            d.cuMemUnmap(beside, block.bytes);
        }
        d.cuMemAddressFree(beside, block.bytes);
    }
    if (result == CUDA_SUCCESS) result = d.cuMemUnmap(at, block.bytes);
    if (result != CUDA_SUCCESS) {  // it is where it was
        d.cuMemRelease(handle);
        throw driver_error(result, "moving an array");
    }
    if ((result = map(at, block.bytes, handle)) != CUDA_SUCCESS) {
        d.cuMemRelease(handle);
        check(map(at, block.bytes, block.handle), "mapping an array where it was");
        throw driver_error(result, "moving an array");
    }
    d.cuMemRelease(block.handle);
    block.handle = handle;
    block.on_host = to_host;
    spilled_ += to_host ? signed_of(block.bytes) : -signed_of(block.bytes);
}

bool Spill::make_room(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (limit_ == 0) return false;
    std::vector<Blocks::iterator> movable;
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at)
        if (at->second.in_use && !at->second.on_host && !at->second.stays) movable.push_back(at);
    std::ranges::sort(movable, {}, [](const auto& at) { return at->second.used; });
    const std::size_t wanted = (bytes + unit_ - 1) / unit_ * unit_;
    std::size_t freed = 0;
    bool waited = false;
    for (const auto& at : movable) {
        if (freed >= wanted) break;
        if (spilled_ + signed_of(at->second.bytes) > limit_) continue;
        if (!std::exchange(waited, true)) wait_for_all();
        try {
            move(at->first, at->second, true);
        } catch (const Error& error) {
            if (error.python_type == "DeviceLostError") throw;
            break;  // the host is full too
        }
        freed += at->second.bytes;
    }
    return freed > 0;
}

bool Spill::wants_back() {
    const std::lock_guard lock(mutex_);
    return spilled_ > 0 && room_came_;
}

void Spill::bring_back(std::int64_t room) {
    const std::lock_guard lock(mutex_);
    room_came_ = false;
    std::vector<Blocks::iterator> away;
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at)
        if (at->second.in_use && at->second.on_host) away.push_back(at);
    std::ranges::sort(away, std::greater{}, [](const auto& at) { return at->second.used; });
    bool waited = false;
    for (const auto& at : away) {
        if (signed_of(at->second.bytes) > room) continue;
        if (!std::exchange(waited, true)) wait_for_all();
        try {
            move(at->first, at->second, false);
        } catch (const Error& error) {
            if (error.python_type == "DeviceLostError") throw;
            return;  // somebody else was quicker: it stays where it is
        }
        room -= signed_of(at->second.bytes);
    }
    count();
}

void Spill::keep_in_place(const void* address) {
    const std::lock_guard lock(mutex_);
    if (const auto at = blocks_.find(address_of(address)); at != blocks_.end()) at->second.stays = true;
}

void Spill::note_use(const void* address) noexcept {
    const std::lock_guard lock(mutex_);
    if (const auto at = blocks_.find(address_of(address)); at != blocks_.end()) at->second.used = ++clock_;
}

}  // namespace xcuda::device::cuda
