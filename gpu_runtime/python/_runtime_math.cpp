#include "_runtime_math.hpp"

#include <nanobind/stl/optional.h>

#include <initializer_list>

#include "_runtime_array.hpp"
#include "_runtime_stream.hpp"

#ifdef XCUDA_CUDA_DEVICE
#include "math/epilogue.hpp"
#include "math/fourier.hpp"
#include "math/lapack.hpp"
#include "math/matmul.hpp"
#endif

namespace xcuda::python {

#ifdef XCUDA_CUDA_DEVICE
namespace {

/// The device and the stream that a call works in; every array is in use there from then on.
struct Call {
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Stream> stream;
    math::Where where;

    Call(const DeviceArray& first, std::initializer_list<const DeviceArray*> others)
        : device(first.buffer->device()),
          stream(stream_on(device)),
          where{*device, stream.get()} {
        first.buffer->used_on(stream);
        for (const DeviceArray* each : others) {
            if (!each) continue;
            if (each->buffer->device() != device)
                raise("ValueError", "the arrays of one call must be on one device");
            each->buffer->used_on(stream);
        }
    }
};

void expect_writable(const DeviceArray& a) {
    if (a.view.readonly) raise("ValueError", "the array is read-only: its library said so");
}

void matmul(const DeviceArray& a, const DeviceArray& b, const DeviceArray& out, double alpha, double beta,
            bool tf32, bool conjugate_a, bool conjugate_b) {
    expect_writable(out);
    const Call call(out, {&a, &b});
    math::matmul(*call.device, call.where.stream, a.view, b.view, out.view,
                 {alpha, beta, tf32, conjugate_a, conjugate_b});
}

/// False, with nothing done, where cuBLASLt has no kernel for it.
bool product_with_epilogue(const DeviceArray& a, const DeviceArray& b, const DeviceArray& out, double alpha,
                           const DeviceArray* residual, const DeviceArray* bias, int activation, bool tf32,
                           int choice) {
    expect_writable(out);
    const Call call(out, {&a, &b, residual, bias});
    math::Epilogue epilogue{.activation = static_cast<math::Activation>(activation), .choice = choice};
    if (residual) epilogue.residual = &residual->view;
    if (bias) epilogue.bias = &bias->view;
    return math::product_with_epilogue(*call.device, call.where.stream, a.view, b.view, out.view,
                                       {.alpha = alpha, .beta = 1, .tf32 = tf32}, epilogue);
}

void self_product(const DeviceArray& a, const DeviceArray& out, double alpha, double beta) {
    expect_writable(out);
    const Call call(out, {&a});
    math::self_product(*call.device, call.where.stream, a.view, out.view, alpha, beta);
}

void solve_triangular(const DeviceArray& t, const DeviceArray& b, bool lower, bool unit, bool transposed,
                      bool conjugated) {
    expect_writable(b);
    const Call call(b, {&t});
    math::solve_triangular(*call.device, call.where.stream, t.view, b.view,
                           {lower, unit, transposed, conjugated});
}

void fourier(const DeviceArray& in, const DeviceArray& out, int first, int rank, bool inverse) {
    expect_writable(out);
    const Call call(out, {&in});
    math::fourier_transform(*call.device, call.where.stream, in.view, out.view, first, rank, inverse);
}

const launch::Argument* view_of(const DeviceArray* a) { return a ? &a->view : nullptr; }

void bind_lapack(nb::module_& m) {
    using A = const DeviceArray&;
    m.def("lu_factor", [](A a, A pivots, A info) {
        math::lu_factor(Call(a, {&pivots, &info}).where, a.view, pivots.view, info.view);
    });
    m.def("lu_solve", [](A a, A pivots, A b, bool transposed, A info) {
        math::lu_solve(Call(a, {&pivots, &b, &info}).where, a.view, pivots.view, b.view, transposed,
                       info.view);
    });
    m.def("cholesky_factor", [](A a, bool lower, A info) {
        math::cholesky_factor(Call(a, {&info}).where, a.view, lower, info.view);
    });
    m.def("cholesky_solve", [](A a, bool lower, A b, A info) {
        math::cholesky_solve(Call(a, {&b, &info}).where, a.view, lower, b.view, info.view);
    });
    m.def("qr_factor", [](A a, A tau, A info) {
        math::qr_factor(Call(a, {&tau, &info}).where, a.view, tau.view, info.view);
    });
    m.def("qr_form", [](A a, A tau, A info) {
        math::qr_form(Call(a, {&tau, &info}).where, a.view, tau.view, info.view);
    });
    m.def("qr_apply_adjoint", [](A a, A tau, A c, A info) {
        math::qr_apply_adjoint(Call(a, {&tau, &c, &info}).where, a.view, tau.view, c.view, info.view);
    });
    m.def("eigen_hermitian", [](A a, A values, bool vectors, bool lower, A info) {
        math::eigen_hermitian(Call(a, {&values, &info}).where, a.view, values.view, vectors, lower,
                              info.view);
    });
    m.def(
        "singular_values",
        [](A a, A s, const DeviceArray* u, const DeviceArray* vh, A info) {
            math::singular_values(Call(a, {&s, u, vh, &info}).where, a.view, s.view, view_of(u), view_of(vh),
                                  info.view);
        },
        nb::arg("a"), nb::arg("s"), nb::arg("u").none(), nb::arg("vh").none(), nb::arg("info"));
    m.def(
        "eigen_general",
        [](A a, A values, const DeviceArray* vectors, A info) {
            math::eigen_general(Call(a, {&values, vectors, &info}).where, a.view, values.view,
                                view_of(vectors), info.view);
        },
        nb::arg("a"), nb::arg("values"), nb::arg("vectors").none(), nb::arg("info"));
}

}  // namespace

void bind_math(nb::module_& module) {
    nb::module_ m = module.def_submodule("cuda_math",
                                         "cuBLAS, cuBLASLt, cuFFT and cuSOLVER over device arrays of a GPU.");
    m.def("matmul", &matmul, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("alpha") = 1.0,
          nb::arg("beta") = 0.0, nb::arg("tf32") = false, nb::arg("conjugate_a") = false,
          nb::arg("conjugate_b") = false);
    m.def("product_with_epilogue", &product_with_epilogue, nb::arg("a"), nb::arg("b"), nb::arg("out"),
          nb::arg("alpha"), nb::arg("residual").none(), nb::arg("bias").none(), nb::arg("activation"),
          nb::arg("tf32") = false, nb::arg("choice") = 0);
    m.def("expect_epilogues", [] { math::expect_epilogues(); });
    m.def("readable", [](const DeviceArray& a) { return math::readable_by_blas(a.view); });
    m.def("self_product", &self_product, nb::arg("a"), nb::arg("out"), nb::arg("alpha") = 1.0,
          nb::arg("beta") = 0.0);
    m.def("solve_triangular", &solve_triangular, nb::arg("t"), nb::arg("b"), nb::arg("lower"),
          nb::arg("unit_diagonal") = false, nb::arg("transposed") = false, nb::arg("conjugated") = false);
    m.def("fourier", &fourier, nb::arg("in"), nb::arg("out"), nb::arg("first"), nb::arg("rank"),
          nb::arg("inverse"));
    m.def("fourier_plans", [] {
        const math::FourierPlans plans = math::fourier_plans();
        return nb::make_tuple(plans.kept, plans.bound);
    });
    m.def("keep_fourier_plans", [](std::size_t bound) { math::keep_fourier_plans(bound); });
    bind_lapack(m);
}
#else
void bind_math(nb::module_&) {}
#endif

}  // namespace xcuda::python
