#include "math/cuda_work.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"

namespace xcuda::math {

namespace {

struct Row {
    DType dtype;
    int number;
};
// CUDA_R_32F and so on.
constexpr Row data_types[] = {{DType::f32, 0}, {DType::f64, 1},  {DType::f16, 2},
                              {DType::c64, 4}, {DType::c128, 5}, {DType::bf16, 14}};

}  // namespace

int cuda_data_type(DType dtype, const char* library) {
    for (const Row& row : data_types)
        if (row.dtype == dtype) return row.number;
    throw Error(Fault::user, "TypeError", fmt::format("{} has no {}", library, info(dtype).name),
                std::nullopt, "convert the array with astype first");
}

std::size_t letter(DType dtype, const char* lacking) {
    switch (dtype) {
        case DType::f32: return 0;
        case DType::f64: return 1;
        case DType::c64: return 2;
        case DType::c128: return 3;
        default:
            throw Error(Fault::user, "TypeError", fmt::format("{} {}", lacking, info(dtype).name),
                        std::nullopt, "convert the array to float32 or float64");
    }
}

Scalar scalar_of(DType dtype, double value) {
    Scalar out{};
    const auto put = [&](auto typed) { std::memcpy(out.bytes, &typed, sizeof typed); };
    switch (dtype) {
        case DType::f64:
        case DType::c128: put(value); break;
        default: put(static_cast<float>(value));
    }
    return out;
}

}  // namespace xcuda::math
