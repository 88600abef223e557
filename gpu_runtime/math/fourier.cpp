#include "math/fourier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

#include "math/cuda_library.hpp"
#include "math/cuda_work.hpp"

namespace xcuda::math {

using launch::Argument;

namespace {

struct Cufft {
    CudaLibrary library{cufft_library};
    int (*create)(int*) = library.symbol<int(int*)>("cufftCreate");
    int (*destroy)(int) = library.symbol<int(int)>("cufftDestroy");
    int (*set_stream)(int, void*) = library.symbol<int(int, void*)>("cufftSetStream");
    int (*own_memory)(int, int) = library.symbol<int(int, int)>("cufftSetAutoAllocation");
    int (*set_work)(int, void*) = library.symbol<int(int, void*)>("cufftSetWorkArea");
    using Make = int(int, int rank, long long* n, long long* inembed, long long istride, long long idist,
                     int in_type, long long* onembed, long long ostride, long long odist, int out_type,
                     long long batch, std::size_t* work, int execution_type);
    Make* make = library.symbol<Make>("cufftXtMakePlanMany");
    int (*exec)(int, void*, void*, int) = library.symbol<int(int, void*, void*, int)>("cufftXtExec");
};

const Cufft& cufft() {
    static const Cufft& opened = *new Cufft();
    return opened;
}

// cufftResult, as cufft.h words it.
const char* words(int status) {
    constexpr const char* of[] = {
        "success",          "an invalid plan",   "out of memory",        "an invalid type",
        "an invalid value", "an internal error", "the execution failed", "the setup failed",
        "an invalid size"};
    return status >= 0 && status < static_cast<int>(std::size(of)) ? of[status] : "an unknown status";
}

void check(int status, const char* doing) {
    if (status == 0) return;
    constexpr int out_of_memory = 2;
    throw device::library_failed(doing, fmt::format("{} ({})", words(status), status),
                                 status == out_of_memory);
}

/// What a plan is made for.
struct Form {
    int ordinal, rank, in_type, out_type;
    std::vector<long long> n, in_lengths, out_lengths;
    long long stride, in_step, out_step, batch;
    bool operator==(const Form&) const = default;
};

struct Plan {
    Form form;
    int number = -1;
    std::size_t work = 0;
};

struct Plans {
    std::mutex mutex;
    std::list<Plan> kept;  // last used first
    std::size_t bound = 64;
};

Plans& plans() {
    static Plans& all = *new Plans();
    return all;
}

void shrink(Plans& all) {
    while (all.kept.size() > all.bound) {
        cufft().destroy(all.kept.back().number);
        all.kept.pop_back();
    }
}

Plan& plan_for(Plans& all, Form form) {
    for (auto it = all.kept.begin(); it != all.kept.end(); ++it)
        if (it->form == form) {
            all.kept.splice(all.kept.begin(), all.kept, it);
            return all.kept.front();
        }
    Plan made{std::move(form)};
    Form& f = made.form;
    check(cufft().create(&made.number), "making a Fourier plan");
    check(cufft().own_memory(made.number, 0), "making a Fourier plan");
    const int complex_type = f.in_type > 3 ? f.in_type : f.out_type;
    const int status = cufft().make(made.number, f.rank, f.n.data(), f.in_lengths.data(), f.stride, f.in_step,
                                    f.in_type, f.out_lengths.data(), f.stride, f.out_step, f.out_type,
                                    f.batch, &made.work, complex_type);
    if (status != 0) cufft().destroy(made.number);
    check(status, "making a Fourier plan");
    all.kept.push_front(std::move(made));
    shrink(all);
    return all.kept.front();
}

long long product(const Argument& a, int from, int to) {
    long long n = 1;
    for (int i = from; i < to; ++i) n *= a.lengths[i];
    return n;
}

/// cuFFT reads and writes real numbers by pairs: memory that does not lie so goes through a copy that does.
struct Aligned {
    Aligned(device::Device& device, device::Stream* stream, char* at, std::size_t n, std::size_t alignment)
        : copy(device, stream, reinterpret_cast<std::uintptr_t>(at) % alignment ? n : 0),
          address(copy.as() ? copy.as<char>() : at),
          bytes(n) {}
    bool is_copy() const { return copy.as() != nullptr; }

    Scratch copy;
    char* address;
    std::size_t bytes;
};

}  // namespace

void fourier_transform(device::Device& device, device::Stream* stream, const Argument& in,
                       const Argument& out, int first, int rank, bool inverse) {
    const device::InContext current(device, "cuFFT");
    Form form;
    form.ordinal = device.info().ordinal;
    form.rank = rank;
    form.in_type = cuda_data_type(in.dtype, "cuFFT");
    form.out_type = cuda_data_type(out.dtype, "cuFFT");
    if (in.layout != ir::Layout::contiguous || out.layout != ir::Layout::contiguous || in.ndim != out.ndim ||
        rank < 1 || rank > 3 || first < 0 || first + rank > in.ndim)
        throw bug("a Fourier transform of arrays as cuFFT can't have them");
    if (in.elements() == 0 || out.elements() == 0) return;
    const Argument& logical = is_complex(in.dtype) && !is_complex(out.dtype) ? out : in;
    for (int i = first; i < first + rank; ++i) {
        form.n.push_back(logical.lengths[i]);
        form.in_lengths.push_back(in.lengths[i]);
        form.out_lengths.push_back(out.lengths[i]);
    }
    const long long before = product(in, 0, first), after = product(in, first + rank, in.ndim);
    const long long in_block = product(in, first, in.ndim), out_block = product(out, first, out.ndim);
    // Transforms lie one after another, or side by side; where both, a call for each group of those side by side.
    form.stride = after;
    form.batch = after == 1 ? before : after;
    form.in_step = after == 1 ? in_block : 1;
    form.out_step = after == 1 ? out_block : 1;
    const long long calls = after == 1 ? 1 : before;

    Plans& all = plans();
    const std::scoped_lock lock(all.mutex);
    const Plan& plan = plan_for(all, std::move(form));
    const Scratch work(device, stream, plan.work);
    check(cufft().set_stream(plan.number, reinterpret_cast<void*>(device.handle(stream))),
          "a Fourier transform");
    check(cufft().set_work(plan.number, work.as()), "a Fourier transform");
    const auto complex_size = info(is_complex(in.dtype) ? in.dtype : out.dtype).size;
    // Of one call.
    const auto in_bytes =
        static_cast<std::size_t>((calls == 1 ? before : 1) * in_block) * info(in.dtype).size;
    const auto out_bytes =
        static_cast<std::size_t>((calls == 1 ? before : 1) * out_block) * info(out.dtype).size;
    for (long long i = 0; i < calls; ++i) {
        char* from = static_cast<char*>(in.address) + static_cast<std::size_t>(i) * in_bytes;
        char* to = static_cast<char*>(out.address) + static_cast<std::size_t>(i) * out_bytes;
        const Aligned source(device, stream, from, in_bytes, complex_size);
        const Aligned result(device, stream, to, out_bytes, complex_size);
        if (source.is_copy()) device.copy_on_device(source.address, from, source.bytes, stream);
        check(cufft().exec(plan.number, source.address, result.address, inverse ? 1 : -1),
              "a Fourier transform");
        if (result.is_copy()) device.copy_on_device(to, result.address, result.bytes, stream);
    }
}

FourierPlans fourier_plans() {
    const std::scoped_lock lock(plans().mutex);
    return {plans().kept.size(), plans().bound};
}

void keep_fourier_plans(std::size_t bound) {
    const std::scoped_lock lock(plans().mutex);
    plans().bound = std::max<std::size_t>(bound, 1);  // the one in use stays
    shrink(plans());
}

}  // namespace xcuda::math
