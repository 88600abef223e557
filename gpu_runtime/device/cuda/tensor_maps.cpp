#include "device/cuda/tensor_maps.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr std::size_t most_axes = 5;  // of the copy engine

struct Described {
    DType dtype{};
    const void* address = nullptr;
    std::size_t axes = 0;
    // The contiguous axis first; the distances of neighbours in bytes, but for that axis.
    std::array<cuuint64_t, most_axes> lengths{}, steps{};
    std::array<cuuint32_t, most_axes> box{};
    bool operator==(const Described&) const = default;
};

Described described(const BoxedArray& array) {
    Described d{array.dtype, array.address, array.lengths.size()};
    if (d.axes > most_axes || array.box.size() != d.axes)
        throw bug("an array of more axes than the copy engine knows");
    const std::size_t size = info(array.dtype).size;
    for (std::size_t i = 0; i < d.axes; ++i) {
        const std::size_t from = d.axes - 1 - i;
        // An empty array has no map; nothing of it is inside, so that one row of zeros is never read.
        d.lengths[i] = static_cast<cuuint64_t>(std::max<std::int64_t>(1, array.lengths[from]));
        d.steps[i] = static_cast<cuuint64_t>(array.strides[from]) * size;
        d.box[i] = static_cast<cuuint32_t>(array.box[from]);
    }
    // The distance along an axis of one element may be anything in an array, not in a map.
    for (std::size_t i = 1; i < d.axes; ++i)
        if (d.lengths[i] == 1 && d.steps[i] % 16 != 0) d.steps[i] = (d.steps[i] / 16 + 1) * 16;
    return d;
}

CUtensorMapDataType map_type(DType dtype) {
    switch (dtype) {
        case DType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        case DType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        case DType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
        case DType::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
        case DType::i8:
        case DType::u8:
        case DType::f8e4m3:
        case DType::f8e5m2: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
        default: throw bug("a tensor map of a type that the copy engine does not know");
    }
}

CUtensorMap encoded(const Described& d) {
    CUtensorMap map;
    std::array<cuuint32_t, most_axes> every;
    every.fill(1);
    check(driver().cuTensorMapEncodeTiled(&map, map_type(d.dtype), static_cast<cuuint32_t>(d.axes),
                                          const_cast<void*>(d.address), d.lengths.data(), d.steps.data() + 1,
                                          d.box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                                          CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          "describing an array to the copy engine");
    return map;
}

}  // namespace

void encode_tensor_map(std::span<std::byte, 128> to, const BoxedArray& array) {
    static_assert(sizeof(CUtensorMap) == 128);
    struct Kept {
        Described of;
        CUtensorMap map;
    };
    thread_local std::array<Kept, 16> kept{};
    thread_local std::size_t next = 0;
    const Described wanted = described(array);
    auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.of == wanted; });
    if (found == kept.end()) {
        const CUtensorMap made = encoded(wanted);
        found = kept.begin() + static_cast<std::ptrdiff_t>(next++ % kept.size());
        *found = {wanted, made};
    }
    std::memcpy(to.data(), &found->map, to.size());
}

}  // namespace xcuda::device::cuda
