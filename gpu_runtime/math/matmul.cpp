#include "math/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "math/cublas.hpp"
#include "math/cuda_work.hpp"
#include "math/lying.hpp"

namespace xcuda::math {

using launch::Argument;

namespace {

void expect_readable(const Argument& m, const char* which) {
    if (!readable_by_blas(m))
        throw Error(Fault::user, "ValueError",
                    fmt::format("BLAS can't read {} as it lies: rows or columns must be contiguous", which),
                    std::nullopt, "give a contiguous copy");
}

void expect_stack(const Argument& a, const Argument& b, const Argument& out) {
    if (a.ndim < 2 || a.ndim != b.ndim || a.ndim != out.ndim)
        throw bug("matmul of arrays with differing numbers of axes");
    const int rows = a.ndim - 2, columns = a.ndim - 1;
    if (a.lengths[columns] != b.lengths[rows] || out.lengths[rows] != a.lengths[rows] ||
        out.lengths[columns] != b.lengths[columns])
        throw bug("matmul of matrices whose lengths don't fit");
    for (int i = 0; i < rows; ++i)
        if (a.lengths[i] != out.lengths[i] || b.lengths[i] != out.lengths[i])
            throw bug("matmul of stacks whose lengths don't fit");
}

/// Where a stack's matrix number `at` begins, over all leading axes but the last.
struct Walk {
    std::int64_t a = 0, b = 0, out = 0;  // in elements
};

std::vector<Walk> outer_walk(const Argument& a, const Argument& b, const Argument& out) {
    std::vector<Walk> places{{}};
    for (int axis = 0; axis + 3 < out.ndim; ++axis) {
        std::vector<Walk> next;
        for (const Walk& w : places)
            for (std::int64_t i = 0; i < out.lengths[axis]; ++i)
                next.push_back(
                    {w.a + i * a.strides[axis], w.b + i * b.strides[axis], w.out + i * out.strides[axis]});
        places = std::move(next);
    }
    return places;
}

/// Leading axes that lie evenly become one, so that one call does the whole stack.
void join_leading(Argument& a, Argument& b, Argument& out) {
    const auto even = [](const Argument& m, int axis) {
        return m.strides[axis] == m.strides[axis + 1] * m.lengths[axis + 1];
    };
    for (int axis = out.ndim - 4; axis >= 0; --axis) {
        if (!even(a, axis) || !even(b, axis) || !even(out, axis)) continue;
        for (Argument* m : {&a, &b, &out}) {
            m->lengths[axis + 1] *= m->lengths[axis];
            for (int i = axis; i + 1 < m->ndim; ++i) {
                m->lengths[i] = m->lengths[i + 1];
                m->strides[i] = m->strides[i + 1];
            }
            --m->ndim;
        }
    }
}

const char* at(const Argument& m, std::int64_t elements) {
    return static_cast<const char*>(m.address) + elements * static_cast<std::int64_t>(info(m.dtype).size);
}

}  // namespace

bool readable_by_blas(const Argument& m) {
    return m.ndim >= 2 && m.layout != ir::Layout::bytes && lying(m).stride > 0;
}

void matmul(device::Device& device, device::Stream* stream, const Argument& a0, const Argument& b0,
            const Argument& out0, const Product& how) {
    Argument a = a0, b = b0, out = out0;
    expect_stack(a, b, out);
    expect_readable(a, "the first matrix");
    expect_readable(b, "the second matrix");
    expect_readable(out, "the result");
    if (out.elements() == 0) return;
    join_leading(a, b, out);
    // Column-major results are the transposes of products in the other order.
    const bool by_rows = lying(out).by_rows;
    const Argument &left = by_rows ? b : a, &right = by_rows ? a : b;
    const Lying l = lying(left), r = lying(right), o = lying(out);
    const bool conj_left = by_rows ? how.conjugate_b : how.conjugate_a;
    const bool conj_right = by_rows ? how.conjugate_a : how.conjugate_b;
    if ((conj_left && l.by_rows == by_rows) || (conj_right && r.by_rows == by_rows))
        throw Error(Fault::user, "ValueError", "cuBLAS conjugates only what it transposes", std::nullopt,
                    "conjugate the matrix before the product");
    const std::int64_t rows = out.lengths[out.ndim - 2], columns = out.lengths[out.ndim - 1];
    const std::int64_t inner = a.lengths[a.ndim - 1];
    const std::int64_t m = by_rows ? columns : rows, n = by_rows ? rows : columns;
    const bool stacked = out.ndim > 2;
    const std::int64_t batch = stacked ? out.lengths[out.ndim - 3] : 1;
    const auto step = [&](const Argument& x) { return stacked ? x.strides[x.ndim - 3] : 0; };
    const DType compute_dtype = info(a.dtype).size == 2 ? DType::f32 : a.dtype;
    const Scalar alpha = scalar_of(compute_dtype, how.alpha), beta = scalar_of(compute_dtype, how.beta);
    const int in_type = cuda_data_type(a.dtype, "cuBLAS"), out_type = cuda_data_type(out.dtype, "cuBLAS");
    const BlasUse blas(device, stream);
    const Walk origin;
    const std::vector<Walk> places = out.ndim > 3 ? outer_walk(a, b, out) : std::vector<Walk>{origin};
    for (const Walk& w : places) {
        const char* from_left = at(left, by_rows ? w.b : w.a);
        const char* from_right = at(right, by_rows ? w.a : w.b);
        constexpr int default_algorithm = -1;
        blas.check(
            cublas().gemm(blas.handle(), op_of(l, by_rows, conj_left), op_of(r, by_rows, conj_right), m, n,
                          inner, alpha.bytes, from_left, in_type, l.stride, step(left), from_right, in_type,
                          r.stride, step(right), beta.bytes, const_cast<char*>(at(out, w.out)), out_type,
                          o.stride, step(out), batch, compute_of(a.dtype, how.tf32), default_algorithm),
            "multiplying matrices");
    }
}

void self_product(device::Device& device, device::Stream* stream, const Argument& a, const Argument& out,
                  double alpha, double beta) {
    expect_readable(a, "the matrix");
    expect_readable(out, "the result");
    if (!lying(out).by_rows) throw bug("self_product writes a row-major result");
    const std::int64_t n = a.lengths[0], k = a.lengths[1];
    if (n == 0) return;
    const std::size_t which = letter(out.dtype, "cuBLAS has no symmetric product of");
    const Lying l = lying(a);
    // The factors of alpha and beta are real for the Hermitian product too.
    const DType real = out.dtype == DType::c64    ? DType::f32
                       : out.dtype == DType::c128 ? DType::f64
                                                  : out.dtype;
    const Scalar al = scalar_of(real, alpha), be = scalar_of(real, beta);
    if (is_complex(out.dtype) && !l.by_rows) throw bug("a Hermitian product reads a row-major matrix");
    // Column-major memory of rows is X = a.T, and X^H X = (a a^H).T: what column-major memory of the result holds.
    const Op op = !l.by_rows ? Op::none : is_complex(out.dtype) ? Op::conjugate : Op::transpose;
    const BlasUse blas(device, stream);
    blas.check(cublas().rank[which](blas.handle(), Fill::upper, op, n, k, al.bytes, a.address, l.stride,
                                    be.bytes, out.address, lying(out).stride),
               "multiplying a matrix with its transpose");
}

void solve_triangular(device::Device& device, device::Stream* stream, const Argument& t, const Argument& b,
                      const Triangle& how) {
    const std::int64_t n = b.lengths[0], columns = b.lengths[1];
    if (n == 0 || columns == 0) return;
    if (lying(b).by_rows && n > 1 && columns > 1) throw bug("triangular solves want column-major arrays");
    const std::size_t which = letter(t.dtype, "cuBLAS has no triangular solve of");
    const Scalar one = scalar_of(t.dtype, 1);
    const Op op = how.conjugated ? Op::conjugate : how.transposed ? Op::transpose : Op::none;
    const BlasUse blas(device, stream);
    blas.check(cublas().trsm[which](blas.handle(), Side::left, how.lower ? Fill::lower : Fill::upper, op,
                                    how.unit_diagonal, n, columns, one.bytes, t.address,
                                    std::max<std::int64_t>(t.strides[1], 1), b.address,
                                    std::max<std::int64_t>(b.strides[1], 1)),
               "solving a triangular system");
}

}  // namespace xcuda::math
