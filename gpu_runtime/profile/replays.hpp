// Which of the kernels that the vendor's profiling library saw are those of our graphs' replays.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "device/activity.hpp"
#include "launch/event.hpp"

namespace xcuda::profile {

/// Whether the record may be this launch's: its compiled kernel, GPU and shape. An entry's name is made of the kernel's
/// name and types: no other library launches one.
bool may_be(const launch::Event& event, const device::Activity& seen);

struct Pair {
    launch::Event* event;
    const device::Activity* seen;
};

/// Records for launches whose own the profiling library does not name, in pairs that are true of their kernel and shape;
/// a launch gets none where its records can't be told from others' or are not all there. Both in the order of time.
std::vector<Pair> pair_replays(std::span<launch::Event* const> launches,
                               std::span<const device::Activity* const> records,
                               const device::Activities& all);

}  // namespace xcuda::profile
