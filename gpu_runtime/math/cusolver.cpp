#include "math/cusolver.hpp"

#include <fmt/format.h>

#include <string>

#include "math/cuda_work.hpp"

namespace xcuda::math {

namespace {

template <typename F>
void find(const CudaLibrary& library, F& to, const std::string& function) {
    to = library.symbol<std::remove_pointer_t<F>>(function.c_str());
}

template <typename... Arguments>
void find_sized(const CudaLibrary& library, Sized<Arguments...>& to, const std::string& function) {
    find(library, to.run, function);
    find(library, to.size, function + "_bufferSize");
}

constexpr const char* letters[] = {"S", "D", "C", "Z"};

template <typename F>
void find_four(const CudaLibrary& library, F (&to)[4], const char* of_real, const char* of_complex,
               const char* ending = "") {
    for (int i = 0; i < 4; ++i)
        find(library, to[i],
             fmt::format("cusolverDn{}{}{}", letters[i], i < 2 ? of_real : of_complex, ending));
}

struct Handle {
    std::mutex mutex;
    SolverHandle handle = nullptr;
    SolverParams params = nullptr;
};

// cusolverStatus_t, as its header words it.
const char* words(int status) {
    constexpr const char* of[] = {"success",
                                  "not initialized",
                                  "out of memory",
                                  "an invalid value",
                                  "an unsupported architecture",
                                  "a mapping error",
                                  "the execution failed",
                                  "an internal error",
                                  "an unsupported matrix type",
                                  "not supported"};
    return status >= 0 && status < static_cast<int>(std::size(of)) ? of[status] : "an unknown status";
}

}  // namespace

Cusolver::Cusolver() : library(cusolver_library) {
    find(library, create, "cusolverDnCreate");
    find(library, create_params, "cusolverDnCreateParams");
    find(library, set_stream, "cusolverDnSetStream");
    find(library, getrf, "cusolverDnXgetrf");
    find(library, getrf_size, "cusolverDnXgetrf_bufferSize");
    find(library, getrs, "cusolverDnXgetrs");
    find_sized(library, potrf, "cusolverDnXpotrf");
    find(library, potrs, "cusolverDnXpotrs");
    find_sized(library, geqrf, "cusolverDnXgeqrf");
    find_sized(library, syevd, "cusolverDnXsyevd");
    find_sized(library, gesvd, "cusolverDnXgesvd");
    geev = {};
    try {
        find_sized(library, geev, "cusolverDnXgeev");
    } catch (const Error&) {  // told when it is asked for
        geev = {};
    }
    find_four(library, form, "orgqr", "ungqr");
    find_four(library, form_size, "orgqr", "ungqr", "_bufferSize");
    find_four(library, apply, "ormqr", "unmqr");
    find_four(library, apply_size, "ormqr", "unmqr", "_bufferSize");
}

const Cusolver& cusolver() {
    static const Cusolver& opened = *new Cusolver();
    return opened;
}

SolverUse::SolverUse(device::Device& device, device::Stream* stream)
    : current_(device, "cuSOLVER"),
      one_at_a_time_(one_a_gpu<Handle>(device.info().ordinal).mutex) {
    Handle& h = one_a_gpu<Handle>(device.info().ordinal);
    const Cusolver& library = cusolver();
    if (!h.handle) check_solver(library.create(&h.handle), "starting cuSOLVER");
    if (!h.params) check_solver(library.create_params(&h.params), "starting cuSOLVER");
    handle_ = h.handle;
    params_ = h.params;
    check_solver(library.set_stream(handle_, reinterpret_cast<void*>(device.handle(stream))),
                 "giving cuSOLVER its stream");
}

void check_solver(int status, const char* doing) {
    if (status == 0) return;
    constexpr int out_of_memory = 2;
    throw device::library_failed(doing, fmt::format("{} ({})", words(status), status),
                                 status == out_of_memory);
}

}  // namespace xcuda::math
