#include "math/epilogue.hpp"

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "math/cublaslt.hpp"
#include "math/cuda_work.hpp"
#include "math/lying.hpp"

namespace xcuda::math {

using launch::Argument;

namespace {

constexpr std::uint64_t most_workspace = std::uint64_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr int most_algorithms = 8;
constexpr std::size_t most_plans = 256;  // of one GPU

/// What cuBLASLt needs for one kind of product, and the algorithms that it found for it.
struct Plan {
    lt::Product product = nullptr;
    std::array<lt::Matrix, 4> matrices{};  // a, b, c, d
    std::vector<lt::Found> found;

    Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() {
        const lt::Library& library = lt::library();
        for (lt::Matrix each : matrices)
            if (each) library.end_matrix(each);
        if (product) library.end_product(product);
    }
};

struct Search {
    lt::Search handle = nullptr;
    Search() { lt::check(lt::library().make_search(&handle), "preparing a product"); }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    ~Search() { lt::library().end_search(handle); }
};

/// All that a plan depends on.
struct Wanted {
    std::int64_t rows, columns, inner;  // of the column-major result
    std::int64_t stride_a, stride_b, stride_c, stride_d;
    std::int64_t op_a, op_b, type, compute, epilogue;
    std::int64_t align_a, align_b, align_c, align_d, align_bias;
    auto operator<=>(const Wanted&) const = default;
};

struct OfGpu {
    std::mutex mutex;
    lt::Handle handle = nullptr;
    std::map<Wanted, std::unique_ptr<Plan>> plans;
};

std::int64_t alignment(const void* address) {  // as far as algorithms care
    const auto at = reinterpret_cast<std::uintptr_t>(address) | 256;
    return static_cast<std::int64_t>(at & (~at + 1));
}

template <typename Value>
void set(lt::Product product, lt::OfProduct which, const Value& value) {
    lt::check(lt::library().set_product(product, which, &value, sizeof value), "describing a product");
}

std::unique_ptr<Plan> make_plan(lt::Handle handle, const Wanted& w, const void* bias) {
    const lt::Library& library = lt::library();
    auto plan = std::make_unique<Plan>();
    const int type = static_cast<int>(w.type);
    const int scale = static_cast<Compute>(w.compute) == Compute::f64 ? type : cuda_data_type(DType::f32, "");
    lt::check(library.make_product(&plan->product, static_cast<Compute>(w.compute), scale),
              "describing a product");
    set(plan->product, lt::OfProduct::transpose_a, static_cast<std::int32_t>(w.op_a));
    set(plan->product, lt::OfProduct::transpose_b, static_cast<std::int32_t>(w.op_b));
    set(plan->product, lt::OfProduct::epilogue, static_cast<std::uint32_t>(w.epilogue));
    if (bias) set(plan->product, lt::OfProduct::bias, bias);
    struct Side {
        std::int64_t rows, columns, stride;
    };
    const auto stored = [](std::int64_t op, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
        return op ? Side{columns, rows, stride} : Side{rows, columns, stride};
    };
    const Side sides[] = {stored(w.op_a, w.rows, w.inner, w.stride_a),
                          stored(w.op_b, w.inner, w.columns, w.stride_b),
                          {w.rows, w.columns, w.stride_c},
                          {w.rows, w.columns, w.stride_d}};
    for (std::size_t i = 0; i < plan->matrices.size(); ++i)
        lt::check(library.make_matrix(&plan->matrices[i], type, static_cast<std::uint64_t>(sides[i].rows),
                                      static_cast<std::uint64_t>(sides[i].columns), sides[i].stride),
                  "describing a matrix");
    const Search search;
    const auto prefer = [&](lt::OfSearch which, auto value) {
        lt::check(library.set_search(search.handle, which, &value, sizeof value), "preparing a product");
    };
    prefer(lt::OfSearch::most_workspace, most_workspace);
    prefer(lt::OfSearch::alignment_a, static_cast<std::uint32_t>(w.align_a));
    prefer(lt::OfSearch::alignment_b, static_cast<std::uint32_t>(w.align_b));
    prefer(lt::OfSearch::alignment_c, static_cast<std::uint32_t>(w.align_c));
    prefer(lt::OfSearch::alignment_d, static_cast<std::uint32_t>(w.align_d));
    std::array<lt::Found, most_algorithms> found{};
    int count = 0;
    const auto& m = plan->matrices;
    const int status = library.search(handle, plan->product, m[0], m[1], m[2], m[3], search.handle,
                                      most_algorithms, found.data(), &count);
    constexpr int invalid_value = 7, not_supported = 15;  // cublasStatus_t: it has no kernel for this
    if (status == invalid_value || status == not_supported) return plan;
    lt::check(status, "looking for a product's algorithm");
    for (int i = 0; i < count; ++i)
        if (found[static_cast<std::size_t>(i)].state == 0)
            plan->found.push_back(found[static_cast<std::size_t>(i)]);
    return plan;
}

std::uint32_t number_of(const Epilogue& e) {
    std::uint32_t number = e.bias ? lt::bias : 0;
    if (e.activation == Activation::relu) number |= lt::relu;
    if (e.activation == Activation::gelu) number |= lt::gelu;
    return number ? number : std::uint32_t{lt::plain};
}

void expect_fitting(const Argument& a, const Argument& b, const Argument& out, const Epilogue& e) {
    if (a.ndim != 2 || b.ndim != 2 || out.ndim != 2 || a.lengths[1] != b.lengths[0] ||
        out.lengths[0] != a.lengths[0] || out.lengths[1] != b.lengths[1])
        throw bug("a product with an epilogue of matrices whose lengths don't fit");
    if (a.dtype != b.dtype || a.dtype != out.dtype) throw bug("a product with an epilogue of several dtypes");
    if (!readable_by_blas(a) || !readable_by_blas(b) || !readable_by_blas(out) || !lying(out).by_rows)
        throw bug("a product with an epilogue of matrices that BLAS can't read");
    if (const Argument* r = e.residual)
        if (r->ndim != 2 || r->dtype != out.dtype || r->lengths[0] != out.lengths[0] ||
            r->lengths[1] != out.lengths[1] || !readable_by_blas(*r) || !lying(*r).by_rows)
            throw bug("a residual that does not fit its product");
    if (const Argument* v = e.bias)
        if (v->ndim != 1 || v->dtype != out.dtype || v->lengths[0] != out.lengths[1] ||
            (v->strides[0] != 1 && v->lengths[0] > 1))
            throw bug("a bias that does not fit its product");
}

}  // namespace

void expect_epilogues() { lt::library(); }

bool product_with_epilogue(device::Device& device, device::Stream* stream, const Argument& a,
                           const Argument& b, const Argument& out, const Product& how,
                           const Epilogue& epilogue) {
    expect_fitting(a, b, out, epilogue);
    if (out.elements() == 0) return true;
    if (a.lengths[1] == 0) return false;
    const lt::Library& library = lt::library();
    // Column-major results are the transposes of products in the other order.
    const Argument& c = epilogue.residual ? *epilogue.residual : out;
    const Lying left = lying(b), right = lying(a), result = lying(out), added = lying(c);
    const void* bias = epilogue.bias ? epilogue.bias->address : nullptr;
    const Wanted wanted{
        .rows = out.lengths[1],
        .columns = out.lengths[0],
        .inner = a.lengths[1],
        .stride_a = left.stride,
        .stride_b = right.stride,
        .stride_c = added.stride,
        .stride_d = result.stride,
        .op_a = static_cast<std::int64_t>(op_of(left, true, false)),
        .op_b = static_cast<std::int64_t>(op_of(right, true, false)),
        .type = cuda_data_type(a.dtype, "cuBLASLt"),
        .compute = static_cast<std::int64_t>(compute_of(a.dtype, how.tf32)),
        .epilogue = number_of(epilogue),
        .align_a = alignment(b.address),
        .align_b = alignment(a.address),
        .align_c = alignment(c.address),
        .align_d = alignment(out.address),
        .align_bias = bias ? alignment(bias) : 0,
    };
    const device::InContext current(device, "cuBLASLt");
    OfGpu& gpu = one_a_gpu<OfGpu>(device.info().ordinal);
    const std::scoped_lock one_at_a_time(gpu.mutex);
    if (!gpu.handle) lt::check(library.create(&gpu.handle), "starting cuBLASLt");
    auto at = gpu.plans.find(wanted);
    if (at == gpu.plans.end()) {
        if (gpu.plans.size() >= most_plans) gpu.plans.clear();
        at = gpu.plans.emplace(wanted, make_plan(gpu.handle, wanted, bias)).first;
    }
    const Plan& plan = *at->second;
    if (static_cast<std::size_t>(epilogue.choice) >= plan.found.size()) return false;
    const lt::Found& chosen = plan.found[static_cast<std::size_t>(epilogue.choice)];
    if (bias) set(plan.product, lt::OfProduct::bias, bias);
    const DType compute = info(a.dtype).size == 2 ? DType::f32 : a.dtype;
    const Scalar alpha = scalar_of(compute, how.alpha);
    const Scalar beta = scalar_of(compute, epilogue.residual ? how.beta : 0);
    const Scratch workspace(device, stream, chosen.workspace);
    const auto& m = plan.matrices;
    lt::check(
        library.multiply(gpu.handle, plan.product, alpha.bytes, b.address, m[0], a.address, m[1], beta.bytes,
                         c.address, m[2], out.address, m[3], &chosen.algorithm, workspace.as(),
                         chosen.workspace, reinterpret_cast<void*>(device.handle(stream))),
        "multiplying matrices");
    return true;
}

}  // namespace xcuda::math
