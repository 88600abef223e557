// Arrays that move to host memory, under their addresses, when a device is full: for devices that can do it (a GPU).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/export.hpp"

namespace xcuda::device {

class Device;

class Spilling {
public:
    struct Figures {
        std::int64_t limit = 0;    // bytes that may be in host memory; 0: nothing moves
        std::int64_t spilled = 0;  // that are
    };
    virtual ~Spilling() = default;
    /// Arrays that are made from now on may move. Throws where the machine can't map host memory so.
    virtual void set_spill_limit(std::int64_t bytes) = 0;
    virtual Figures spilled() const = 0;
    /// Waits for the device and moves arrays, those used longest ago first, until so many bytes are free. False: none.
    virtual bool make_room(std::size_t bytes) = 0;
    /// Moves back what there is room for, those used last first. The device has no work, or is waited for.
    virtual void bring_back() = 0;
    /// Another library has the array and may start work on it at any time: it stays where it is.
    virtual void keep_in_place(const void* address) = 0;
    virtual void note_use(const void* address) noexcept = 0;
};

/// Some device's arrays may move.
XCUDA_API extern std::atomic<bool> spilling;
/// Null where the device has no other place for its arrays.
XCUDA_API Spilling* spilling_of(Device& device);

}  // namespace xcuda::device
