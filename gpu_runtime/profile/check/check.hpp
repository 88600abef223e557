// What compute-sanitizer looks for, in runs of a kernel's watched form on the CPU device or with shadow memory on any: races, uninitialised reads,
// barriers that threads part at, indices out of range, results that hang on the order of threads, infs and nans.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/watch.hpp"

namespace xcuda::profile::check {

struct Finding {
    std::string_view rule;
    Place place, other;      // other: a race's second line
    std::string evidence;    // what was seen: threads, index, numbers
    std::string advice;      // what to write instead
    std::string subject;     // the array it is about, empty where there is none
    std::int64_t count = 1;  // how often it was seen
};

struct Rule {
    const char* name;
    const char* about;
};
XCUDA_API std::span<const Rule> rules();

struct Options {
    int orders = 3;  // runs, each in another order of threads and blocks; the first as they are numbered
    std::uint64_t seed = 0;       // of the orders
    std::int64_t most_steps = 0;  // accesses of a run that are looked at; 0: as many as the form is made for
    bool finite = true;           // look for the birth of infs and nans
    // By parameter: an array of which elements that hold `unset_pattern` have no value yet.
    std::vector<bool> unset;
    // By shadow memory, on this device; null: by a watcher, on the CPU device.
    std::shared_ptr<device::Device> shadow;
};

/// Bytes that stand for "never written", by address modulo their number.
XCUDA_API std::span<const unsigned char> unset_pattern();

struct Checked {
    device::Shape shape;
    std::vector<Finding> findings;  // in the order of lines
    std::vector<std::string> notes;
    std::int64_t steps = 0;  // accesses that were looked at, of all runs
    int orders = 0;
    bool cut = false;            // there were more than most_steps
    std::optional<Error> fault;  // what ended the first run
};

/// `arguments` lie in host memory and are written to: give copies, that overlap where the originals do. `lowered` has
/// its checks.
XCUDA_API Checked check(const launch::Lowered& lowered, const std::vector<std::string>& parameters,
                        std::span<const launch::Argument> arguments, const device::Shape& shape,
                        const Options& options);

}  // namespace xcuda::profile::check
