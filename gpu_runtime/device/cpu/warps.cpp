// Warps of 32 fibers: who waits for whom, and what each lane is told.
#include <algorithm>

#include "device/cpu/fibers.hpp"

namespace xcuda::device::cpu {

namespace {

using Fiber = FiberGang::Fiber;
using Wait = FiberGang::Wait;

constexpr std::int32_t warp_size = 32;
constexpr std::int64_t lane_ended = -1, not_in_mask = -2, waits_elsewhere = -3;

struct Warp {
    std::int32_t first, lanes;  // fibers [first, first + lanes)
};

Warp warp_of(const FiberGang& gang, std::int32_t index) {
    const FiberGang::Block& block = gang.blocks[gang.fibers[index].block];
    const std::int32_t first = block.first + (index - block.first) / warp_size * warp_size;
    return {first, std::min(warp_size, block.first + block.threads - first)};
}

bool waits_with(const Fiber& other, const Fiber& f) {
    return other.wait == Wait::warp && other.site == f.site && other.mask == f.mask && other.op == f.op;
}

/// The lowest lane of `f`'s mask that lives and is not here; -1 where all are.
std::int32_t missing_lane(const FiberGang& gang, const Warp& warp, const Fiber& f) {
    for (std::int32_t lane = warp.lanes - 1; lane >= 0;
         --lane) {  // fibers come in their order: the last is missed first
        if (!(f.mask >> lane & 1)) continue;
        const Fiber& other = gang.fibers[warp.first + lane];
        if (other.wait != Wait::ended && !waits_with(other, f)) return lane;
    }
    return -1;
}

std::uint64_t told(const FiberGang& gang, const Warp& warp, std::uint32_t here, const Fiber& f) {
    std::uint32_t found = 0;
    switch (f.op) {
        case WarpOp::sync: return 0;
        case WarpOp::active: return here;
        case WarpOp::shuffle:
            // A lane that is not there gives nothing: the own value stays.
            return f.source >= 0 && here >> f.source & 1 ? gang.fibers[warp.first + f.source].value : f.value;
        case WarpOp::ballot:
        case WarpOp::match:
            for (std::int32_t lane = 0; lane < warp.lanes; ++lane) {
                if (!(here >> lane & 1)) continue;
                const std::uint64_t value = gang.fibers[warp.first + lane].value;
                const bool counts = f.op == WarpOp::ballot ? value != 0 : value == f.value;
                found |= static_cast<std::uint32_t>(counts) << lane;
            }
            return static_cast<std::uint64_t>(here) << 32 | found;
    }
    return 0;
}

/// All lanes that wait with `f` are told what they asked for, and can go on.
void tell(FiberGang& gang, const Warp& warp, const Fiber& f) {
    std::uint32_t here = 0;
    for (std::int32_t lane = 0; lane < warp.lanes; ++lane)
        if ((f.op == WarpOp::active || f.mask >> lane & 1) && waits_with(gang.fibers[warp.first + lane], f))
            here |= 1u << lane;
    std::uint64_t results[warp_size];
    for (std::int32_t lane = 0; lane < warp.lanes; ++lane)
        if (here >> lane & 1) results[lane] = told(gang, warp, here, gang.fibers[warp.first + lane]);
    for (std::int32_t lane = 0; lane < warp.lanes; ++lane) {
        if (!(here >> lane & 1)) continue;
        Fiber& other = gang.fibers[warp.first + lane];
        other.value = results[lane];
        other.wait = Wait::none;
    }
}

bool complete(FiberGang& gang, const Warp& warp, const Fiber& f) {
    if (f.op == WarpOp::active || missing_lane(gang, warp, f) >= 0) return false;
    tell(gang, warp, f);
    return true;
}

}  // namespace

std::uint64_t warp(Worker* self, std::int32_t op, std::int32_t site, std::uint32_t mask, std::uint64_t value,
                   std::int32_t source) {
    auto& worker = static_cast<WorkerState&>(*self);
    FiberGang& gang = *worker.fibers;
    const std::int32_t index = gang.current;
    Fiber& fiber = gang.fibers[index];
    fiber.wait = Wait::warp;
    fiber.op = static_cast<WarpOp>(op);
    fiber.site = site;
    fiber.mask = mask;
    fiber.value = value;
    fiber.source = source;
    const Warp mine = warp_of(gang, index);
    if (fiber.op != WarpOp::active && !(mask >> (index - mine.first) & 1))
        fail_at(worker, fiber, site, FaultKind::warp, mask, not_in_mask);
    if (complete(gang, mine, fiber) && mine.first != index) {
        // Lowest lane first, as they came: its turn is next.
        for (std::int32_t lane = 0; lane < mine.lanes; ++lane) {
            const std::int32_t other = mine.first + lane;
            if (!(mask >> lane & 1) || other == index || gang.fibers[other].wait != Wait::none) continue;
            hand_over(worker, other);
            return gang.fibers[index].value;
        }
    } else if (fiber.wait != Wait::none) {
        wait_turn(worker);
    }
    return gang.fibers[index].value;
}

bool meet_warp(FiberGang& gang, std::int32_t of) {
    const Warp mine = warp_of(gang, of);
    bool met = false;
    for (std::int32_t lane = 0; lane < mine.lanes; ++lane) {
        const Fiber& f = gang.fibers[mine.first + lane];
        if (f.wait == Wait::warp) met |= complete(gang, mine, f);
    }
    return met;
}

bool tell_active(FiberGang& gang) {
    bool any = false;
    for (const FiberGang::Block& block : gang.blocks) {
        for (std::int32_t i = block.first; i < block.first + block.threads; ++i) {
            const Fiber& f = gang.fibers[i];
            if (f.wait != Wait::warp || f.op != WarpOp::active) continue;
            tell(gang, warp_of(gang, i), f);
            any = true;
        }
    }
    return any;
}

void fail_stuck(WorkerState& worker) {
    FiberGang& gang = *worker.fibers;
    const Fiber* waits = nullptr;  // at a barrier
    for (const FiberGang::Block& block : gang.blocks) {
        for (std::int32_t i = block.first; i < block.first + block.threads; ++i) {
            const Fiber& f = gang.fibers[i];
            if (f.wait == Wait::block || f.wait == Wait::grid) waits = &f;
            if (f.wait != Wait::warp) continue;
            const Warp mine = warp_of(gang, i);
            const std::int32_t lane = missing_lane(gang, mine, f);
            const Fiber& other = gang.fibers[mine.first + lane];
            const std::int64_t why = other.wait == Wait::ended ? lane_ended : other.site;
            fail_at(worker, f, f.site, FaultKind::warp, f.mask | static_cast<std::int64_t>(lane) << 32,
                    why == lane_ended || other.site >= 0 ? why : waits_elsewhere);
        }
    }
    fail_at(worker, *waits, waits->site, FaultKind::barrier, -1,
            0);  // some for their block, some for the grid
}

}  // namespace xcuda::device::cpu
