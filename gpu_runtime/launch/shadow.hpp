// A kernel run on any device with shadow memory that keeps who touched each element last, and a list of what its threads
// saw there: what threads that run at once can tell without a watcher.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "launch/listened.hpp"
#include "launch/program.hpp"

namespace xcuda::launch {

// emit/prelude_shadow.hpp declares the same, with addresses as pointers.
struct ShadowRegion {
    std::uint64_t begin = 0, end = 0;  // of the launch's memory
    std::uint64_t cells = 0;  // of pieces of 1 << shift bytes, from begin rounded down to a multiple of 8
    std::int32_t shift = 0;
    std::int32_t unset = 0;  // it may hold the pattern that stands for "never written"
};

struct ShadowCell {
    std::uint64_t write, read, other, atomic;  // words; other: of another thread than `read`'s
};

/// A thread: what orders it with others.
struct ShadowState {
    std::uint32_t epoch;     // barriers that it has come to
    std::uint32_t clock;     // meetings of its warp, and fences
    std::uint32_t grid;      // barriers of the grid
    std::uint32_t steps;     // accesses
    std::uint32_t known;     // it knows what others let go of by an atomic
    std::uint32_t fence;     // its clock at its last one
    std::uint32_t released;  // its accesses before this clock may be known to others
    std::uint32_t mask;      // of the meeting that it is in
    std::uint64_t pending;   // the atomic word that it is to look at once its atomic is done
};

struct ShadowTeam {      // a block
    std::uint64_t base;  // CPU device: of its shared memory
    std::uint32_t fenced, released, known, done;
};

struct ShadowRecord {
    enum Kind : std::uint8_t { raced = 1, unset = 2, parted = 3, born = 4 };
    std::uint64_t kind;  // from its low byte: Kind, the space (0 global, 1 shared, 2 a thread's own), did, does
    std::uint64_t then, now;    // words; parted: the barrier and the block; born: then is the operation
    std::uint64_t read, other;  // of the cell; parted: threads that came least and most often
    std::uint64_t place;        // an address, or an offset; parted: how often, most above least
    double value[3];            // born: the result and two operands
};

struct ShadowLying {
    std::uint64_t offset, bytes;
};

struct ShadowHead {
    std::uint64_t regions, states, seen, teams, passes, shared, counts, births, parted, records, lies;
    std::uint64_t blocks;                   // that are looked at: those of lower numbers
    std::uint64_t most_steps;               // accesses that are looked at
    std::uint64_t permute_by, permute_add;  // a device's block b stands for (b * by + add) % blocks
    std::uint64_t seed;                     // of delays and turns; 0: as they come
    std::uint64_t shared_cells;             // of a block
    std::uint64_t steps;
    std::uint32_t region_count, sites, barriers, most_records, threads, shared_shift;
    std::uint32_t site_bits, thread_bits, block_bits, epoch_bits, clock_bits, grid_bits;  // of a word
    std::uint32_t mixes, finite, most_of_pair, shared_unset;
    std::uint32_t told;  // records, those without room counted
    std::uint32_t cut;   // nothing has been looked at since
};

/// Who touched an element, out of a word.
struct ShadowAccess {
    std::int32_t site = -1;
    std::int64_t block = 0, thread = 0;  // the block as the device numbers it
};
XCUDA_API ShadowAccess access_of(const ShadowHead& head, std::uint64_t word);

struct Shadowed : Telling {
    std::int64_t shared_bytes = 0;  // of a block, from the first byte that a kernel may have
    bool warps = false, barriers = false, fences = false;

    bool on_cpu() const { return device->info().kind == "cpu"; }
    /// The thread's own code: its variables are what records name.
    const ir::Function& thread() const { return module.fiber ? *module.fiber : module.kernel(); }
};

/// `device`: what it is to run on.
XCUDA_API Shadowed shadowed(const Lowered& lowered, const device::Shape& shape,
                            const std::shared_ptr<device::Device>& device);
/// The text alone, for a GPU that need not be here.
XCUDA_API emit::Text shadow_text(const Lowered& lowered);

/// `arguments` lie in the device's memory, as does the head at `head`; waits for the end. `as_meant`: of
/// run_listened.
XCUDA_API Listened run_shadowed(const Shadowed& kernel, std::span<const Argument> arguments, void* head,
                                const std::function<void(device::FaultRecord&)>& as_meant);

}  // namespace xcuda::launch
