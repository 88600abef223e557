#include "profile/analysis/advise.hpp"

#include <algorithm>
#include <array>
#include <regex>

#include "launch/launch.hpp"
#include "launch/shape.hpp"
#include "launch/target.hpp"

namespace xcuda::profile::analysis {
namespace {

/// The limits that every GPU has: what a launch is shaped by where no GPU is here.
device::Info any_gpu() {
    device::Info info;
    info.name = "a GPU";
    return info;
}

device::Dim3 by_axis(const device::Dim3& hardware, const std::array<int, 3>& order) {
    const std::array<std::int64_t, 3> lengths{hardware.x, hardware.y, hardware.z};
    const auto along = [&](int axis) {
        return lengths[static_cast<std::size_t>(order[static_cast<std::size_t>(axis)])];
    };
    return {along(0), along(1), along(2)};
}

/// Threads as the hardware numbers them, where axis a of cuda.grid is its axis order[a].
void renumber(launch::Trace& trace, const device::Dim3& hardware, const std::array<int, 3>& order) {
    const device::Dim3 block = trace.shape.block;
    const std::array<std::int64_t, 3> step{1, hardware.x, hardware.x * hardware.y};
    for (launch::BlockTrace& b : trace.blocks)
        for (launch::TraceRecord& r : b.records) {
            const std::array<std::int64_t, 3> at{r.thread % block.x, r.thread / block.x % block.y,
                                                 r.thread / block.x / block.y};
            std::int64_t linear = 0;
            for (std::size_t axis = 0; axis < 3; ++axis)
                linear += at[axis] * step[static_cast<std::size_t>(order[axis])];
            r.thread = static_cast<std::uint32_t>(linear);
        }
    trace.shape.block = hardware;
}

/// ptxas's own words: "... 16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads".
std::int64_t spill_bytes(const std::string& log) {
    std::int64_t most = 0;
    const std::regex words("([0-9]+) bytes spill stores");
    for (std::sregex_iterator i(log.begin(), log.end(), words), end; i != end; ++i)
        most = std::max<std::int64_t>(most, std::stoll((*i)[1]));
    return most;
}

/// Of the kernel as it is launched there; nothing where there is no compiler for it, which `made` then tells.
std::optional<Compiled> compiled(const launch::Program& program, const launch::Lowered& lowered,
                                 const Gpu& gpu, Advised& made) {
    if (gpu.architecture.empty()) return std::nullopt;
    const auto limits = device::describe_target(gpu.architecture);
    if (!limits) {
        made.not_compiled = "the limits of " + gpu.architecture + " are not known";
        return std::nullopt;
    }
    Compiled c;
    c.limits = *limits;
    c.limits.multiprocessors = gpu.multiprocessors;
    c.shape = made.shape;
    c.real_grid = gpu.real_grid;
    c.automatic = made.automatic;
    c.names_threads = !lowered.automatic.free;
    c.max_registers = program.options().max_registers;
    if (made.automatic && lowered.automatic.elements > 1)
        c.shape.grid.x = (c.shape.grid.x + lowered.automatic.elements - 1) / lowered.automatic.elements;
    try {
        launch::Targeted there = launch::compile_for(program, lowered, gpu.architecture, made.automatic);
        c.attributes = there.image.attributes;
        c.spill_bytes = spill_bytes(there.image.log);
        made.image = std::move(there.image);
    } catch (const Error& error) {
        if (error.fault == Fault::internal) throw;
        made.not_compiled = error.what();
        return std::nullopt;
    }
    return c;
}

}  // namespace

Advised advise(const launch::Program& program, const launch::Lowered& lowered,
               std::span<const launch::Argument> arguments, const std::optional<device::Shape>& shape,
               const std::string& kernel, const Gpu& gpu) {
    Advised made;
    made.automatic = !shape;
    made.shape =
        shape ? *shape
              : launch::automatic_shape(  // a thread an element, laid out as on a GPU
                    launch::by_hardware_axis(lowered, launch::domain_lengths(lowered, arguments, kernel)),
                    any_gpu(), kernel, lowered.block);
    launch::check_shape(made.shape, lowered.shared_bytes, any_gpu(), kernel);
    const std::array<int, 3> order = shape ? std::array<int, 3>{0, 1, 2} : lowered.automatic.order;
    device::Shape traced = made.shape;
    traced.grid = by_axis(made.shape.grid, order);
    traced.block = by_axis(made.shape.block, order);
    const std::int64_t blocks = traced.grid.count();
    if (blocks == 0) return made;

    const auto run = [&](std::vector<std::int64_t> wanted) {
        launch::TraceOptions options;
        options.blocks = std::move(wanted);
        launch::Trace trace = launch::trace(program, lowered, traced, arguments, options);
        renumber(trace, made.shape.block, order);
        return trace;
    };
    std::vector<std::int64_t> inner{0};
    if (blocks > 2) inner.push_back(traced.grid.x / 2 + traced.grid.x * (traced.grid.y / 2));
    inner.erase(std::unique(inner.begin(), inner.end()), inner.end());
    const launch::Trace trace = run(inner);
    made.blocks = inner;
    for (const launch::BlockTrace& b : trace.blocks) {
        made.records += b.records.size();
        made.cut |= b.cut;
    }
    const auto there = compiled(program, lowered, gpu, made);
    made.findings = analyze(lowered.module, trace, there ? &*there : nullptr);
    if (blocks > 1 && !trace.fault) {
        const launch::Trace last = run({blocks - 1});
        made.blocks.push_back(blocks - 1);
        for (Finding& f : analyze(lowered.module, last, nullptr, out_of_range))
            made.findings.push_back(std::move(f));
    }
    return made;
}

}  // namespace xcuda::profile::analysis
