#include "device/cpu/blas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "device/cpu/host.hpp"
#include "device/cpu/worker.hpp"

namespace xcuda::device::cpu {

namespace {

// CBLAS: order, whether each operand is transposed, lengths, factor, operands with elements from a row to the next.
template <class Int, class T>
using Gemm = void (*)(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
constexpr int by_rows = 101, plain = 111, transposed = 112;

struct Blas {
    void *of_float = nullptr, *of_double = nullptr;
    bool wide = false;  // its integers have 64 bits
};

std::optional<Blas> blas_of(const char* file) {
    void* const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return std::nullopt;
    // As NumPy's wheels name them, with 64-bit integers or not, and as others do.
    for (const auto& [before, after] : {std::pair{"scipy_", "64_"}, {"", "64_"}, {"scipy_", ""}, {"", ""}}) {
        const auto symbol = [&, b = before, a = after](const char* name) {
            return dlsym(library, (std::string(b) + name + a).c_str());
        };
        const auto config = reinterpret_cast<const char* (*)()>(symbol("openblas_get_config"));
        const auto threads = reinterpret_cast<int (*)()>(symbol("openblas_get_num_threads"));
        Blas blas{symbol("cblas_sgemm"), symbol("cblas_dgemm"), false};
        if (!config || !threads || !blas.of_float || !blas.of_double) continue;
        if (threads() > worker_count()) return std::nullopt;  // who asked for fewer workers means it
        blas.wide = std::strstr(config(), "USE64BITINT") != nullptr;
        return blas;  // the library stays: its handle is not given back
    }
    dlclose(library);
    return std::nullopt;
}

int look_at(dl_phdr_info* info, std::size_t, void* found) {
    const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
    if (path.substr(path.find_last_of('/') + 1).find("openblas") == std::string_view::npos) return 0;
    static_cast<std::string*>(found)->assign(path);
    return 1;
}

const Blas* blas() {
    static std::atomic<const Blas*> known{nullptr};
    if (const Blas* b = known.load(std::memory_order_acquire)) return b;
    std::string file;
    dl_iterate_phdr(look_at, &file);
    if (file.empty()) return nullptr;
    const std::optional<Blas> found = blas_of(file.c_str());
    if (!found) return nullptr;
    static const Blas kept = *found;
    known.store(&kept, std::memory_order_release);
    return &kept;
}

template <class Int, class T>
void multiply(void* function, const MatrixProduct& p, T* c, std::int64_t first, std::int64_t rows) {
    const auto n = [](std::int64_t value) { return static_cast<Int>(value); };
    const std::int64_t lda = std::max<std::int64_t>(1, p.a_turned ? p.m : p.k),
                       ldb = std::max<std::int64_t>(1, p.b_turned ? p.k : p.n);
    const T* const a = static_cast<const T*>(p.a) + first * (p.a_turned ? 1 : p.k);
    reinterpret_cast<Gemm<Int, T>>(function)(
        by_rows, p.a_turned ? transposed : plain, p.b_turned ? transposed : plain, n(rows), n(p.n), n(p.k),
        T(1), a, n(lda), static_cast<const T*>(p.b), n(ldb), T(0), c + first * p.n, n(p.n));
}

bool overlap(const void* x, std::int64_t x_bytes, const void* y, std::int64_t y_bytes) {
    const auto *a = static_cast<const char*>(x), *b = static_cast<const char*>(y);
    return a < b + y_bytes && b < a + x_bytes;
}

// False where the launch was stopped.
template <class T>
bool all_panels(const Blas& b, const MatrixProduct& p, T* c, const LaunchBlock& launch) {
    constexpr std::int64_t at_once = 16'000'000'000;  // multiplications: some tenths of a second
    const std::int64_t most = std::max<std::int64_t>(512, at_once / std::max<std::int64_t>(1, p.n * p.k));
    const std::int64_t panels = (p.m + most - 1) / most, even = (p.m + panels - 1) / panels,
                       rows = (even + 63) / 64 * 64;
    void* const function = sizeof(T) == 4 ? b.of_float : b.of_double;
    for (std::int64_t first = 0; first < p.m; first += rows) {
        if (*launch.stop) return false;
        const std::int64_t here = std::min(rows, p.m - first);
        if (b.wide)
            multiply<std::int64_t, T>(function, p, c, first, here);
        else
            multiply<std::int32_t, T>(function, p, c, first, here);
    }
    return true;
}

template <class T>
void product_of(Worker* worker, const LaunchBlock* launch, const MatrixProduct& p) {
    const auto size = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t bytes = p.m * p.n * size;
    if (bytes == 0) return;
    T* c = static_cast<T*>(p.c);
    const bool over = overlap(c, bytes, p.a, p.m * p.k * size) || overlap(c, bytes, p.b, p.k * p.n * size);
    if (over) c = static_cast<T*>(std::malloc(static_cast<std::size_t>(bytes)));
    // No exception may pass the kernel's own frames.
    if (!c) abandon(static_cast<WorkerState&>(*worker), std::make_exception_ptr(std::bad_alloc()));
    const bool whole = all_panels(*blas(), p, c, *launch);
    if (over) {
        if (whole) std::memcpy(p.c, c, static_cast<std::size_t>(bytes));
        std::free(c);  // before the way out, which unwinds nothing
    }
    if (!whole) worker->leave(worker);
}

}  // namespace

bool has_blas() { return blas() != nullptr; }

void blas_product(Worker* worker, const LaunchBlock* launch, const MatrixProduct* p) {
    const Blas* const b = blas();
    if (!b || (!b->wide && std::max({p->m, p->n, p->k}) > INT32_MAX))
        abandon(
            static_cast<WorkerState&>(*worker),
            std::make_exception_ptr(Error(
                Fault::machine, "RuntimeError",
                b ? "the product's lengths are more than this OpenBLAS can count"
                  : "the kernel was compiled for products by OpenBLAS, which is not in this process",
                std::nullopt, "give the kernel plan={\"products\": \"fma\"}, which has loops of its own")));
    p->of_double ? product_of<double>(worker, launch, *p) : product_of<float>(worker, launch, *p);
}

}  // namespace xcuda::device::cpu
