#include "math/cublaslt.hpp"

#include <fmt/format.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

namespace xcuda::math::lt {

Library::Library() : library(cublaslt_library) {
    const auto find = [this]<typename F>(F*& to, const char* name) { to = library.symbol<F>(name); };
    find(create, "cublasLtCreate");
    find(status, "cublasLtGetStatusString");
    find(make_product, "cublasLtMatmulDescCreate");
    find(set_product, "cublasLtMatmulDescSetAttribute");
    find(end_product, "cublasLtMatmulDescDestroy");
    find(make_matrix, "cublasLtMatrixLayoutCreate");
    find(end_matrix, "cublasLtMatrixLayoutDestroy");
    find(make_search, "cublasLtMatmulPreferenceCreate");
    find(set_search, "cublasLtMatmulPreferenceSetAttribute");
    find(end_search, "cublasLtMatmulPreferenceDestroy");
    find(search, "cublasLtMatmulAlgoGetHeuristic");
    find(multiply, "cublasLtMatmul");
}

const Library& library() {
    static const Library& opened = *new Library();
    return opened;
}

void check(int status, const char* doing) {
    if (status == 0) return;
    constexpr int out_of_memory = 3;  // CUBLAS_STATUS_ALLOC_FAILED
    throw Error(Fault::machine, status == out_of_memory ? "MemoryError" : "RuntimeError",
                fmt::format("{} failed: {}", doing, library().status(status)));
}

#if __has_include(<cublasLt.h>)
// What the header above declares is what NVIDIA's says, where that one is here.
static_assert(int(OfProduct::transpose_a) == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(int(OfProduct::transpose_b) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int(OfProduct::epilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(int(OfProduct::bias) == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(int(OfSearch::most_workspace) == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(int(OfSearch::alignment_a) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(int(OfSearch::alignment_b) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(int(OfSearch::alignment_c) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(int(OfSearch::alignment_d) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(int(plain) == CUBLASLT_EPILOGUE_DEFAULT && int(bias) == CUBLASLT_EPILOGUE_BIAS);
static_assert(int(relu) == CUBLASLT_EPILOGUE_RELU && int(relu | bias) == CUBLASLT_EPILOGUE_RELU_BIAS);
static_assert(int(gelu) == CUBLASLT_EPILOGUE_GELU && int(gelu | bias) == CUBLASLT_EPILOGUE_GELU_BIAS);
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Found) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Found, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Found, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(int(Compute::f32) == CUBLAS_COMPUTE_32F && int(Compute::f64) == CUBLAS_COMPUTE_64F);
static_assert(int(Compute::tf32) == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(int(Op::none) == CUBLAS_OP_N && int(Op::transpose) == CUBLAS_OP_T);
#endif

}  // namespace xcuda::math::lt
