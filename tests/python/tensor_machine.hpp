// A multiprocessor of sm_100 in a few words, as the PTX ISA tells of it: threads that run in turn, mbarriers, bulk tensor copies
// with 128-byte swizzling, tcgen05 with its descriptors and tensor memory. tensor_machine.py compiles a kernel's own CUDA text
// with it. What is asynchronous happens at a random later time, so that a wait too few shows.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#define __device__
#define __global__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
struct host_dim {
    unsigned x, y, z;
};
static host_dim threadIdx, blockIdx, blockDim, gridDim;
alignas(1024) unsigned char xc_dynamic_shared[256 * 1024];
constexpr unsigned shared_begins = 1024;  // address 0 is nobody's

namespace machine {

struct Thread {
    ucontext_t context;
    std::vector<char> stack;
    bool done = false;
    std::string waits_for;
    std::vector<std::function<void()>> loads;  // of tensor memory, under way
};
struct Barrier {
    long pending = 0, count = 0, bytes = 0;
    unsigned phase = 0;
};
struct Meeting {
    unsigned arrived = 0, round = 0;
};
struct Warp {
    unsigned value[32], arrived = 0, round = 0;
};
struct Step {  // of what one thread asked of tcgen05, in order
    std::function<void()> act;
};

static std::vector<Thread> threads;
static std::vector<Warp> warps;
static std::map<unsigned, Barrier> barriers;
static std::map<int, Meeting> meetings;
static std::vector<std::function<void()>> copies;
static std::deque<Step> products;
static unsigned tensor[128][512];
static int first_column = -1, columns = 0, allocating_warp = -1;
static std::mt19937 chance;
static std::string fault;
static ucontext_t scheduler;
static unsigned current;
static bool moved;  // whether anything has happened since all threads were last asked

static void wrong(const std::string& what) {
    if (fault.empty())
        fault = "thread " + std::to_string(current) + " of block " + std::to_string(blockIdx.x) + ": " + what;
}
static void yield() {
    swapcontext(&threads[current].context, &scheduler);
    threadIdx = {current, 0, 0};
}
static void stop() {
    threads[current].done = moved = true;
    yield();
    abort();
}
static void wait(const std::string& what, const std::function<bool()>& until) {
    threads[current].waits_for = what;
    while (!until()) {
        if (!fault.empty()) stop();
        yield();
    }
    moved = true;
}

static Barrier& barrier(unsigned at) {
    if (at % 8) wrong("a barrier at an address that is no multiple of 8");
    const auto found = barriers.find(at);
    if (found == barriers.end()) wrong("a barrier that was not made");
    return found == barriers.end() ? barriers[at] : found->second;
}
static void settle(Barrier& b) {
    if (b.pending < 0) wrong("more arrivals at a barrier than it was made for");
    if (b.pending == 0 && b.bytes == 0) b.phase ^= 1, b.pending = b.count;
}
static void arrive(unsigned at) {
    Barrier& b = barrier(at);
    --b.pending;
    settle(b);
}

static unsigned char* shared_at(unsigned at) {
    if (at < shared_begins || at >= shared_begins + sizeof xc_dynamic_shared) {
        wrong("an address outside shared memory");
        return xc_dynamic_shared;
    }
    return xc_dynamic_shared + (at - shared_begins);
}
// Swizzling of 128 bytes: bits 4 to 6 of an address by exclusive or with its bits 7 to 9.
static unsigned swizzled(unsigned at) { return at ^ ((at >> 7 & 7) << 4); }

// What tensor_machine.py packs in a map's place: address, size of an element, axes; lengths and bytes of steps; the box.
struct Map {
    unsigned long long address, size, axes, length[3], step[3], box[3];
};
static void copy_box(unsigned to, const void* of, unsigned gate, const int* at) {
    Map m;
    memcpy(&m, of, sizeof m);
    if (to % 1024) wrong("a swizzled box at an address that is no multiple of 1024");
    unsigned char* const base = (unsigned char*)m.address;
    const unsigned row = (unsigned)(m.box[0] * m.size);
    if (row != 128) wrong("a box whose rows are not 128 bytes");
    std::vector<int> origin(at, at + m.axes);
    copies.push_back([=] {
        for (unsigned y = 0; y < m.box[1]; ++y)
            for (unsigned x = 0; x < m.box[0]; ++x) {
                const long long place[3] = {origin[0] + (int)x, origin[1] + (int)y,
                                            m.axes > 2 ? origin[2] : 0};
                bool inside = true;
                long long offset = 0;
                for (unsigned d = 0; d < m.axes; ++d) {
                    inside &= place[d] >= 0 && place[d] < (long long)m.length[d];
                    offset += place[d] * (long long)m.step[d];
                }
                unsigned char* const p = shared_at(swizzled(to + y * 128 + x * (unsigned)m.size));
                if (inside)
                    memcpy(p, base + offset, m.size);
                else
                    memset(p, 0, m.size);
            }
        Barrier& b = barrier(gate);
        b.bytes -= (long)(m.box[0] * m.box[1] * m.size);
        settle(b);
    });
}

// A factor, by the kind of instruction and the descriptor's number of its type.
static double factor(const std::string& kind, unsigned type, const unsigned char* p) {
    if (kind == "i8") return type ? (double)(signed char)*p : (double)*p;
    if (kind == "f16" && type == 0) {
        _Float16 x;
        memcpy(&x, p, 2);
        return x;
    }
    unsigned bits = 0;
    if (kind == "f16") {
        memcpy((char*)&bits + 2, p, 2);  // bfloat16
    } else if (kind == "tf32") {
        memcpy(&bits, p, 4);
        bits &= ~0x1fffu;
    } else {
        const int fraction = type ? 2 : 3, bias = type ? 15 : 7;
        const int exponent = (*p & 0x7f) >> fraction, f = *p & ((1 << fraction) - 1);
        const double x =
            exponent ? ldexp(1 + ldexp(f, -fraction), exponent - bias) : ldexp(f, 1 - bias - fraction);
        return *p & 0x80 ? -x : x;
    }
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
struct Operand {
    unsigned long long d;
    bool across;
    unsigned size;
    // 9.7.16.3: along the inner dimension, rows of 128 bytes, eight of them every "stride" bytes; across it, lines of 128 bytes
    // whose next ones lie "leading" bytes on, eight numbers of the inner dimension every "stride" bytes.
    unsigned place(unsigned mn, unsigned k) const {
        const unsigned start = (d & 0x3fff) << 4, leading = (d >> 16 & 0x3fff) << 4,
                       stride = (d >> 32 & 0x3fff) << 4;
        const unsigned along = (across ? mn : k) * size, other = across ? k : mn;
        return swizzled(start + other / 8 * stride + other % 8 * 128 + along / 128 * leading + along % 128);
    }
    void check() const {
        if ((d >> 46 & 7) != 1) wrong("bits 46 to 48 of a matrix descriptor are not 0b001");
        if ((d >> 49 & 0xfff) != 0) wrong("bits 49 to 60 of a matrix descriptor are not zero");
        if (d >> 61 != 2) wrong("a matrix descriptor without swizzling of 128 bytes");
    }
};
static void multiply(const std::string& kind, unsigned sum, unsigned long long a, unsigned long long b,
                     unsigned form, bool adds) {
    const unsigned size = kind == "tf32" ? 4 : kind == "f16" ? 2 : 1, deep = 32 / size;
    const unsigned rows = (form >> 24 & 31) << 4, wide = (form >> 17 & 63) << 3;
    const Operand x{a, (form >> 15 & 1) != 0, size}, y{b, (form >> 16 & 1) != 0, size};
    x.check();
    y.check();
    if (rows != 64 && rows != 128) wrong("an instruction of " + std::to_string(rows) + " rows");
    if (wide < 8 || wide > 256 || wide % (rows == 128 ? 16 : 8)) wrong("an instruction of that many columns");
    if (form & 0xf || form >> 6 & 1 || form >> 13 & 3 || form >> 23 & 1 || form >> 29)
        wrong("reserved bits of an instruction descriptor, or a negated operand");
    if ((form >> 4 & 3) != (kind == "i8" ? 2u : 1u)) wrong("a sum of another type");
    if (size == 4 && (x.across || y.across)) wrong("TF32 across the inner dimension with this swizzling");
    const int column = (int)(sum & 0xffff);
    if (sum >> 16) wrong("a sum that does not begin at lane 0");
    if (column < first_column || column + (int)wide > first_column + columns)
        wrong("a sum outside what was allocated");
    for (unsigned m = 0; m < rows; ++m)
        for (unsigned n = 0; n < wide; ++n) {
            unsigned& cell = tensor[rows == 128 ? m : m / 16 * 32 + m % 16][column + n];
            double total = 0;
            for (unsigned k = 0; k < deep; ++k)
                total += factor(kind, form >> 7 & 7, shared_at(x.place(m, k))) *
                         factor(kind, form >> 10 & 7, shared_at(y.place(n, k)));
            float f = 0;
            if (kind == "i8") {
                cell = (adds ? cell : 0) + (unsigned)(int)total;
                continue;
            }
            if (adds) memcpy(&f, &cell, 4);
            f += (float)total;
            memcpy(&cell, &f, 4);
        }
}

static bool act_once() {
    const size_t all = copies.size() + !products.empty();
    if (!all) return false;
    const size_t n = chance() % all;
    if (n == copies.size()) {
        const Step s = products.front();
        products.pop_front();
        s.act();
    } else {
        const auto act = copies[n];
        copies.erase(copies.begin() + (long)n);
        act();
    }
    return true;
}

// One block: threads in a random order, each until it waits; what is asynchronous between them, seldom (`lazy`) or often.
static void run_block(const std::function<void()>& kernel, unsigned count, bool lazy) {
    threads.clear();
    threads.resize(count);
    warps.assign(count / 32, {});
    barriers.clear();
    meetings.clear();
    memset(xc_dynamic_shared, 0x7f, sizeof xc_dynamic_shared);
    for (auto& lane : tensor)
        for (unsigned& cell : lane) cell = 0x7fc00000;
    first_column = columns = allocating_warp = -1;
    static std::function<void()> body;
    body = kernel;
    for (Thread& t : threads) {
        t.stack.resize(1 << 17);
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.data();
        t.context.uc_stack.ss_size = t.stack.size();
        t.context.uc_link = nullptr;
        makecontext(
            &t.context,
            (void (*)()) +
                [] {
                    threadIdx = {current, 0, 0};
                    body();
                    stop();
                },
            0);
    }
    std::vector<unsigned> order(count);
    for (unsigned i = 0; i < count; ++i) order[i] = i;
    for (;;) {
        moved = false;
        bool all = true;
        std::shuffle(order.begin(), order.end(), chance);
        for (const unsigned i : order) {
            if (threads[i].done) continue;
            all = false;
            current = i;
            threadIdx = {i, 0, 0};
            swapcontext(&scheduler, &threads[i].context);
            if (!lazy && chance() % 4 == 0) moved |= act_once();
        }
        if (all || (!fault.empty() && !moved)) break;
        if (!moved && !act_once()) {
            std::string who;
            for (unsigned i = 0; i < threads.size(); ++i)
                if (!threads[i].done && (i % 32 == 0 || threads[i].waits_for != threads[i - 1].waits_for))
                    who += "; from thread " + std::to_string(i) + " on for " + threads[i].waits_for;
            for (const auto& [at, b] : barriers)
                who += "; barrier " + std::to_string(at) + ": phase " + std::to_string(b.phase) + ", " +
                       std::to_string(b.pending) + " arrivals and " + std::to_string(b.bytes) +
                       " bytes to come";
            wrong("all threads wait, and nothing is under way" + who);
        }
    }
    if (fault.empty() && columns > 0) wrong("tensor memory that was not given back");
    if (fault.empty() && (!copies.empty() || !products.empty()))
        wrong("a block that ended with something under way");
    copies.clear();
    products.clear();
}

}  // namespace machine

// The instructions of the text.
static unsigned __cvta_generic_to_shared(const void* p) {
    return (unsigned)((const unsigned char*)p - xc_dynamic_shared) + shared_begins;
}
static void host_make_barrier(unsigned at, unsigned count = 1) {
    machine::barriers[at] = {(long)count, (long)count, 0, 0};
}
static void host_wait(unsigned at, unsigned parity) {
    machine::Barrier& b = machine::barrier(at);
    machine::wait("barrier " + std::to_string(at), [&] { return b.phase != (parity & 1); });
}
static void host_arrive(unsigned at) {
    machine::moved = true;
    machine::arrive(at);
}
static void host_expect(unsigned at, unsigned bytes) {
    machine::barrier(at).bytes += bytes;
    host_arrive(at);
}
static void host_box2(unsigned to, const void* map, unsigned gate, int x, int y) {
    const int at[] = {x, y};
    machine::copy_box(to, map, gate, at);
}
static void host_box3(unsigned to, const void* map, unsigned gate, int x, int y, int z) {
    const int at[] = {x, y, z};
    machine::copy_box(to, map, gate, at);
}
static void host_meet(int which, unsigned count) {
    machine::Meeting& m = machine::meetings[which];
    const unsigned round = m.round;
    ++m.arrived;
    machine::moved = true;
    machine::wait("the others of the block", [&, which, round, count] {
        unsigned gone = 0;
        if (which == 0)
            for (const auto& t : machine::threads) gone += t.done;
        if (m.round == round && m.arrived + gone >= count) m.arrived = 0, ++m.round;
        return m.round != round;
    });
}
static void __syncthreads() { host_meet(0, blockDim.x); }
static void host_meet_some(unsigned count) { host_meet(1, count); }
// What each lane of the warp gives, when all have.
struct Given {
    unsigned word[32][4];
};
static const Given& host_gather(unsigned a, unsigned b = 0, unsigned c = 0, unsigned d = 0) {
    machine::Warp& w = machine::warps[machine::current / 32];
    static Given given[64][2];  // by warp and round: a lane may be one ahead
    const unsigned round = w.round;
    Given& here = given[machine::current / 32][round & 1];
    const unsigned words[] = {a, b, c, d};
    memcpy(here.word[machine::current % 32], words, sizeof words);
    ++w.arrived;
    machine::moved = true;
    machine::wait("the others of its warp", [&] {
        if (w.round == round && w.arrived == 32) w.arrived = 0, ++w.round;
        return w.round != round;
    });
    return here;
}
static unsigned host_exchange(unsigned value, unsigned from) { return host_gather(value).word[from % 32][0]; }
static void __syncwarp() { host_exchange(0, 0); }
static unsigned __shfl_xor_sync(unsigned, unsigned value, int mask) {
    return host_exchange(value, machine::current % 32 ^ (unsigned)mask);
}
static void host_elect(unsigned* one) { *one = machine::current % 32 == 7; }
static void host_nothing() {}
static void host_max(float* to, float a, float b) { *to = isnan(a) || a > b ? a : b; }
static void host_exit() { machine::stop(); }
static void host_allocate(unsigned to, unsigned columns) {
    host_exchange(0, 0);
    const int warp = (int)machine::current / 32;
    if (machine::current % 32) return;
    if (machine::columns > 0) machine::wrong("tensor memory allocated twice");
    if (columns < 32 || columns > 512 || columns & (columns - 1))
        machine::wrong("columns that can't be allocated");
    machine::columns = (int)columns;
    machine::first_column = columns <= 256 ? 128 : 0;
    machine::allocating_warp = warp;
    memcpy(machine::shared_at(to), &machine::first_column, 4);
}
static void host_release(unsigned at, unsigned columns) {
    host_exchange(0, 0);
    if (machine::current % 32) return;
    if ((int)at != machine::first_column || (int)columns != machine::columns)
        machine::wrong("other columns given back");
    if ((int)machine::current / 32 != machine::allocating_warp) machine::wrong("given back by another warp");
    if (!machine::products.empty()) machine::wrong("tensor memory given back while products are under way");
    machine::columns = 0;
}
static void host_multiply(const char* kind, unsigned sum, unsigned long long a, unsigned long long b,
                          unsigned form, unsigned adds) {
    const std::string k = kind;
    machine::products.push_back({[=] { machine::multiply(k, sum, a, b, form, adds != 0); }});
}
static void host_commit(unsigned gate) {
    machine::products.push_back({[=] { machine::arrive(gate); }});
}
static void host_load(unsigned from, std::vector<unsigned*> to) {
    const unsigned lane = from >> 16, column = from & 0xffff, warp = machine::current / 32,
                   t = machine::current % 32;
    if (lane % 32 % 16 || lane / 32 != warp % 4)
        machine::wrong("lanes of tensor memory that another warp reads");
    if ((int)column < machine::first_column ||
        (int)(column + to.size() * 2) > machine::first_column + machine::columns)
        machine::wrong("a load outside what was allocated");
    for (unsigned* p : to) *p = 0x7fc00000;  // until waited for
    machine::threads[machine::current].loads.push_back([=] {
        for (unsigned r = 0; r < to.size(); ++r)
            *to[r] =
                machine::tensor[lane + t / 4 + (r & 2 ? 8 : 0)][column + r / 4 * 8 + t % 4 * 2 + (r & 1)];
    });
}
static void host_loaded() {
    host_exchange(0, 0);
    for (const auto& load : machine::threads[machine::current].loads) load();
    machine::threads[machine::current].loads.clear();
}
// 9.7.14: fragments of a warp's matrix instructions, which all lanes give and get.
static float half_at(unsigned word, unsigned i) {
    _Float16 x;
    memcpy(&x, (const char*)&word + 2 * i, 2);
    return x;
}
static void host_mma_m16n8k8(float* d0, float* d1, float* d2, float* d3, unsigned a0, unsigned a1,
                             unsigned b) {
    const Given g = host_gather(a0, a1, b);
    float* const d[] = {d0, d1, d2, d3};
    const unsigned lane = machine::current % 32;
    for (unsigned e = 0; e < 4; ++e)
        for (unsigned k = 0; k < 8; ++k)
            *d[e] += half_at(g.word[lane / 4 * 4 + k / 2][e / 2], k % 2) *
                     half_at(g.word[(lane % 4 * 2 + e % 2) * 4 + k / 2][2], k % 2);
}
template <class Byte>
static void host_mma_m8n8k16(int* d0, int* d1, unsigned a, unsigned b) {
    const Given g = host_gather(a, b);
    int* const d[] = {d0, d1};
    const unsigned lane = machine::current % 32;
    for (unsigned e = 0; e < 2; ++e)
        for (unsigned k = 0; k < 16; ++k) {
            Byte x, y;
            memcpy(&x, (const char*)&g.word[lane / 4 * 4 + k / 4][0] + k % 4, 1);
            memcpy(&y, (const char*)&g.word[(lane % 4 * 2 + e) * 4 + k / 4][1] + k % 4, 1);
            *d[e] += (int)x * (int)y;
        }
}
// Four matrices of 8 x 8 halves: lane 8 q + r tells where row r of matrix q lies.
static void host_fetch(bool turned, unsigned* r0, unsigned* r1, unsigned* r2, unsigned* r3, unsigned at) {
    const Given g = host_gather(at);
    unsigned* const r[] = {r0, r1, r2, r3};
    const unsigned lane = machine::current % 32;
    for (unsigned q = 0; q < 4; ++q)
        for (unsigned i = 0; i < 2; ++i) {
            const unsigned row = turned ? lane % 4 * 2 + i : lane / 4,
                           column = turned ? lane / 4 : lane % 4 * 2 + i;
            memcpy((char*)r[q] + 2 * i, machine::shared_at(g.word[8 * q + row][0]) + 2 * column, 2);
        }
}
static void host_unknown(const char* text) {
    machine::wrong(std::string("an instruction that is not known: ") + text);
}

template <class T>
static T atomicCAS(T* p, T expected, T value) {
    T old = *p;
    if (old == expected) *p = value;
    return old;
}
static float __int_as_float(int x) {
    float y;
    memcpy(&y, &x, 4);
    return y;
}
static double __longlong_as_double(long long x) {
    double y;
    memcpy(&y, &x, 8);
    return y;
}
static int __float_as_int(float x) {
    int y;
    memcpy(&y, &x, 4);
    return y;
}
static unsigned __float_as_uint(float x) {
    unsigned y;
    memcpy(&y, &x, 4);
    return y;
}
static long long __double_as_longlong(double x) {
    long long y;
    memcpy(&y, &x, 8);
    return y;
}
