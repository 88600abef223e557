#include "math/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "math/cuda_work.hpp"
#include "math/cusolver.hpp"

namespace xcuda::math {

namespace {

/// A column-major matrix as cuSOLVER takes it.
struct Matrix {
    Count rows, columns, stride;
    int type;
    void* address;
};

Matrix matrix(const Argument& a) {
    const Count rows = a.lengths[0], columns = a.ndim > 1 ? a.lengths[1] : 1;
    const bool column_major = (rows <= 1 || a.strides[0] == 1) &&
                              (a.ndim < 2 || columns <= 1 || a.strides[1] >= std::max<Count>(rows, 1));
    if (a.layout == ir::Layout::bytes || !column_major) throw bug("cuSOLVER wants column-major arrays");
    const Count stride = a.ndim > 1 && columns > 1 ? a.strides[1] : rows;
    return {rows, columns, std::max<Count>(stride, 1), cuda_data_type(a.dtype, "cuSOLVER"), a.address};
}

int* info_of(const Argument& info) {
    if (info.dtype != DType::i32 || info.elements() < 1) throw bug("cuSOLVER's info is one int32");
    return static_cast<int*>(info.address);
}

int narrow(Count n) {
    if (n > 2147483647) throw Error(Fault::user, "ValueError", "the matrix is too long for cuSOLVER");
    return static_cast<int>(n);
}

/// Asks for the scratch memory, and runs.
template <typename... Declared, typename... Given>
void run(const Where& at, const Sized<Declared...>& function, const char* doing, const Argument& info,
         Given... given) {
    const SolverUse solver(at.device, at.stream);
    std::size_t bytes = 0, host_bytes = 0;
    check_solver(function.size(solver.handle(), solver.params(), given..., &bytes, &host_bytes), doing);
    const Scratch work(at.device, at.stream, bytes);
    std::vector<std::byte> host(host_bytes);
    check_solver(function.run(solver.handle(), solver.params(), given..., work.as(), bytes, host.data(),
                              host_bytes, info_of(info)),
                 doing);
}

constexpr int fill_of(bool lower) { return lower ? 0 : 1; }

}  // namespace

void lu_factor(const Where& at, const Argument& a, const Argument& pivots, const Argument& info) {
    constexpr const char* doing = "an LU factorisation";
    const Matrix m = matrix(a);
    const SolverUse solver(at.device, at.stream);
    std::size_t bytes = 0, host_bytes = 0;
    check_solver(cusolver().getrf_size(solver.handle(), solver.params(), m.rows, m.columns, m.type, m.address,
                                       m.stride, m.type, &bytes, &host_bytes),
                 doing);
    const Scratch work(at.device, at.stream, bytes);
    std::vector<std::byte> host(host_bytes);
    check_solver(cusolver().getrf(solver.handle(), solver.params(), m.rows, m.columns, m.type, m.address,
                                  m.stride, static_cast<Count*>(pivots.address), m.type, work.as(), bytes,
                                  host.data(), host_bytes, info_of(info)),
                 doing);
}

void lu_solve(const Where& at, const Argument& a, const Argument& pivots, const Argument& b, bool transposed,
              const Argument& info) {
    const Matrix m = matrix(a), x = matrix(b);
    const SolverUse solver(at.device, at.stream);
    check_solver(cusolver().getrs(solver.handle(), solver.params(), transposed ? 1 : 0, m.rows, x.columns,
                                  m.type, m.address, m.stride, static_cast<const Count*>(pivots.address),
                                  x.type, x.address, x.stride, info_of(info)),
                 "solving by LU");
}

void cholesky_factor(const Where& at, const Argument& a, bool lower, const Argument& info) {
    const Matrix m = matrix(a);
    run(at, cusolver().potrf, "a Cholesky factorisation", info, fill_of(lower), m.rows, m.type, m.address,
        m.stride, m.type);
}

void cholesky_solve(const Where& at, const Argument& a, bool lower, const Argument& b, const Argument& info) {
    const Matrix m = matrix(a), x = matrix(b);
    const SolverUse solver(at.device, at.stream);
    check_solver(cusolver().potrs(solver.handle(), solver.params(), fill_of(lower), m.rows, x.columns, m.type,
                                  m.address, m.stride, x.type, x.address, x.stride, info_of(info)),
                 "solving by Cholesky");
}

void qr_factor(const Where& at, const Argument& a, const Argument& tau, const Argument& info) {
    const Matrix m = matrix(a);
    run(at, cusolver().geqrf, "a QR factorisation", info, m.rows, m.columns, m.type, m.address, m.stride,
        m.type, tau.address, m.type);
}

void qr_form(const Where& at, const Argument& a, const Argument& tau, const Argument& info) {
    constexpr const char* doing = "forming Q";
    const Matrix m = matrix(a);
    const std::size_t which = letter(a.dtype, "cuSOLVER has no");
    const int rows = narrow(m.rows), columns = narrow(m.columns), k = narrow(tau.lengths[0]);
    const SolverUse solver(at.device, at.stream);
    int elements = 0;
    check_solver(cusolver().form_size[which](solver.handle(), rows, columns, k, m.address, narrow(m.stride),
                                             tau.address, &elements),
                 doing);
    const Scratch work(at.device, at.stream,
                       static_cast<std::size_t>(elements) * ::xcuda::info(a.dtype).size);
    check_solver(cusolver().form[which](solver.handle(), rows, columns, k, m.address, narrow(m.stride),
                                        tau.address, work.as(), elements, info_of(info)),
                 doing);
}

void qr_apply_adjoint(const Where& at, const Argument& a, const Argument& tau, const Argument& c,
                      const Argument& info) {
    constexpr const char* doing = "multiplying by Q";
    const Matrix m = matrix(a), x = matrix(c);
    const std::size_t which = letter(a.dtype, "cuSOLVER has no");
    const int left = 0, op = is_complex(a.dtype) ? 2 : 1, k = narrow(tau.lengths[0]);
    const int rows = narrow(x.rows), columns = narrow(x.columns);
    const SolverUse solver(at.device, at.stream);
    int elements = 0;
    check_solver(
        cusolver().apply_size[which](solver.handle(), left, op, rows, columns, k, m.address, narrow(m.stride),
                                     tau.address, x.address, narrow(x.stride), &elements),
        doing);
    const Scratch work(at.device, at.stream,
                       static_cast<std::size_t>(elements) * ::xcuda::info(a.dtype).size);
    check_solver(
        cusolver().apply[which](solver.handle(), left, op, rows, columns, k, m.address, narrow(m.stride),
                                tau.address, x.address, narrow(x.stride), work.as(), elements, info_of(info)),
        doing);
}

void eigen_hermitian(const Where& at, const Argument& a, const Argument& values, bool vectors, bool lower,
                     const Argument& info) {
    const Matrix m = matrix(a), w = matrix(values);
    run(at, cusolver().syevd, "eigenvalues", info, vectors ? 1 : 0, fill_of(lower), m.rows, m.type, m.address,
        m.stride, w.type, w.address, m.type);
}

void singular_values(const Where& at, const Argument& a, const Argument& s, const Argument* u,
                     const Argument* vh, const Argument& info) {
    const Matrix m = matrix(a), values = matrix(s);
    const Matrix none{0, 0, std::max<Count>(m.rows, 1), m.type, nullptr};
    const Matrix left = u ? matrix(*u) : none, right = vh ? matrix(*vh) : none;
    const auto job = [&](const Argument* vectors, Count count, Count all) -> signed char {
        return !vectors ? 'N' : count == all ? 'A' : 'S';
    };
    run(at, cusolver().gesvd, "singular values", info, job(u, left.columns, m.rows),
        job(vh, right.rows, m.columns), m.rows, m.columns, m.type, m.address, m.stride, values.type,
        values.address, m.type, left.address, left.stride, m.type, right.address, right.stride, m.type);
}

void eigen_general(const Where& at, const Argument& a, const Argument& values, const Argument* vectors,
                   const Argument& info) {
    if (!cusolver().geev.run)
        throw missing("cuSOLVER of CUDA 12.6 or later, which has eigenvalues of general matrices",
                      "pip install a newer nvidia-cusolver");
    const Matrix m = matrix(a), w = matrix(values);
    const Matrix right = vectors ? matrix(*vectors) : Matrix{0, 0, m.rows, m.type, nullptr};
    const Count unused = std::max<Count>(m.rows, 1);
    run(at, cusolver().geev, "eigenvalues", info, 0, vectors ? 1 : 0, m.rows, m.type, m.address, m.stride,
        w.type, w.address, m.type, static_cast<void*>(nullptr), unused, m.type, right.address, right.stride,
        m.type);
}

}  // namespace xcuda::math
