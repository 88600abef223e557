// A kernel run once on the CPU device with every access, branch and barrier of chosen blocks written down.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/arguments.hpp"
#include "launch/fault.hpp"
#include "launch/program.hpp"

namespace xcuda::launch {

/// One step of a thread. The order of a block's records is an order in which its threads may have run.
struct TraceRecord {
    enum class What : std::uint8_t { read, write, atomic, branch, turn, barrier, warp };  // warp: lanes met
    std::uint64_t value;   // accesses: the address; branch: 1 where it was taken
    std::uint32_t thread;  // linear in its block, x fastest
    // Accesses, and barriers that are statements: index into Trace::module.sites; branch, turn: into
    // Trace::module.points; else -1.
    std::int32_t where;
    What what;
    bool silent = false;  // a write of the value that was there: whoever reads meanwhile reads the same
};

struct BlockTrace {
    std::int64_t block = 0;  // linear, x fastest
    std::vector<TraceRecord> records;
    bool cut = false;  // there were more than TraceOptions::most_records
};

struct TraceOptions {
    std::vector<std::int64_t> blocks;      // which are written down, linear; empty: all
    std::size_t most_records = 1'000'000;  // of a block
};

struct Trace {
    ir::Module module;
    device::Shape shape;
    std::vector<BlockTrace> blocks;  // in order of their numbers
    std::optional<Error> fault;      // what stopped it
    device::FaultKind fault_kind = device::FaultKind::none;
};

/// `arguments` lie in host memory, and are written to: give copies. Throws where no CPU device is built in.
XCUDA_API Trace trace(const Program& program, const Lowered& lowered, const device::Shape& shape,
                      std::span<const Argument> arguments, const TraceOptions& options);

}  // namespace xcuda::launch
