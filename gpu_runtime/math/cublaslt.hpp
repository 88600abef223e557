// cuBLASLt's functions and one handle a GPU, with its numbers and structs as NVIDIA's header has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "device/device.hpp"
#include "math/cublas.hpp"
#include "math/cuda_library.hpp"

namespace xcuda::math::lt {

enum class OfProduct : int {  // cublasLtMatmulDescAttributes_t
    transpose_a = 3,
    transpose_b = 4,
    epilogue = 7,
    bias = 8,
};
enum class OfSearch : int {  // cublasLtMatmulPreferenceAttributes_t
    most_workspace = 1,
    alignment_a = 5,
    alignment_b = 6,
    alignment_c = 7,
    alignment_d = 8,
};
enum Epilogue : std::uint32_t {
    plain = 1,
    relu = 2,
    bias = 4,
    gelu = 32
};  // cublasLtEpilogue_t; "plain" alone

struct Algorithm {  // cublasLtMatmulAlgo_t
    std::uint64_t data[8];
};
struct Found {  // cublasLtMatmulHeuristicResult_t
    Algorithm algorithm;
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

using Handle = struct Context*;
using Product = struct ProductDescription*;
using Matrix = struct MatrixLayout*;
using Search = struct Preference*;

struct Library {
    Library();
    CudaLibrary library;
    int (*create)(Handle*);
    const char* (*status)(int);
    int (*make_product)(Product*, Compute, int scale_type);
    int (*set_product)(Product, OfProduct, const void* value, std::size_t bytes);
    int (*end_product)(Product);
    int (*make_matrix)(Matrix*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t stride);
    int (*end_matrix)(Matrix);
    int (*make_search)(Search*);
    int (*set_search)(Search, OfSearch, const void* value, std::size_t bytes);
    int (*end_search)(Search);
    int (*search)(Handle, Product, Matrix a, Matrix b, Matrix c, Matrix d, Search, int wanted, Found* found,
                  int* count);
    int (*multiply)(Handle, Product, const void* alpha, const void* a, Matrix, const void* b, Matrix,
                    const void* beta, const void* c, Matrix, void* d, Matrix, const Algorithm*,
                    void* workspace, std::size_t bytes, void* stream);
};

/// Throws missing() where there is none; tried again at the next call.
const Library& library();

/// Throws what a status says.
void check(int status, const char* doing);

}  // namespace xcuda::math::lt
