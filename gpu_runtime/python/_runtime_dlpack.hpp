// DLPack's layout (its ABI of version 1), for tensors of other libraries.
#pragma once

#include <cstdint>

namespace xcuda::python::dlpack {

struct Device {
    std::int32_t type;  // 1: CPU, 2: CUDA, 3: CUDA pinned host, 13: CUDA managed
    std::int32_t id;
};
struct DataType {
    std::uint8_t code;  // 0: int, 1: unsigned, 2: float, 4: bfloat, 5: complex, 6: bool
    std::uint8_t bits;
    std::uint16_t lanes;
};
struct Tensor {
    void* data;
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null: C order
    std::uint64_t byte_offset;
};
struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};
struct Version {
    std::uint32_t major, minor;
};
constexpr std::uint64_t read_only = 1, is_copied = 2;  // flags
struct Versioned {
    Version version;
    void* context;
    void (*deleter)(Versioned*);
    std::uint64_t flags;
    Tensor tensor;
};

/// What a type's __dlpack_c_exchange_api__ points to: its tensors without a Python call. 0 is success.
struct ExchangeApi {
    struct {
        Version version;
        const ExchangeApi* previous;
    } header;
    void* allocate;
    int (*take)(void* object, Versioned** out);
    void* give;
    int (*borrow)(void* object, Tensor* out);  // valid while the object is; may be null
    int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** out);
};

}  // namespace xcuda::python::dlpack
