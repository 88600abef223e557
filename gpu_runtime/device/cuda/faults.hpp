// Fault records in pinned memory that kernels write and the host reads without a copy: one a launch under way.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "device/device.hpp"

namespace xcuda::device::cuda {

/// What a kernel's `F` points to; prelude_cuda.cuh declares the same.
struct alignas(64) FaultSlot {
    FaultRecord record;
    std::int32_t taken;          // the first thread to fault sets it
    volatile std::int32_t stop;  // not 0: kernels that poll leave
    CUdeviceptr print;           // a PrintBuffer, where the kernel prints
    CUdeviceptr gate;            // where the blocks of a whole grid meet: a word that is 0 before the launch
};
static_assert(sizeof(FaultRecord) == 64 && sizeof(FaultSlot) == 128);

/// The slots of one stream, used in turn. Rings are taken from a store and given back, never freed.
class FaultRing {
public:
    static constexpr std::uint64_t size = 1024;

    /// A context is current. Throws where no pinned memory is to be had.
    FaultRing();
    ~FaultRing();
    FaultRing(const FaultRing&) = delete;
    FaultRing& operator=(const FaultRing&) = delete;

    /// The slot of the launch with this number, emptied. The launch `size` before it is over.
    FaultSlot& prepare(std::uint64_t number) {
        FaultSlot& slot = slots_[number % size];
        slot.record.kind = 0;
        slot.taken = 0;
        slot.stop = 0;
        slot.print = slot.gate = 0;
        return slot;
    }
    FaultSlot& at(std::uint64_t number) { return slots_[number % size]; }
    CUdeviceptr address(std::uint64_t number) const { return on_device_ + number % size * sizeof(FaultSlot); }

private:
    int index_ = 0;
    FaultSlot* slots_ = nullptr;
    CUdeviceptr on_device_ = 0;
};

/// Asks every kernel under way to stop; those that poll do. Async-signal-safe; a part of device::interrupt_all().
void stop_all() noexcept;

}  // namespace xcuda::device::cuda
