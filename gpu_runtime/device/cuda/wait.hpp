// Waiting for a GPU so that an interrupt is heard: it is asked, first without pause, then between short sleeps.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "device/cuda/driver.hpp"
#include "device/interrupt.hpp"

namespace xcuda::device::cuda {

/// Until `query` gives another answer than CUDA_ERROR_NOT_READY. Throws a KeyboardInterrupt where the wait is
/// interrupted (the work goes on), and the driver's error.
template <class Query>
void wait_until(Query query, const char* doing) {
    constexpr double unguarded = 100e-6, spinning = 1e-3, shortest = 20e-6, longest = 1e-3;
    const double begin = now();
    CUresult result;
    while ((result = query()) == CUDA_ERROR_NOT_READY && now() - begin < unguarded) {}
    if (result == CUDA_ERROR_NOT_READY) {
        const InterruptGuard guard;
        while ((result = query()) == CUDA_ERROR_NOT_READY) {
            if (interrupts() != guard.since())
                throw Error(Fault::user, "KeyboardInterrupt", "interrupted while waiting for the GPU");
            const double waited = now() - begin;
            if (waited > spinning)  // at most a fiftieth is lost
                std::this_thread::sleep_for(
                    std::chrono::duration<double>(std::clamp(waited / 50, shortest, longest)));
        }
    }
    check(result, doing);
}

}  // namespace xcuda::device::cuda
