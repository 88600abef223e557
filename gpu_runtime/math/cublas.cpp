#include "math/cublas.hpp"

#include <fmt/format.h>

#include <string>

#include "math/cuda_work.hpp"

namespace xcuda::math {

namespace {

template <typename F>
void find_four(const CudaLibrary& library, F (&to)[4], const char* pattern) {
    constexpr const char* letters[] = {"S", "D", "C", "Z"};
    for (int i = 0; i < 4; ++i)
        to[i] =
            library.symbol<std::remove_pointer_t<F>>(fmt::format(fmt::runtime(pattern), letters[i]).c_str());
}

struct Handle {
    std::mutex mutex;
    BlasHandle handle = nullptr;
};

}  // namespace

Cublas::Cublas() : library(cublas_library) {
    create = library.symbol<int(BlasHandle*)>("cublasCreate_v2");
    set_stream = library.symbol<int(BlasHandle, void*)>("cublasSetStream_v2");
    status = library.symbol<const char*(int)>("cublasGetStatusString");
    gemm = library.symbol<std::remove_pointer_t<decltype(gemm)>>("cublasGemmStridedBatchedEx_64");
    find_four(library, trsm, "cublas{}trsm_v2_64");
    constexpr const char* rank_k[] = {"cublasSsyrk_v2_64", "cublasDsyrk_v2_64", "cublasCherk_v2_64",
                                      "cublasZherk_v2_64"};
    for (int i = 0; i < 4; ++i) rank[i] = library.symbol<std::remove_pointer_t<Rank>>(rank_k[i]);
}

const Cublas& cublas() {
    static const Cublas& opened = *new Cublas();
    return opened;
}

BlasUse::BlasUse(device::Device& device, device::Stream* stream)
    : current_(device, "cuBLAS"),
      one_at_a_time_(one_a_gpu<Handle>(device.info().ordinal).mutex) {
    Handle& h = one_a_gpu<Handle>(device.info().ordinal);
    const Cublas& library = cublas();
    if (!h.handle) check(library.create(&h.handle), "starting cuBLAS");
    handle_ = h.handle;
    check(library.set_stream(handle_, reinterpret_cast<void*>(device.handle(stream))),
          "giving cuBLAS its stream");
}

void BlasUse::check(int status, const char* doing) const {
    if (status == 0) return;
    constexpr int out_of_memory = 3;  // CUBLAS_STATUS_ALLOC_FAILED
    throw device::library_failed(doing, cublas().status(status), status == out_of_memory);
}

}  // namespace xcuda::math
