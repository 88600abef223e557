// What a traced kernel tells, and to whom: launch/trace.hpp declares the same.
struct xc_sink {
    bool (*begin)(xc_sink*, i64 block);  // of a block's thread: whether it is to run
    void (*tell)(xc_sink*, i64 block, u32 thread, i32 what, i32 where, u64 value);
};
enum { XC_READ, XC_WRITE, XC_ATOMIC, XC_BRANCH, XC_TURN, XC_BARRIER, XC_WARP };

static xc_sink* xc_sink_now;  // one traced launch at a time

#define XC_TOLD                                                       \
    (xc_block_z * L->grid[1] + xc_block_y) * L->grid[0] + xc_block_x, \
        (u32)((xc_thread_z * L->block[1] + xc_thread_y) * L->block[0] + xc_thread_x)

XC_DEVICE bool xc_trace_begin(u64 sink, XC_HERE_PARAMETERS) {
    xc_sink_now = (xc_sink*)sink;
    return xc_sink_now->begin(xc_sink_now, (xc_block_z * L->grid[1] + xc_block_y) * L->grid[0] + xc_block_x);
}
template <class T>
XC_DEVICE T& xc_touched(T& element, i32 what, i32 where, XC_HERE_PARAMETERS) {
    xc_sink_now->tell(xc_sink_now, XC_TOLD, what, where, (u64)&element);
    return element;
}
template <class T>
XC_DEVICE T* xc_touched_at(T* element, i32 what, i32 where, XC_HERE_PARAMETERS) {
    xc_sink_now->tell(xc_sink_now, XC_TOLD, what, where, (u64)element);
    return element;
}
template <class T>
XC_DEVICE bool xc_took(T condition, i32 where, XC_HERE_PARAMETERS) {
    xc_sink_now->tell(xc_sink_now, XC_TOLD, XC_BRANCH, where, condition ? 1 : 0);
    return condition;
}
XC_DEVICE void xc_passed(i32 what, i32 where, XC_HERE_PARAMETERS) {
    xc_sink_now->tell(xc_sink_now, XC_TOLD, what, where, 0);
}
