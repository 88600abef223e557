// What a watched kernel tells, and to whom: launch/watch.hpp declares the same.
struct xc_watcher {
    void (*touch)(xc_watcher*, i64 block, u32 thread, i32 what, i32 where, u64 address, u64 bytes);
    void (*pass)(xc_watcher*, i64 block, u32 thread, i32 what, i32 where, u64 value);
    void (*lies)(xc_watcher*, i64 block, u32 thread, i32 variable, u64 address, u64 bytes);
    void (*born)(xc_watcher*, i64 block, u32 thread, i32 operation, f64 value, f64 a, f64 b);
    i64 (*next_block)(xc_watcher*, i64 turn);  // -1: that was the last
    void (*pause)(xc_watcher*);                // sets `left` anew
    u64 order;                                 // of the fibers of a block; 0: as they are numbered
    i64 left;                                  // accesses until another thread has its turn
};
enum { XC_READ, XC_WRITE, XC_ATOMIC, XC_BRANCH, XC_TURN, XC_BARRIER, XC_WARP, XC_FENCE, XC_GRID, XC_LANE };

static xc_watcher* xc_watcher_now;  // one watched launch at a time

#define XC_TOLD                                                       \
    (xc_block_z * L->grid[1] + xc_block_y) * L->grid[0] + xc_block_x, \
        (u32)((xc_thread_z * L->block[1] + xc_thread_y) * L->block[0] + xc_thread_x)
#define XC_BEFORE_WARP(mask) xc_watcher_now->pass(xc_watcher_now, XC_TOLD, XC_LANE, -1, (u64)(u32)(mask))

XC_DEVICE void xc_watch_begin(u64 watcher, XC_HERE_PARAMETERS) { xc_watcher_now = (xc_watcher*)watcher; }
XC_DEVICE void xc_lies(i32 variable, const void* at, u64 bytes, XC_HERE_PARAMETERS) {
    xc_watcher_now->lies(xc_watcher_now, XC_TOLD, variable, (u64)at, bytes);
}
XC_DEVICE void xc_take_turns(xc_worker* W) {
    if (XC_UNLIKELY(--xc_watcher_now->left < 0)) {
        xc_watcher_now->pause(xc_watcher_now);
        W->give_way(W);
    }
}
template <class T>
XC_DEVICE T& xc_touched(T& element, i32 what, i32 where, XC_HERE_PARAMETERS) {
    xc_take_turns(W);
    xc_watcher_now->touch(xc_watcher_now, XC_TOLD, what, where, (u64)&element, sizeof(T));
    return element;
}
template <class T>
XC_DEVICE T* xc_touched_at(T* element, i32 what, i32 where, XC_HERE_PARAMETERS) {
    xc_take_turns(W);
    xc_watcher_now->touch(xc_watcher_now, XC_TOLD, what, where, (u64)element, 0);  // by its array's type
    return element;
}
XC_DEVICE void xc_passed(i32 what, i32 where, XC_HERE_PARAMETERS) {
    if (what != XC_TURN) xc_watcher_now->pass(xc_watcher_now, XC_TOLD, what, where, 0);
}
// Of a stepped kernel: that a statement begins, and what it assigned.
enum { XC_STEP = 10, XC_SAW, XC_AT, XC_STORED };
template <class T>
XC_DEVICE void xc_tell(i32 what, i32 id, T value, XC_HERE_PARAMETERS) {
    u64 bits[2] = {0, 0};
    __builtin_memcpy(bits, &value, sizeof(T));
    xc_watcher_now->touch(xc_watcher_now, XC_TOLD, what, id, bits[0], bits[1]);
}
#define xc_step(point) xc_tell(XC_STEP, point, 0, XC_HERE)
#define xc_saw(variable, value) xc_tell(XC_SAW, variable, value, XC_HERE)
#define xc_at(axis, index) xc_tell(XC_AT, axis, (i64)(index), XC_HERE)
#define xc_stored(array, value) xc_tell(XC_STORED, array, value, XC_HERE)
__attribute__((noinline, cold)) static void xc_born(i32 operation, f64 value, f64 a, f64 b,
                                                    XC_HERE_PARAMETERS) {
    xc_watcher_now->born(xc_watcher_now, XC_TOLD, operation, value, a, b);
}
XC_DEVICE void xc_watched_blocks(u64 watcher, xc_worker* W, const xc_launch* L, const void* P,
                                 xc_thread thread) {
    xc_watcher* const to = (xc_watcher*)watcher;
    for (i64 turn = 0;; ++turn) {
        const i64 block = to->next_block(to, turn);
        if (block < 0) break;
        xc_poll(L, W);
        W->order = to->order;
        W->run_fibers(W, L, P, block, thread);
    }
}
XC_DEVICE void xc_watched_grid(u64 watcher, xc_worker* W, const xc_launch* L, const void* P, i64 shared_bytes,
                               xc_thread thread) {
    W->order = ((xc_watcher*)watcher)->order;
    W->run_grid(W, L, P, shared_bytes, thread);
}
