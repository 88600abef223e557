// A kernel run on the CPU device with each access, meeting and fence told to a watcher as it happens, in an order of
// threads and blocks that the watcher chooses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "launch/listened.hpp"
#include "launch/program.hpp"
#include "passes/stepped.hpp"

namespace xcuda::launch {

/// What emit/prelude_watch.hpp calls; its functions run on the stacks of kernels, one at a time.
struct Watcher {
    enum class What : std::int32_t {
        read,
        write,
        atomic,
        branch,
        turn,
        barrier,
        warp,
        fence,
        grid,
        lane,
        // Of a stepped kernel, told by `touch` with the value's bits in place of address and bytes: `site` is a
        // passes::Step, a variable, an axis of the element that is told next, an array.
        step,
        saw,
        at,
        stored,
    };

    void (*touch)(Watcher*, std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                  std::uint64_t address, std::uint64_t bytes);
    /// barrier: before it, at `site` where it is a statement; grid, warp: after it; lane: before a warp's meeting, with
    /// its mask.
    void (*pass)(Watcher*, std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                 std::uint64_t value);
    /// At a thread's begin: a shared or local array's memory.
    void (*lies)(Watcher*, std::int64_t block, std::uint32_t thread, std::int32_t variable,
                 std::uint64_t address, std::uint64_t bytes);
    /// An operation of WatchedPoints made an inf or nan of finite numbers a and b.
    void (*born)(Watcher*, std::int64_t block, std::uint32_t thread, std::int32_t operation, double value,
                 double a, double b);
    std::int64_t (*next_block)(Watcher*, std::int64_t turn);  // linear, -1 after the last
    void (*pause)(Watcher*);                                  // sets `left` anew
    std::uint64_t order = 0;
    std::int64_t left = INT64_MAX;
};

struct Watched : Telling {};

/// Throws where no CPU device is built in. `steps`: it tells of its statements too, see passes/stepped.
XCUDA_API Watched watched(const Lowered& lowered, const device::Shape& shape,
                          std::vector<passes::Step>* steps = nullptr);

/// `arguments` lie in host memory, and are written to: give copies.
XCUDA_API Listened run_watched(const Watched& kernel, std::span<const Argument> arguments, Watcher& watcher);

}  // namespace xcuda::launch
