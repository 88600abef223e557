// Calls that a stream makes when it gets there, on a thread of our own: the driver's thread must not call CUDA.
#pragma once

#include <memory>

#include "device/cuda/queue.hpp"

namespace xcuda::device::cuda {

/// Once the stream is there: its launches so far are settled, then the callback runs. The stream does not wait for it.
void call_on_host(const std::shared_ptr<Queue>& queue, Callback callback);
/// The context's GPU is lost: launches under way on it end so, and callbacks that wait for it run now.
void answer_all(CUcontext context);

}  // namespace xcuda::device::cuda
