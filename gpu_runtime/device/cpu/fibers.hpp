// A block's threads as fibers, for kernels whose barriers can't be turned into regions: correct before fast.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <vector>

#include "device/cpu/worker.hpp"

namespace xcuda::device::cpu {

/// One block's fibers in a ring of the live ones. Each runs until its next barrier and hands over to the next
/// in the ring, so when one runs again, every other live one has come to the barrier or returned.
struct FiberGang {
    struct Fiber {
        boost::context::detail::fcontext_t context = nullptr;
        std::int32_t next = 0, previous = 0;
        std::int32_t x = 0, y = 0, z = 0;
    };
    std::vector<Fiber> fibers;
    KernelStacks stacks;
    std::int32_t current = 0;
    boost::context::detail::fcontext_t scheduler = nullptr;  // run_fibers itself, while fibers run
    ThreadFunction thread = nullptr;
    const LaunchBlock* launch = nullptr;
    const void* arguments = nullptr;
    std::int64_t block[3] = {};
};

/// abi.hpp's Worker::run_fibers and Worker::barrier.
void run_fibers(Worker* worker, const LaunchBlock* launch, const void* arguments, std::int64_t block,
                ThreadFunction thread);
void barrier(Worker* worker);

}  // namespace xcuda::device::cpu
