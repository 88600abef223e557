// What every call of NVIDIA's libraries needs: the context, a stream, scratch memory, its types' numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/dtype.hpp"
#include "device/device.hpp"

namespace xcuda::math {

/// Device memory for one call, of the pool, in the stream's order.
class Scratch {
public:
    Scratch(device::Device& device, device::Stream* stream, std::size_t bytes)
        : device_(device),
          stream_(stream),
          address_(bytes ? device.allocate(bytes, stream) : nullptr) {}
    ~Scratch() {
        if (address_) device_.release(address_, stream_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    template <typename T = void>
    T* as() const {
        return static_cast<T*>(address_);
    }

private:
    device::Device& device_;
    device::Stream* stream_;
    void* address_;
};

/// What a library keeps for each GPU; not ended at exit, since the driver may be gone by then.
template <typename Kept>
Kept& one_a_gpu(int ordinal) {
    static std::mutex mutex;
    static auto& all = *new std::map<int, Kept>();
    const std::scoped_lock lock(mutex);
    return all[ordinal];
}

/// Where a dtype stands among S, D, C and Z; throws a TypeError for others: "`lacking` float16".
std::size_t letter(DType dtype, const char* lacking);

/// cudaDataType of library_types.h; throws a TypeError for a dtype that it lacks.
int cuda_data_type(DType dtype, const char* library);

/// The value 1 or 0 as this dtype has it, for alpha and beta.
struct Scalar {
    alignas(16) std::byte bytes[16];
};
Scalar scalar_of(DType dtype, double value);

}  // namespace xcuda::math
