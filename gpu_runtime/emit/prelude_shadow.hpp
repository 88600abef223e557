// What a kernel does at each access where shadow memory keeps who touched an element last: the same text on both devices, for
// threads that run at once. launch/shadow.hpp declares the same layout, and what its fields are.
struct xc_region {
    u64 begin, end, cells;
    i32 shift, unset;
};
struct xc_shadow_cell {
    u64 write, read, other, atomic;
};
struct xc_state {
    u32 epoch, clock, grid, steps, known, fence, released, mask;
    u64 pending;
};
struct xc_team {
    u64 base;
    u32 fenced, released, known, done;
};
struct xc_record {
    u64 kind, then, now, read, other, place;
    f64 value[3];
};
struct xc_lying {
    u64 offset, bytes;
};
struct xc_shadow {
    xc_region* regions;
    xc_state* states;
    u32* seen;
    xc_team* teams;
    u32* passes;
    xc_shadow_cell* shared;
    u32 *counts, *births, *parted;
    xc_record* records;
    xc_lying* lies;
    u64 blocks, most_steps, permute_by, permute_add, seed, shared_cells, steps;
    u32 region_count, sites, barriers, most_records, threads, shared_shift, site_bits, thread_bits,
        block_bits, epoch_bits, clock_bits, grid_bits, mixes, finite, most_of_pair, shared_unset, told, cut;
};
enum { XC_READ, XC_WRITE, XC_ATOMIC, XC_BRANCH, XC_TURN, XC_BARRIER, XC_MET, XC_FENCE, XC_GRID };
enum { XC_GLOBAL, XC_SHARED };
enum {
    XC_RACED = 1,
    XC_UNSET = 2,
    XC_PARTED = 3,
    XC_BORN = 4
};  // of a record, with its space and what was done above it

#ifdef XC_CPU
static xc_shadow* xc_shadow_now;  // one such launch at a time
#define XC_SHADOW_FN __attribute__((noinline)) static
#define XC_SELF                                                                         \
    xc_self_of((u64)((xc_block_z * L->grid[1] + xc_block_y) * L->grid[0] + xc_block_x), \
               (u32)((xc_thread_z * L->block[1] + xc_thread_y) * L->block[0] + xc_thread_x))
template <class T>
XC_DEVICE T xc_seen(const T* p) {
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}
XC_DEVICE u64 xc_swapped(u64* p, u64 x) { return __atomic_exchange_n(p, x, __ATOMIC_SEQ_CST); }
XC_DEVICE u64 xc_cas(u64* p, u64 old, u64 x) {
    __atomic_compare_exchange_n(p, &old, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}
template <class T>
XC_DEVICE T xc_counted(T* p, T by) {
    return __atomic_fetch_add(p, by, __ATOMIC_SEQ_CST);
}
XC_DEVICE void xc_raised(u32* p, u32 x) {
    u32 old = xc_seen(p);
    while (old < x && !__atomic_compare_exchange_n(p, &old, x, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
}
XC_DEVICE void xc_settled() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
XC_DEVICE void xc_lanes_meet(u32) {}
XC_DEVICE u64 xc_in_block(u64 address, u64 base) { return address - base; }
#else
static __device__ xc_shadow* xc_shadow_now;
#define XC_SHADOW_FN static __device__ __noinline__
#define XC_SELF                                                                     \
    xc_self_of(((u64)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, \
               (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
template <class T>
XC_DEVICE T xc_seen(const T* p) {
    return *(const volatile T*)p;
}
XC_DEVICE u64 xc_swapped(u64* p, u64 x) { return atomicExch(p, x); }
XC_DEVICE u64 xc_cas(u64* p, u64 old, u64 x) { return atomicCAS(p, old, x); }
template <class T>
XC_DEVICE T xc_counted(T* p, T by) {
    return atomicAdd(p, by);
}
XC_DEVICE void xc_raised(u32* p, u32 x) { atomicMax(p, x); }
XC_DEVICE void xc_settled() { __threadfence(); }
XC_DEVICE void xc_lanes_meet(u32 mask) { __syncwarp(mask); }
XC_DEVICE u64 xc_in_block(u64 address, u64) { return __cvta_generic_to_shared((const void*)address); }
// Which block of the grid a block stands for: in each run another one.
struct xc_block_place {
    u32 x, y, z;
};
XC_DEVICE xc_block_place xc_permuted() {
    const xc_shadow* const S = xc_shadow_now;
    if (S->permute_by == 1 && S->permute_add == 0) return {blockIdx.x, blockIdx.y, blockIdx.z};
    const u64 x = gridDim.x, y = gridDim.y, n = x * y * gridDim.z;
    const u64 block = (((blockIdx.z * y + blockIdx.y) * x + blockIdx.x) * S->permute_by + S->permute_add) % n;
    return {(u32)(block % x), (u32)(block / x % y), (u32)(block / x / y)};
}
// Lanes of one warp may come to two barriers, where the aligned forms, which all its lanes have to share, would hang: every
// barrier below this line is of the form that each lane comes to by itself (sm_70 and later).
XC_DEVICE void xc_block_meets() { asm volatile("barrier.sync 0;" ::: "memory"); }
XC_DEVICE i32 xc_block_counts(u32 p) {
    u32 n;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }"
                 : "=r"(n)
                 : "r"(p)
                 : "memory");
    return (i32)n;
}
XC_DEVICE i32 xc_block_agrees(u32 p) {
    u32 all;
    asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.red.and.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
        : "=r"(all)
        : "r"(p)
        : "memory");
    return (i32)all;
}
XC_DEVICE i32 xc_block_has(u32 p) {
    u32 any;
    asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
        : "=r"(any)
        : "r"(p)
        : "memory");
    return (i32)any;
}
#define __syncthreads() xc_block_meets()
#define __syncthreads_count(p) xc_block_counts(p)
#define __syncthreads_and(p) xc_block_agrees(p)
#define __syncthreads_or(p) xc_block_has(p)
#endif

// The running thread, by the number of its block as the device counts them.
struct xc_self {
    xc_shadow* S;
    xc_state* me;  // null: of a block that is not looked at
    u64 block;
    u32 thread;
};
XC_DEVICE xc_self xc_self_of(u64 block, u32 thread) {
    xc_shadow* const S = xc_shadow_now;
    return {S, block < S->blocks ? S->states + block * S->threads + thread : nullptr, block, thread};
}

// A word of a cell, from its low end: 8 bits of the value that was written (of an atomic: whether a fence stands before it),
// site + 1, thread, block, epoch, clock, grid. 0: nobody; 1: nobody, and it was said.
XC_DEVICE u64 xc_shadow_word(const xc_self& self, i32 site, u32 low) {
    const xc_shadow* const S = self.S;
    u64 w = self.me->grid;
    w = w << S->clock_bits | self.me->clock;
    w = w << S->epoch_bits | self.me->epoch;
    w = w << S->block_bits | self.block;
    w = w << S->thread_bits | self.thread;
    w = w << S->site_bits | (u32)(site + 1);
    return w << 8 | low;
}
XC_DEVICE u64 xc_low_bits(u64 w, u32 bits) { return w & ((1ull << bits) - 1); }
XC_DEVICE u32 xc_site_in(const xc_shadow* S, u64 word) {
    return (u32)xc_low_bits(word >> 8, S->site_bits);
}  // + 1
XC_DEVICE b1 xc_same_thread(const xc_shadow* S, u64 a, u64 b) {
    return xc_low_bits((a ^ b) >> (8 + S->site_bits), S->thread_bits + S->block_bits) == 0;
}

XC_DEVICE b1 xc_knows(const xc_self& self) {
    if (self.me->known) return true;
    const u32 from = xc_seen(&self.S->teams[self.block].known);
    return from != 0 && self.me->epoch >= from;
}
// Whether an access is sure to have happened before what the thread does now.
XC_SHADOW_FN b1 xc_before(const xc_self& self, u64 then) {
    const xc_shadow* const S = self.S;
    u64 w = then >> (8 + S->site_bits);
    const u32 thread = (u32)xc_low_bits(w, S->thread_bits);
    w >>= S->thread_bits;
    const u64 block = xc_low_bits(w, S->block_bits);
    w >>= S->block_bits;
    const u32 epoch = (u32)xc_low_bits(w, S->epoch_bits);
    w >>= S->epoch_bits;
    const u32 clock = (u32)xc_low_bits(w, S->clock_bits), grid = (u32)(w >> S->clock_bits);
    if (block == self.block) {
        if (thread == self.thread || epoch < self.me->epoch) return true;
        if (S->seen && thread / 32 == self.thread / 32 &&
            clock < xc_seen(S->seen + (block * S->threads + self.thread) * 32 + thread % 32))
            return true;
    }
    if (grid < self.me->grid) return true;
    if (!xc_knows(self)) return false;
    return xc_seen(&S->teams[block].released) > epoch ||
           xc_seen(&S->states[block * S->threads + thread].released) > clock;
}

// `pair`: of two sites; the first records of each are kept, the others counted.
XC_SHADOW_FN void xc_record_it(xc_shadow* S, u32* count, u32 most, const xc_record& record) {
    if (xc_counted(count, 1u) >= most) return;
    const u32 at = xc_counted(&S->told, 1u);
    if (at < S->most_records) S->records[at] = record;
}
XC_DEVICE u32* xc_pair(const xc_shadow* S, u64 then, u64 now) {
    return S->counts + (u64)xc_site_in(S, then) * (S->sites + 1) + xc_site_in(S, now);
}
XC_SHADOW_FN void xc_meet(const xc_self& self, xc_shadow_cell* cell, u64 then, i32 did, u64 now, i32 does,
                          i32 space, u64 place) {
    xc_shadow* const S = self.S;
    if (then <= 1 || xc_before(self, then)) return;
    xc_record_it(S, xc_pair(S, then, now), S->most_of_pair,
                 {(u64)(XC_RACED | space << 8 | did << 16 | does << 24),
                  then,
                  now,
                  xc_seen(&cell->read),
                  xc_seen(&cell->other),
                  place,
                  {}});
}

// What others have let go of by an atomic on the same address is known once the thread's own one has been done.
XC_DEVICE void xc_acquire(const xc_self& self) {
    if (!self.me->pending) return;
    xc_settled();
    if (xc_seen((const u64*)self.me->pending) & 1) {
        self.me->known = 1;
        u32* const known = &self.S->teams[self.block].known;
        if (xc_seen(known) == 0) *known = self.me->epoch + 1;
    }
    self.me->pending = 0;
}
// Whether a fence of the block stands before it, so that whoever comes to the address later knows what was done before.
XC_DEVICE b1 xc_release(const xc_self& self) {
    xc_shadow* const S = self.S;
    if (!xc_seen(&S->teams[self.block].fenced)) return false;
    xc_raised(&S->teams[self.block].released, self.me->epoch);
    if (self.me->fence) xc_raised(&self.me->released, self.me->fence);
    if (S->seen) {
        const u64 mine = self.block * S->threads + self.thread, first = mine - self.thread % 32;
        for (u32 lane = 0; lane < 32 && self.thread / 32 * 32 + lane < S->threads; ++lane) {
            const u32 known = S->seen[mine * 32 + lane];
            if (known) xc_raised(&S->states[first + lane].released, known);
        }
    }
    xc_settled();
    return true;
}

// An access to `count` cells. `silent`: it writes what is there; `unset`: what nobody has written has no value.
XC_SHADOW_FN void xc_look(const xc_self& self, xc_shadow_cell* cells, u64 count, i32 what, i32 site, u32 low,
                          b1 silent, b1 unset, i32 space, u64 place) {
    xc_shadow* const S = self.S;
    if (what == XC_ATOMIC) low = xc_release(self);
    const u64 now = xc_shadow_word(self, site, low);
    b1 empty = false;
    for (u64 i = 0; i < count; ++i) {
        xc_shadow_cell* const cell = cells + i;
        if (what == XC_READ) {
            if (xc_seen(&cell->read) != now) {
                const u64 old = xc_swapped(&cell->read, now);
                if (old != 0 && !xc_same_thread(S, old, now)) xc_swapped(&cell->other, old);
            }
            xc_settled();  // of a reader and a writer that come at once, one sees the other
            const u64 written = xc_seen(&cell->write);
            xc_meet(self, cell, written, XC_WRITE, now, XC_READ, space, place);
            empty |= written == 0 && xc_seen(&cell->atomic) == 0;
        } else if (what == XC_WRITE) {
            // Whoever reads meanwhile reads the same; but a block's own memory has no value before.
            if (silent && (space == XC_GLOBAL || xc_seen(&cell->write) != 0 || xc_seen(&cell->atomic) != 0))
                continue;
            const u64 old = xc_swapped(&cell->write, now);
            xc_settled();
            if ((old ^ now) & 0xff)  // else the same value: whoever comes last, it is what is there
                xc_meet(self, cell, old, XC_WRITE, now, XC_WRITE, space, place);
            xc_meet(self, cell, xc_seen(&cell->read), XC_READ, now, XC_WRITE, space, place);
            xc_meet(self, cell, xc_seen(&cell->other), XC_READ, now, XC_WRITE, space, place);
            xc_meet(self, cell, xc_seen(&cell->atomic), XC_ATOMIC, now, XC_WRITE, space, place);
        } else {
            u64 old = xc_seen(&cell->atomic);
            for (;;) {
                const u64 met = xc_cas(&cell->atomic, old, now | (old & 1));
                if (met == old) break;
                old = met;
            }
            xc_settled();
            const u64 written = xc_seen(&cell->write);
            xc_meet(self, cell, written, XC_WRITE, now, XC_ATOMIC, space, place);
            empty |= written == 0 && old == 0;
        }
    }
    if (what == XC_ATOMIC) self.me->pending = (u64)&cells->atomic;
    if (!empty || !unset) return;
    b1 first = what == XC_ATOMIC;
    for (u64 i = 0; i < count && what != XC_ATOMIC; ++i) first |= xc_cas(&cells[i].write, 0, 1) == 0;
    if (first)
        xc_record_it(S, xc_pair(S, 0, now), S->most_of_pair,
                     {(u64)(XC_UNSET | space << 8), 0, now, 0, 0, place, {}});
}

// Never written, by the pattern that profile/check puts there.
XC_SHADOW_FN b1 xc_has_pattern(const xc_region* r, u64 address, u64 bytes) {
    const u64 pattern[2] = {0xffd642e37f9a1fb5ull, 0xfff4ae377fc9618dull};
    if (bytes < 4) {  // so few bytes may hold it by chance: with their neighbours
        const u64 eight = address & ~7ull, from = eight < r->begin ? r->begin : eight;
        bytes = (eight + 8 > r->end ? r->end : eight + 8) - from;
        address = from;
        if (bytes < 4) return false;
    }
    for (u64 i = address; i < address + bytes; ++i)
        if (*(const volatile u8*)i != (u8)(pattern[i >> 3 & 1] >> (i & 7) * 8)) return false;
    return true;
}

// Counts the access; whether it is to be looked at.
XC_DEVICE b1 xc_stepped_on(const xc_self& self) {
    if (!self.me || xc_seen(&self.S->cut)) return false;
    xc_acquire(self);
    if ((++self.me->steps & 31) == 0 && xc_counted(&self.S->steps, (u64)32) + 32 > self.S->most_steps)
        self.S->cut = 1;
    return true;
}
XC_SHADOW_FN void xc_look_at(const xc_self& self, i32 space, u64 address, u64 bytes, i32 what, i32 site,
                             u32 low, b1 silent) {
    xc_shadow* const S = self.S;
    if (!xc_stepped_on(self)) return;
    if (space == XC_SHARED) {
        const u64 offset = xc_in_block(address, S->teams[self.block].base), first = offset >> S->shared_shift,
                  last = (offset + bytes - 1) >> S->shared_shift;
        if (last >= S->shared_cells) return;
        xc_look(self, S->shared + self.block * S->shared_cells + first, last - first + 1, what, site, low,
                silent, S->shared_unset, space, offset);
        return;
    }
    for (u32 i = 0; i < S->region_count; ++i) {
        const xc_region* const r = S->regions + i;
        if (address < r->begin || address + bytes > r->end) continue;
        const u64 from = r->begin & ~7ull, first = (address - from) >> r->shift,
                  last = (address + bytes - 1 - from) >> r->shift;
        const b1 unset = r->unset && what != XC_WRITE && xc_has_pattern(r, address, bytes);
        xc_look(self, (xc_shadow_cell*)r->cells + first, last - first + 1, what, site, low, silent, unset,
                space, address);
        return;
    }
}

// In runs whose threads are to come in another order: now and then one waits, by a number drawn from the seed.
XC_DEVICE u64 xc_drawn(const xc_self& self) {
    if (!self.S->mixes || !self.me) return 1;
    u64 r = (self.S->seed + self.block * 1024 + self.thread) * 0x9e3779b97f4a7c15ull +
            self.me->steps * 0xd1b54a32d192ed03ull;
    r = (r ^ r >> 29) * 0xbf58476d1ce4e5b9ull;
    return r ^ r >> 32;
}
#ifdef XC_CPU
#define xc_others_turn(self) \
    if (xc_drawn(self) % 12 == 0) W->give_way(W)
#else
#define xc_others_turn(self)                               \
    if (const u64 xc_r = xc_drawn(self); (xc_r & 31) == 0) \
    asm volatile("nanosleep.u32 %0;" ::"r"((u32)(xc_r >> 40) & 2047) : "memory")
#endif
template <int space, class T>
XC_DEVICE T& xc_touched(T& element, i32 what, i32 site, XC_HERE_PARAMETERS) {
    const xc_self self = XC_SELF;
    xc_others_turn(self);
    xc_look_at(self, space, (u64)&element, sizeof(T), what, site, 0, false);
    return element;
}
// Where strides are in bytes; elements have `bytes`.
template <int space, int bytes>
XC_DEVICE u8* xc_touched_at(u8* element, i32 what, i32 site, XC_HERE_PARAMETERS) {
    const xc_self self = XC_SELF;
    xc_others_turn(self);
    xc_look_at(self, space, (u64)element, bytes, what, site, 0, false);
    return element;
}
// 8 bits of a value, and whether memory holds it.
template <class T>
XC_DEVICE u32 xc_mixed(const T& value) {
    u32 h = 2166136261u;
    for (u32 i = 0; i < sizeof(T); ++i) h = (h ^ ((const u8*)&value)[i]) * 16777619u;
    return (h ^ h >> 8 ^ h >> 16 ^ h >> 24) & 0xff;
}
template <class T>
XC_DEVICE b1 xc_holds(const void* memory, const T& value) {
    for (u32 i = 0; i < sizeof(T); ++i)
        if (((const volatile u8*)memory)[i] != ((const u8*)&value)[i]) return false;
    return true;
}
template <int space, class T>
XC_DEVICE void xc_stored(T& element, const T& value, i32 site, XC_HERE_PARAMETERS) {
    const xc_self self = XC_SELF;
    xc_others_turn(self);
    xc_look_at(self, space, (u64)&element, sizeof(T), XC_WRITE, site, xc_mixed(value),
               xc_holds(&element, value));
    element = value;
}
template <int space, class T>
XC_DEVICE void xc_stored_at(u8* element, const T& value, i32 site, XC_HERE_PARAMETERS) {
    const xc_self self = XC_SELF;
    xc_others_turn(self);
    xc_look_at(self, space, (u64)element, sizeof(T), XC_WRITE, site, xc_mixed(value),
               xc_holds(element, value));
    xc_put<T>(element, value);
}
// A thread's own array: which elements it has written is all there is to know, a bit each.
template <class T>
XC_DEVICE T& xc_touched_own(T& element, const T* array, u32* set, i32 variable, i32 what, i32 site,
                            XC_HERE_PARAMETERS) {
    const u32 i = (u32)(&element - array), bit = 1u << (i & 31);
    const xc_self self = XC_SELF;
    if (xc_stepped_on(self) && what != XC_WRITE && !(set[i >> 5] & bit)) {
        const u64 now = xc_shadow_word(self, site, 0);
        xc_record_it(self.S, xc_pair(self.S, 0, now), self.S->most_of_pair,
                     {(u64)(XC_UNSET | 2 << 8), 0, now, 0, 0, (u64)variable << 40 | i * sizeof(T), {}});
    }
    set[i >> 5] |= bit;
    return element;
}

// Lanes of a warp: each has a row of what it knows of the others, by their clocks.
XC_SHADOW_FN void xc_lane_comes(const xc_self& self, u32 mask) {
    if (!self.S->seen || !self.me) return;
    xc_acquire(self);
    self.me->mask = mask;
    self.S->seen[(self.block * self.S->threads + self.thread) * 32 + self.thread % 32] = ++self.me->clock;
    xc_settled();
}
XC_SHADOW_FN void xc_lanes_met(const xc_self& self) {
    xc_shadow* const S = self.S;
    const u64 mine = self.block * S->threads + self.thread, first = mine - self.thread % 32;
    for (u32 lane = 0; lane < 32 && self.thread / 32 * 32 + lane < S->threads; ++lane) {
        if (!(self.me->mask >> lane & 1) || first + lane == mine) continue;
        if (xc_seen(&S->states[first + lane].known)) self.me->known = 1;
        for (u32 i = 0; i < 32; ++i) {
            const u32 known = xc_seen(S->seen + (first + lane) * 32 + i);
            if (i != self.thread % 32 && S->seen[mine * 32 + i] < known) S->seen[mine * 32 + i] = known;
        }
    }
}
#define XC_BEFORE_WARP(mask) xc_before_warp((u32)(mask), XC_SELF)
XC_DEVICE void xc_before_warp(u32 mask, const xc_self& self) {
    xc_lane_comes(self, mask);
    if (self.me && self.S->seen) xc_lanes_meet(mask);
}
XC_DEVICE void xc_passed(i32 what, i32 barrier, XC_HERE_PARAMETERS) {
    if (what == XC_TURN) return;
    const xc_self self = XC_SELF;
    xc_shadow* const S = self.S;
    if (!self.me) return;
    xc_acquire(self);
    if (what == XC_BARRIER || what == XC_GRID)
        self.me->mask = 0;  // of shuffles in a reduction of the whole block
    switch (what) {
        case XC_BARRIER:
            ++self.me->epoch;
            if (barrier >= 0)
                ++S->passes[(self.block * S->threads + self.thread) * S->barriers + (u32)barrier];
            break;
        case XC_GRID:
            ++self.me->epoch;
            ++self.me->grid;
            break;
        case XC_MET:
            if (!S->seen || !self.me->mask) break;
            xc_lanes_met(self);
            xc_lanes_meet(self.me->mask);  // nobody goes on to the next meeting before all know of this one
            self.me->mask = 0;
            break;
        case XC_FENCE:
            self.me->fence = ++self.me->clock;
            S->teams[self.block].fenced = 1;
            xc_settled();
            break;
        default: break;
    }
    // A word has no room for more: nothing is looked at any longer, by nobody, so that none is blamed for what was not seen.
    if (self.me->epoch >> S->epoch_bits || self.me->clock >> S->clock_bits || self.me->grid >> S->grid_bits) {
        S->cut = 1;
        self.me->epoch = self.me->clock = self.me->grid = 0;
        xc_settled();
    }
}

XC_SHADOW_FN void xc_born_in(const xc_self& self, i32 operation, f64 value, f64 a, f64 b) {
    xc_shadow* const S = self.S;
    if (!S->finite || !self.me) return;
    xc_record_it(S, S->births + 2 * operation + (value != value), 1,
                 {XC_BORN, (u64)operation, xc_shadow_word(self, -1, 0), 0, 0, 0, {value, a, b}});
}
XC_DEVICE void xc_born(i32 operation, f64 value, f64 a, f64 b, XC_HERE_PARAMETERS) {
    xc_born_in(XC_SELF, operation, value, a, b);
}

XC_DEVICE void xc_shadow_begin(u64 shadow, XC_HERE_PARAMETERS) {
    xc_shadow_now = (xc_shadow*)shadow;
#ifdef XC_CPU
    const xc_self self = XC_SELF;
    if (self.me) self.S->teams[self.block].base = (u64)W->shared;
#endif
}
// A shared array: it lies alike in every block.
XC_DEVICE void xc_shadow_lies(i32 variable, const void* at, u64 bytes, XC_HERE_PARAMETERS) {
    const xc_self self = XC_SELF;
    if (self.block == 0 && self.thread == 0)
        self.S->lies[variable] = {xc_in_block((u64)at, self.S->teams[0].base), bytes};
}
// The last thread of a block looks how often each came to each barrier.
XC_DEVICE void xc_shadow_end(XC_HERE_PARAMETERS) {
    const xc_self self = XC_SELF;
    xc_shadow* const S = self.S;
    if (!self.me) return;
    if (self.me->steps & 31 && !xc_seen(&S->cut) &&
        xc_counted(&S->steps, (u64)(self.me->steps & 31)) + (self.me->steps & 31) > S->most_steps)
        S->cut = 1;
    xc_settled();
    if (xc_counted(&S->teams[self.block].done, 1u) + 1 != S->threads) return;
    xc_settled();
    for (u32 b = 0; b < S->barriers; ++b) {
        u64 least = 0, most = 0;
        u32 fewest = ~0u, largest = 0;
        for (u32 t = 0; t < S->threads; ++t) {
            const u32 n = xc_seen(S->passes + (self.block * S->threads + t) * S->barriers + b);
            if (n < fewest) fewest = n, least = t;
            if (n >= largest) largest = n, most = t;
        }
        if (fewest != largest)
            xc_record_it(S, S->parted + b, 1,
                         {XC_PARTED, b, self.block, least, most, (u64)largest << 32 | fewest, {}});
    }
}
#ifdef XC_CPU
XC_DEVICE void xc_shadow_block(u64 shadow, xc_worker* W, const xc_launch* L, const void* P, i64 turn,
                               xc_thread thread) {
    const xc_shadow* const S = (const xc_shadow*)shadow;
    const u64 n = (u64)(L->grid[0] * L->grid[1] * L->grid[2]);
    W->order = S->seed ? S->seed + (u64)turn * 2 | 1 : 0;
    W->run_fibers(W, L, P, (i64)(((u64)turn * S->permute_by + S->permute_add) % n), thread);
}
XC_DEVICE void xc_shadow_grid(u64 shadow, xc_worker* W, const xc_launch* L, const void* P, i64 shared_bytes,
                              xc_thread thread) {
    W->order = ((xc_shadow*)shadow)->seed ? ((xc_shadow*)shadow)->seed | 1 : 0;
    W->run_grid(W, L, P, shared_bytes, thread);
}
#endif
