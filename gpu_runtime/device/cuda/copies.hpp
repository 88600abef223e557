// Copies between host and GPU: by the driver, or through pinned buffers where that is faster or must not wait.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda/queue.hpp"

namespace xcuda::device::cuda {

/// Pinned buffers of one GPU. Large copies of ordinary memory go through them, several threads at work; on a stream
/// that is busy they are fed by callbacks of the stream, so that the caller need not wait.
class Staging {
public:
    Staging() = default;
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// `waits`: the copy is over when the call returns. The context is current.
    void to_device(void* to, const void* from, std::size_t bytes, Queue& queue, bool waits);
    void to_host(void* to, const void* from, std::size_t bytes, Queue& queue, bool waits);

private:
    struct Buffer {
        char* memory;
        CUevent free;  // the last copy from or to it
    };
    enum class Way { in, out };

    void by_threads(Way way, char* host, CUdeviceptr device, std::size_t bytes, CUstream stream);
    void by_callbacks(Way way, char* host, CUdeviceptr device, std::size_t bytes, CUstream stream);

    std::mutex mutex_;  // of the buffers, while a copy goes through them
    std::vector<Buffer> buffers_;
};

/// Pinned by CUDA or on a device: the driver copies it without a hand.
bool is_known_to_driver(const void* address);

/// Pinned memory that every GPU of the process knows; ordinary memory that is there is pinned, too. Throws a MemoryError.
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* address) noexcept;
void pin(void* address, std::size_t bytes);
void unpin(void* address) noexcept;

}  // namespace xcuda::device::cuda
