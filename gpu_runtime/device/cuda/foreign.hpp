// Streams and memory of other libraries: who they belong to, and order between their streams and ours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device/cuda/event.hpp"

namespace xcuda::device::cuda {

/// A stream that was made for us: it ends with its last work.
std::shared_ptr<Stream> own_stream(CUcontext context, CUstream stream);
/// A stream by its number, ours or another library's; null for the legacy default stream (0 and 1). The same number
/// gives the same stream while it is in use; `owner` is then kept. The context is current.
std::shared_ptr<Stream> adopt_stream(CUcontext context, std::uintptr_t handle, std::shared_ptr<void> owner);

/// Work asked for from now on in `then` waits for what `first` holds now. The context, both streams', is current.
void order_streams(CUcontext context, std::uintptr_t first, std::uintptr_t then);

/// The number among GPUs of what memory or a stream belongs to; nothing where the driver does not know it.
std::optional<int> ordinal_of_memory(const void* address);
std::optional<int> ordinal_of_stream(std::uintptr_t handle);

}  // namespace xcuda::device::cuda
