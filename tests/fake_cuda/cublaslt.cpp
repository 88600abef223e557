// libcublasLt for tests: products of float32 matrices with their epilogues, computed on the host in the stream's order.
// NVIDIA's numbers are written out here: the runtime's own are checked against NVIDIA's header where that one is.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "state.hpp"

using namespace fake;

namespace {

enum Status { done = 0, invalid_value = 7, not_supported = 15 };

struct Product {
    int compute, scale;
    std::int32_t transpose_a = 0, transpose_b = 0;
    std::uint32_t epilogue = 1;
    const float* bias = nullptr;
};
struct Matrix {
    int type;
    std::uint64_t rows, columns;
    std::int64_t stride;
};
struct Preference {
    std::uint64_t workspace = 0;
};
struct Found {
    std::uint64_t algorithm[8];
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

int answer(const char* function, Needs needs, const std::function<int()>& body) {
    return static_cast<int>(enter(function, needs, [&] { return static_cast<CUresult>(body()); }));
}

constexpr int float32 = 0, with_relu = 2, with_bias = 4, with_gelu = 32;
constexpr std::size_t wanted_workspace = 4096;

void multiply(const Product& p, float alpha, const float* a, const Matrix& of_a, const float* b,
              const Matrix& of_b, float beta, const float* c, const Matrix& of_c, float* d,
              const Matrix& of_d, bool drops_nan) {
    const auto at = [](const float* m, const Matrix& of, bool transposed, std::uint64_t i, std::uint64_t j) {
        return m[transposed ? j + i * static_cast<std::uint64_t>(of.stride)
                            : i + j * static_cast<std::uint64_t>(of.stride)];
    };
    const std::uint64_t inner = p.transpose_a ? of_a.rows : of_a.columns;
    for (std::uint64_t i = 0; i < of_d.rows; ++i)
        for (std::uint64_t j = 0; j < of_d.columns; ++j) {
            float sum = 0;
            for (std::uint64_t k = 0; k < inner; ++k)
                sum += at(a, of_a, p.transpose_a == 1, i, k) * at(b, of_b, p.transpose_b == 1, k, j);
            float v = alpha * sum;
            if (beta != 0) v += beta * at(c, of_c, false, i, j);
            if (p.epilogue & with_bias) v += p.bias[i];
            if (p.epilogue & with_relu) v = v > 0 ? v : (drops_nan || v == v) ? 0.0f : v;
            if (p.epilogue & with_gelu)
                v = 0.5f * v * (1 + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
            d[i + j * static_cast<std::uint64_t>(of_d.stride)] = v;
        }
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) {
    return answer("cublasLtCreate", Needs::context, [&] {
        *handle = new int(0);
        return int{done};
    });
}

const char* cublasLtGetStatusString(int status) {
    return status == not_supported ? "the functionality is not supported" : "a fake status";
}

int cublasLtGetProperty(int which, int* value) {
    constexpr int version[] = {13, 0, 2};
    *value = version[which];
    return done;
}

int cublasLtMatmulDescCreate(Product** made, int compute, int scale) {
    *made = new Product{compute, scale};
    return done;
}
int cublasLtMatmulDescDestroy(Product* p) {
    delete p;
    return done;
}
int cublasLtMatmulDescSetAttribute(Product* p, int which, const void* value, std::size_t bytes) {
    const auto take = [&](auto& to) {
        if (bytes != sizeof to) return int{invalid_value};
        std::memcpy(&to, value, bytes);
        return int{done};
    };
    switch (which) {
        case 3: return take(p->transpose_a);
        case 4: return take(p->transpose_b);
        case 7: return take(p->epilogue);
        case 8: return take(p->bias);
        default: return invalid_value;
    }
}

int cublasLtMatrixLayoutCreate(Matrix** made, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t stride) {
    if (stride < static_cast<std::int64_t>(rows)) return invalid_value;
    *made = new Matrix{type, rows, columns, stride};
    return done;
}
int cublasLtMatrixLayoutDestroy(Matrix* m) {
    delete m;
    return done;
}

int cublasLtMatmulPreferenceCreate(Preference** made) {
    *made = new Preference;
    return done;
}
int cublasLtMatmulPreferenceDestroy(Preference* p) {
    delete p;
    return done;
}
int cublasLtMatmulPreferenceSetAttribute(Preference* p, int which, const void* value, std::size_t bytes) {
    if (which == 1 && bytes == sizeof p->workspace) std::memcpy(&p->workspace, value, bytes);
    const bool an_alignment = which >= 5 && which <= 8 && bytes == sizeof(std::uint32_t);
    return an_alignment || (which == 1 && bytes == sizeof p->workspace) ? done : invalid_value;
}

int cublasLtMatmulAlgoGetHeuristic(void*, Product* p, Matrix* a, Matrix* b, Matrix* c, Matrix* d,
                                   Preference* preference, int wanted, Found* found, int* count) {
    return answer("cublasLtMatmulAlgoGetHeuristic", Needs::nothing, [&] {
        *count = 0;
        if (a->type != float32 || d->type != float32) return int{not_supported};
        const std::uint64_t inner_a = p->transpose_a ? a->rows : a->columns;
        const std::uint64_t inner_b = p->transpose_b ? b->columns : b->rows;
        const std::uint64_t rows = p->transpose_a ? a->columns : a->rows;
        const std::uint64_t columns = p->transpose_b ? b->rows : b->columns;
        if (inner_a != inner_b || rows != d->rows || columns != d->columns || c->rows != d->rows ||
            c->columns != d->columns || preference->workspace < wanted_workspace)
            return int{invalid_value};
        for (*count = 0; *count < std::min(wanted, 2); ++*count) {
            Found& each = found[*count];
            each = {};
            each.algorithm[0] = static_cast<std::uint64_t>(*count) + 1;
            each.workspace = wanted_workspace;
        }
        return int{done};
    });
}

int cublasLtMatmul(void*, Product* p, const float* alpha, const float* a, Matrix* of_a, const float* b,
                   Matrix* of_b, const float* beta, const float* c, Matrix* of_c, float* d, Matrix* of_d,
                   const std::uint64_t* algorithm, void* workspace, std::size_t bytes, CUstream stream) {
    return answer("cublasLtMatmul", Needs::context, [&] {
        Stream* in = stream_of(stream);
        if (!in || !workspace || bytes < wanted_workspace || algorithm[0] == 0) return int{invalid_value};
        const bool drops_nan = state().options.drops_nan != 0;
        add(*in, [=, p = *p, x = *alpha, y = *beta, of_a = *of_a, of_b = *of_b, of_c = *of_c, of_d = *of_d] {
            multiply(p, x, a, of_a, b, of_b, y, c, of_c, d, of_d, drops_nan);
        });
        return int{done};
    });
}
}
