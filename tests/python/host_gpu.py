"""CUDA text run on the host with a thread of the system for each thread of a block: they run at once and meet.

For kernels without shuffles and votes, whose blocks do not wait for one another: blocks run one after the other. With the
fake driver a launch of such a text computes over the fake's own memory.
"""

import contextlib
import ctypes
import functools
import re

import fake_cuda
import host_cuda

SHIM = (
    host_cuda.SHIM.replace(
        "#define __shared__ static", '#define __shared__ static __attribute__((section("host_shared")))'
    )
    .replace("alignas(n)", "__attribute__((aligned(n)))")
    .replace("static host_dim threadIdx, blockIdx, blockDim, gridDim;", "")
    .replace("static jmp_buf host_exit;", "")
    .replace("template <class T> static T atomicCAS", "template <class T> static T unused_CAS")
    .replace("template <class T> static T atomicAdd", "template <class T> static T unused_Add")
    + r"""
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
#define __launch_bounds__(...)
static thread_local host_dim threadIdx, blockIdx;
static host_dim blockDim, gridDim;
static thread_local jmp_buf host_exit;
static thread_local unsigned host_thread;
template <class T, class U> static T atomicExch(T* p, U x) { return __atomic_exchange_n(p, (T)x, __ATOMIC_SEQ_CST); }
template <class T, class U, class V> static T atomicCAS(T* p, U old, V x) {
    T was = (T)old;
    __atomic_compare_exchange_n(p, &was, (T)x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return was;
}
template <class T, class U> static T atomicAdd(T* p, U x) {
    if constexpr ((T)0.5 != 0) {
        T was = *p, now;
        do now = was + (T)x; while (!__atomic_compare_exchange(p, &was, &now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        return was;
    } else
        return __atomic_fetch_add(p, (T)x, __ATOMIC_SEQ_CST);
}
template <class T, class U> static T atomicMax(T* p, U x) {
    T was = *p;
    while (was < (T)x && !__atomic_compare_exchange_n(p, &was, (T)x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return was;
}
static void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static void __threadfence_block() { __threadfence(); }
static void __threadfence_system() { __threadfence(); }
extern "C" char __start_host_shared[] __attribute__((weak, visibility("hidden")));
static unsigned long long __cvta_generic_to_shared(const void* p) { return (const char*)p - __start_host_shared; }

// A meeting of the threads of a mask, or of all; those that have ended are not waited for.
struct host_meeting {
    std::vector<unsigned> members, waiting;
};
static std::mutex host_lock;
static std::condition_variable host_news;
static std::vector<char> host_ended;
struct host_place {
    unsigned long long mask = 0;
    unsigned long long turn = 0;
    std::vector<unsigned> came;
    int yes = 0, last_yes = 0, last_came = 0;  // of the turn under way, and of the one before
};
static std::vector<host_place> host_places;  // one for the block, then 32 for each warp: the masks under way
static bool host_all_came(const host_place& place, unsigned first, unsigned count, bool whole) {
    for (unsigned lane = 0; lane < count; ++lane) {
        if (!whole && !(place.mask >> lane & 1)) continue;
        const unsigned t = first + lane;
        if (t >= host_ended.size() || host_ended[t]) continue;
        bool here = false;
        for (const unsigned c : place.came) here |= c == t;
        if (!here) return false;
    }
    return true;
}
struct host_votes {
    int yes, came;
};
static host_votes host_meet(host_place& place, unsigned first, unsigned count, bool whole, bool vote = false) {
    std::unique_lock<std::mutex> lock(host_lock);
    place.came.push_back(host_thread);
    place.yes += vote;
    const unsigned long long turn = place.turn;
    for (;;) {
        // The next turn waits for this thread, so that the last one's votes are this one's.
        if (place.turn != turn) return {place.last_yes, place.last_came};
        if (host_all_came(place, first, count, whole)) {
            ++place.turn;
            place.last_yes = place.yes;
            place.last_came = (int)place.came.size();
            place.yes = 0;
            place.came.clear();
            place.mask = 0;
            host_news.notify_all();
            return {place.last_yes, place.last_came};
        }
        host_news.wait(lock);
    }
}
static void __syncthreads() { host_meet(host_places[0], 0, (unsigned)host_ended.size(), true); }
static host_votes host_vote(bool p) { return host_meet(host_places[0], 0, (unsigned)host_ended.size(), true, p); }
static int __syncthreads_count(int p) { return host_vote(p).yes; }
static int __syncthreads_or(int p) { return host_vote(p).yes != 0; }
static int __syncthreads_and(int p) {
    const host_votes votes = host_vote(p);
    return votes.yes == votes.came;
}
static void __syncwarp(unsigned mask = ~0u) {
    const unsigned warp = host_thread / 32;
    host_place* mine = nullptr;
    {
        std::lock_guard<std::mutex> lock(host_lock);
        for (unsigned i = 0; i < 32 && !mine; ++i)
            if (host_places[1 + warp * 32 + i].mask == mask) mine = &host_places[1 + warp * 32 + i];
        for (unsigned i = 0; i < 32 && !mine; ++i)
            if (host_places[1 + warp * 32 + i].mask == 0) mine = &host_places[1 + warp * 32 + i];
        mine->mask = mask;
    }
    host_meet(*mine, warp * 32, 32, false);
}
"""
    + "".join(
        f"template <class... A> static int {name}(A...) {{ abort(); }}\n"
        for name in ("__ballot_sync", "__all_sync", "__any_sync", "__uni_sync")
    )
)
RUN = r"""
#undef blockIdx
extern "C" int host_run(const void* arguments, void* fault, const unsigned* grid, const unsigned* block) {
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    const unsigned count = block[0] * block[1] * block[2];
    for (unsigned b = 0; b < grid[0] * grid[1] * grid[2]; ++b) {
        host_ended.assign(count, 0);
        host_places.assign(1 + 32 * ((count + 31) / 32), {});
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < count; ++t)
            threads.emplace_back([=] {
                host_thread = t;
                blockIdx = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
                threadIdx = {t % block[0], t / block[0] % block[1], t / block[0] / block[1]};
                if (!setjmp(host_exit)) ENTRY(*(const ENTRY_arguments*)arguments, (xc_fault*)fault);
                std::lock_guard<std::mutex> lock(host_lock);
                host_ended[t] = 1;
                host_news.notify_all();
            });
        for (std::thread& t : threads) t.join();
    }
    return ((xc_fault*)fault)->kind & 0xff;
}
"""


VOTES = {"popc.u32": "count", "and.pred": "and", "or.pred": "or"}
BARRIER_WITH_A_VALUE = re.compile(
    r'asm volatile\(\s*"\{ [^"]*; barrier\.red\.(popc\.u32|and\.pred|or\.pred) [^"]*\}"'
    r'\s*: "=r"\((\w+)\)\s*: "r"\((\w+)\)\s*: "memory"\);'
)


@functools.lru_cache(maxsize=256)
def library(full_text, entry):
    """The kernel's text as a library of the host."""
    text = full_text.replace('asm("mov.u32 %0, %%laneid;" : "=r"(lane));', "lane = host_thread & 31;")
    text = text.replace(
        'asm volatile("nanosleep.u32 %0;" ::"r"((u32)(xc_r >> 40) & 2047) : "memory")',
        "std::this_thread::yield()",
    )
    text = text.replace('asm volatile("barrier.sync 0;" ::: "memory")', "__syncthreads()")
    text = BARRIER_WITH_A_VALUE.sub(lambda m: f"{m[2]} = __syncthreads_{VOTES[m[1]]}({m[3]});", text)
    text = re.sub(r'asm volatile\("\{ \.reg \.pred q;.*?: "memory"\);', ";", text, flags=re.DOTALL)
    return host_cuda.compiled(host_cuda.host_text(text, entry, SHIM, RUN), "-O0")


def run(full_text, entry, grid, block, parameters, size):
    """Runs a launch: `parameters` is the address of `size` bytes, the arguments and the fault record's address."""
    fault = ctypes.c_void_p.from_address(parameters + size - 8)
    shape = [(ctypes.c_uint * 3)(*n) for n in (grid, block)]
    return library(full_text, entry).host_run(ctypes.c_void_p(parameters), fault, *shape)


@contextlib.contextmanager
def computing(text_of):
    """Within it the fake driver's launches compute: `text_of(entry)` is the compiled version, with full_text and entry."""
    failed = []

    def launched(entry, grid, block, parameters):
        try:
            text = text_of(entry)
            address, size = ctypes.addressof(parameters), len(parameters)
            run(text["full_text"], text["entry"], grid, block, address, size)
        except BaseException as error:  # on the fake driver's thread
            failed.append(error)

    fake_cuda.driver.on_launch(launched)
    try:
        yield
    finally:
        fake_cuda.driver.on_launch(lambda *_: None)
        if failed:
            raise failed[0]
