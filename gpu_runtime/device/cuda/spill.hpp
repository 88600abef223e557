// A GPU's arrays whose memory can be changed for pinned host memory under the same address (CUDA's virtual memory).
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace xcuda::device::cuda {

class Spill {
public:
    static constexpr std::size_t smallest = std::size_t{2}
                                            << 20;  // the driver's unit; smaller arrays are the pool's

    /// The context of `device` is current, here and in all that follows.
    Spill(CUdevice device, std::string gpu_name) : device_(device), gpu_name_(std::move(gpu_name)) {}

    void set_limit(std::int64_t bytes);
    std::int64_t limit() const;
    bool takes(std::size_t bytes) const;
    /// In the stream's order. Null where the GPU has no room.
    void* allocate(std::size_t bytes, CUstream stream);
    /// False where the address is not one of these.
    bool release(const void* address, CUstream stream);
    /// Bytes on the GPU: of arrays, and kept for the next ones; bytes in host memory.
    struct Figures {
        std::int64_t used = 0, high = 0, kept = 0, spilled = 0;
    };
    Figures figures();
    /// What is kept for the next arrays goes back.
    void trim();

    /// See Spilling. Nobody starts work on the GPU meanwhile.
    bool make_room(std::size_t bytes);
    /// `room`: bytes that may be taken on the GPU.
    void bring_back(std::int64_t room);
    bool wants_back();
    void keep_in_place(const void* address);
    void note_use(const void* address) noexcept;

private:
    struct Block {
        std::size_t bytes = 0;
        CUmemGenericAllocationHandle handle = 0;
        bool on_host = false, in_use = true, stays = false;
        std::uint64_t used = 0;      // the larger, the later
        CUevent released = nullptr;  // happens once nothing works on it any more
    };
    using Blocks = std::map<CUdeviceptr, Block>;

    CUmemAllocationProp properties(bool on_host) const;
    CUresult map(CUdeviceptr at, std::size_t bytes, CUmemGenericAllocationHandle handle) const;
    void move(CUdeviceptr at, Block& block, bool to_host);
    void forget(Blocks::iterator at);
    void forget_released();
    std::int64_t resident(bool in_use) const;
    void count() { high_ = std::max(high_, resident(true)); }

    const CUdevice device_;
    const std::string gpu_name_;
    mutable std::mutex mutex_;
    Blocks blocks_;
    std::int64_t limit_ = 0, spilled_ = 0, high_ = 0;
    std::uint64_t clock_ = 0;
    bool room_came_ = false;  // since the last look for what could move back
    std::size_t unit_ = 0;
    CUmemLocationType host_ = CU_MEM_LOCATION_TYPE_INVALID;
    int node_ = 0;
};

}  // namespace xcuda::device::cuda
