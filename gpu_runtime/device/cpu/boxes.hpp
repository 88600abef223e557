// The grid of a kernel that knows only global indices, cut into boxes of even work.
#pragma once

#include <array>
#include <cstdint>

#include "device/cpu/abi.hpp"

namespace xcuda::device::cpu {

class Kernel;

struct Boxes {
    std::array<std::int64_t, 3> low{}, high{};   // the guarded grid
    std::array<std::int64_t, 3> chunk{1, 1, 1};  // threads of a piece along each axis
    std::array<std::int64_t, 3> pieces{};
    std::int64_t count() const { return pieces[0] * pieces[1] * pieces[2]; }
};

Boxes cut_domain(const Kernel& kernel, const LaunchBlock& launch, const void* arguments);

/// Runs pieces [begin, end): as tiles; what can't be, in smaller boxes; and what is left, thread by thread.
void run_boxes(const Kernel& kernel, const Boxes& boxes, const LaunchBlock& launch, const void* arguments,
               Worker& worker, std::int64_t begin, std::int64_t end);

}  // namespace xcuda::device::cpu
