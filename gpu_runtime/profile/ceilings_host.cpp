// Measures the host: a copy that streams through memory, and multiply-adds that stay in registers.
#include <algorithm>
#include <barrier>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "profile/roofline.hpp"

namespace xcuda::profile {
namespace {

constexpr std::size_t copy_bytes = 32u << 20;  // each of source and target, for all workers together
constexpr int copy_passes = 12;                // the first makes the target's pages
constexpr int flop_rounds = 150'000;           // half a millisecond or less
constexpr int flop_passes = 5;
constexpr int chains = 10;  // independent ones: two units times a latency of four to five, and no spills

#if defined(__x86_64__)
#define XCUDA_KEEP(v) asm volatile("" : "+x"(v))
#else
#define XCUDA_KEEP(v) asm volatile("" : "+w"(v))
#endif
#define XCUDA_STEP(v) \
    v = v * a + b;    \
    XCUDA_KEEP(v)

/// `flop_rounds` multiply-adds on each of ten vectors of `Bytes`.
template <class T, int Bytes>
[[gnu::always_inline]] inline T multiply_add(T a, T b) {
    using Vector [[gnu::vector_size(Bytes)]] = T;
    Vector v0{}, v1{}, v2{}, v3{}, v4{}, v5{}, v6{}, v7{}, v8{}, v9{};
    for (int round = 0; round < flop_rounds; ++round) {
        XCUDA_STEP(v0);
        XCUDA_STEP(v1);
        XCUDA_STEP(v2);
        XCUDA_STEP(v3);
        XCUDA_STEP(v4);
        XCUDA_STEP(v5);
        XCUDA_STEP(v6);
        XCUDA_STEP(v7);
        XCUDA_STEP(v8);
        XCUDA_STEP(v9);
    }
    const Vector sum = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9;
    return sum[0];
}

template <class T>
struct Kernel {
    T (*run)(T, T);
    int bytes;
};

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx512f"), gnu::noinline]] T widest(T a, T b) {
    return multiply_add<T, 64>(a, b);
}
template <class T>
[[gnu::target("avx2,fma"), gnu::noinline]] T wide(T a, T b) {
    return multiply_add<T, 32>(a, b);
}
#endif
template <class T>
[[gnu::noinline]] T plain(T a, T b) {
    return multiply_add<T, 16>(a, b);
}

template <class T>
Kernel<T> kernel_for_this_processor() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {widest<T>, 64};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {wide<T>, 32};
#endif
    return {plain<T>, 16};
}

/// Runs `work(worker)` on all workers at once, `passes` times; the shortest pass in seconds, from start to last end.
template <class Work>
double shortest(int workers, int passes, Work work) {
    double best = std::numeric_limits<double>::infinity();
    std::barrier together(workers);
    const auto run = [&](int worker) {
        for (int pass = 0; pass < passes; ++pass) {
            together.arrive_and_wait();
            const double begin = now();
            work(worker);
            together.arrive_and_wait();
            if (worker == 0) best = std::min(best, now() - begin);
        }
    };
    std::vector<std::jthread> threads;
    for (int worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
    run(0);
    threads.clear();
    return best;
}

template <class T>
double flop_rate(int workers) {
    const auto kernel = kernel_for_this_processor<T>();
    std::vector<T> results(workers);
    const double seconds =
        shortest(workers, flop_passes, [&](int w) { results[w] = kernel.run(T(0.5), T(1)); });
    const double lanes = kernel.bytes / sizeof(T);
    return 2.0 * lanes * chains * flop_rounds * workers / seconds;
}

double copy_rate(int workers) {
    const std::size_t part = copy_bytes / workers / 64 * 64;
    const std::unique_ptr<char[]> from(new char[copy_bytes]), to(new char[copy_bytes]);
    shortest(workers, 1, [&](int w) { std::memset(from.get() + w * part, 1, part); });  // pages are made here
    const double seconds = shortest(
        workers, copy_passes, [&](int w) { std::memcpy(to.get() + w * part, from.get() + w * part, part); });
    return 2.0 * static_cast<double>(part) * workers / seconds;
}

}  // namespace

Ceilings measure_ceilings(int workers) {
    workers = std::max(workers, 1);
    return {copy_rate(workers), flop_rate<float>(workers), flop_rate<double>(workers)};
}

}  // namespace xcuda::profile
