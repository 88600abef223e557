// What numeric's methods do without Python in between: products of plain matrices on a GPU, parts of complex numbers, casts.
#include "_runtime_numeric.hpp"

#ifdef XCUDA_CUDA_DEVICE
#include "math/matmul.hpp"
#endif

namespace xcuda::python {
namespace {

using arrays::ValueP;
using arrays::View;

nb::object new_array(const ValueP& value) {
    value->site = site_here();
    return numeric_result(value);
}

#ifdef XCUDA_CUDA_DEVICE
// A matrix as kernels see it; a vector is a row, or a column.
launch::Argument matrix_of(const arrays::Value& value, const View& view, bool column) {
    launch::Argument m;
    m.is_array = true;
    m.dtype = value.dtype;
    m.address = value.address + view.offset * static_cast<std::int64_t>(info(value.dtype).size);
    m.ndim = 2;
    const std::size_t lies = column ? 0 : 1;  // of a vector
    for (std::size_t i = 0; i < 2; ++i) {
        m.lengths[i] = view.ndim == 2 ? view.lengths[i] : i == lies && view.ndim == 1 ? view.lengths[0] : 1;
        m.strides[i] = view.ndim == 2 ? view.strides[i] : i == lies && view.ndim == 1 ? view.strides[0] : 0;
    }
    m.layout = launch::layout_of(m.ndim, m.lengths.data(), m.strides.data());
    return m;
}

bool plain(const NumericArray& a) {
    const DType d = a.value->dtype;
    return (is_floating(d) || is_complex(d)) && (a.view.ndim == 1 || a.view.ndim == 2) && a.view.size() > 0;
}

// Both of one floating dtype with one or two axes, on one GPU, as BLAS can read them; None elsewhere.
nb::object product(nb::handle left, nb::handle right) {
    NumericArray *a = numeric_array(left.ptr()), *b = numeric_array(right.ptr());
    if (!a || !b || a->value->dtype != b->value->dtype || !plain(*a) || !plain(*b)) return nb::none();
    const std::shared_ptr<device::Device> device = a->value->device;
    if (device->host_accessible() || b->value->device != device || device != current_device())
        return nb::none();
    if (a->view.lengths[static_cast<std::size_t>(a->view.ndim - 1)] != b->view.lengths[0]) return nb::none();
    ready(*a);
    ready(*b);
    const launch::Argument x = matrix_of(*a->value, a->view, false), y = matrix_of(*b->value, b->view, true);
    if (!math::readable_by_blas(x) || !math::readable_by_blas(y)) return nb::none();
    std::array<std::int64_t, 2> shape;
    std::size_t ndim = 0;
    if (a->view.ndim == 2) shape[ndim++] = x.lengths[0];
    if (b->view.ndim == 2) shape[ndim++] = y.lengths[1];
    const auto stream = stream_on(device);
    const ValueP made =
        arrays::allocated(device, a->value->dtype, arrays::dense({shape.data(), ndim}), stream);
    for (const auto& buffer : {a->value->buffer, b->value->buffer}) buffer->used_on(stream);
    const std::array lengths{x.lengths[0], y.lengths[1]};
    View out = arrays::dense(lengths);
    math::matmul(*device, stream.get(), x, y, matrix_of(*made, out, false), {});
    return new_array(made);
}
#else
nb::object product(nb::handle, nb::handle) { return nb::none(); }
#endif

// The real (0) or the imaginary part (1), in the same memory; None where there is none to share.
nb::object part(NumericArray& a, int which) {
    const DType d = a.value->dtype;
    if (!is_complex(d) || a.view.size() == 0) return nb::none();
    ready(a);
    const DType real = d == DType::c64 ? DType::f32 : DType::f64;
    View layout = a.view;
    layout.offset = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(layout.ndim); ++i) layout.strides[i] *= 2;
    const auto size = static_cast<std::int64_t>(info(real).size);
    char* address = a.value->address + (a.view.offset * 2 + which) * size;
    return numeric_object(arrays::seen_as(*a.value, address, real, layout), layout, a.readonly);
}

}  // namespace

void bind_numeric_direct(nb::module_& module) {
    module.def("numeric_product", &product);
    module.def("numeric_part", &part);
}

}  // namespace xcuda::python
