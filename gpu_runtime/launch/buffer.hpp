// Device memory with an owner: allocated from a device's pool, released in the order of every stream that used it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "device/spilling.hpp"

namespace xcuda::launch {

class XCUDA_API Buffer {
public:
    /// Allocates in `stream`'s order (null: the default stream). Throws a MemoryError once what nobody needs is gone.
    Buffer(std::shared_ptr<device::Device> device, std::size_t bytes, std::shared_ptr<device::Stream> stream);
    /// Another library's memory, kept by `owner` until the work on it is over.
    Buffer(std::shared_ptr<device::Device> device, void* address, std::size_t bytes,
           std::shared_ptr<void> owner, std::shared_ptr<device::Stream> stream);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void* address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    const std::shared_ptr<device::Device>& device() const { return device_; }

    /// Work on `stream` uses this memory from now on.
    void used_on(const std::shared_ptr<device::Stream>& stream) {
        if (stream != home_ || device::spilling.load(std::memory_order_relaxed)) [[unlikely]]
            note_use_on(stream);
    }
    /// Another library has it too, and may work on it in streams of its own: it goes back once all that the device is
    /// doing by then is done.
    void share() { shared_ = true; }
    /// The streams with work on this memory; the first is the one it was allocated on.
    std::vector<std::shared_ptr<device::Stream>> streams() const;
    /// No stream but the default one has work on it.
    bool on_default_stream_alone() const;

private:
    void* allocate();
    void let_go(std::shared_ptr<void> kept) const noexcept;
    void note_use_on(const std::shared_ptr<device::Stream>& stream);

    std::shared_ptr<device::Device> device_;
    std::size_t bytes_;
    void* address_;
    std::shared_ptr<device::Stream> home_;
    std::shared_ptr<void> owner_;  // null: memory of the device's pool
    std::atomic<bool> shared_{false};
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<device::Stream>> others_;
};

/// Until the streams have passed the work that keeps memory whose arrays are gone already. Needs the time of kernels, so
/// Python's lock must not be held; throws a KeyboardInterrupt.
XCUDA_API void wait_for_late_releases();

/// Copies that leave an event in the log. before: Event's.
XCUDA_API void copy_in(device::Device& device, void* to, const void* from, std::size_t bytes,
                       device::Stream* stream, double before = 0);
XCUDA_API void copy_out(device::Device& device, void* to, const void* from, std::size_t bytes,
                        device::Stream* stream);
XCUDA_API void copy_within(device::Device& device, void* to, const void* from, std::size_t bytes,
                           device::Stream* stream);
XCUDA_API void fill(device::Device& device, void* to, int byte, std::size_t bytes, device::Stream* stream);

}  // namespace xcuda::launch
