// What happened on a device, in the order it was asked for: the raw material of every report.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "device/counters.hpp"

namespace xcuda::launch {

/// What is known of one compiled specialisation; shared by all its launches.
struct KernelFacts {
    std::string name;       // the Python function's
    std::string symbol;     // the compiled kernel's
    std::string signature;  // "(float32[:, ::1], float32[:, ::1], float32[:, ::1])"
    Place place;            // of its definition
    std::string device;     // "cpu", "cuda:0"
    device::Attributes attributes;
    std::string how;  // "lanes", "tiles 8x2", "regions", "fibers" on the CPU device
    std::vector<std::string> warnings;
    bool programs = false;  // of tiles: passes/cost has no model of their work
};

struct Event {
    enum class Kind : std::uint8_t {
        launch,
        compile,
        copy_in,
        copy_out,
        copy_within,
        fill,
        allocate,
        release
    };
    Kind kind;
    double begin = 0, end = 0;  // base/clock; of a launch: from `timing` once it is done
    std::int64_t bytes = 0;     // copies, fills, allocations
    double before =
        0;  // copy_in of a host array: when this very array was copied in before; 0: not known to have been
    std::uintptr_t stream = 0;
    std::string device;
    bool foreign = false;  // another library's, seen by the vendor's profiling library

    std::shared_ptr<const KernelFacts> kernel;  // launches and compiles
    std::string_view compile_source;            // compile: "compiled", "disk"; of static life
    device::Shape shape;                        // launches
    bool automatic_shape = false;
    bool replayed = false;              // by a graph
    std::vector<std::int64_t> lengths;  // launches: of the array arguments, one after the other
    std::shared_ptr<const device::Device::Launch> timing;  // launches
    double flops = 0, bytes_read = 0,
           bytes_written = 0;  // modelled (passes/cost); negative: could not be modelled
    std::shared_ptr<const device::CounterValues> counters;  // launches whose hardware counters were read
    std::vector<std::shared_ptr<const Event>> each;  // in the log alone, of a graph's replay: its launches
};

/// Appends; thread-safe, cheap. Bounded: the oldest go first once 65,536 are kept (the count of lost ones is kept too).
XCUDA_API void record(Event event);
/// A launch, of which `like` has all that is the same for others like it: what is kept of each is a few words.
XCUDA_API void record_launch(const std::shared_ptr<const Event>& like, double begin, std::uintptr_t stream,
                             std::shared_ptr<const device::Device::Launch> timing);
/// Whether launches after a mark are told one by one, or only how many there were and their times' sum, least and most:
/// what a cell's report shows of thousands, which leaves the processor's caches to the loop that makes them.
enum class Detail { each, summed };
/// A graph's replay whose launches the device does not time, `replay.each`: one entry of the log, told as its launches.
XCUDA_API void record_replay(const std::shared_ptr<const Event>& replay, double begin, std::uintptr_t stream,
                             std::shared_ptr<const device::Device::Launch> whole);
/// A mark in the log; events after it are those of a cell or of a profiled block. The last mark's detail holds: launches
/// are summed as far as they come one after the other, alike, in one stream, and are over and well when recorded.
XCUDA_API std::uint64_t mark(Detail detail = Detail::each);
/// Launches of one kernel and shape that ended well, of which only the sums are kept.
struct LaunchSum {
    std::shared_ptr<const Event> what;
    int calls = 0, timed = 0;
    double total = 0, shortest = std::numeric_limits<double>::infinity(),
           longest = 0;  // seconds, of the timed
    int shared = 0;      // by several threads of the CPU device, `workers` in all
    std::int64_t workers = 0;
    double busy = 0, busiest = 0;  // sums of Launch's

    void add(const device::Device::Launch& launch);
};
struct Slice {
    std::vector<Event> events;
    std::vector<LaunchSum> sums;  // of launches that are not among the events
    std::uint64_t lost = 0;
    /// Of graphs whose launches the device does not time: each once or more often, in the order of their launches.
    std::vector<std::shared_ptr<const device::Device::Launch>> replays;
    bool watched = false;  // the vendor's profiling library has told what it saw
};
/// Launches that ended well are only summed up after the first `launches`: the copy of an event costs ten times more.
XCUDA_API Slice events_since(std::uint64_t mark,
                             std::size_t launches = std::numeric_limits<std::size_t>::max());

}  // namespace xcuda::launch
