// CUPTI, NVIDIA's profiling library, opened when something is to be profiled: its functions, or why there are none.
#pragma once

// cupti.h leaves to its users what its other headers need.
#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

#include "device/cuda/locate.hpp"

namespace xcuda::device::cuda {

// clang-format off
#define XCUDA_CUPTI_FUNCTIONS(X) \
    X(cuptiGetVersion) X(cuptiGetResultString) X(cuptiGetTimestamp) X(cuptiSubscribe) X(cuptiUnsubscribe) \
    X(cuptiEnableCallback) X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) X(cuptiActivityDisable) \
    X(cuptiActivityFlushAll) X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords) \
    X(cuptiGetStreamIdEx)

// From CUPTI 12.2 on.
#define XCUDA_CUPTI_GRAPH_FUNCTIONS(X) X(cuptiGetGraphExecId)

// From CUPTI 12.6 on.
#define XCUDA_CUPTI_COUNTER_FUNCTIONS(X) \
    X(cuptiProfilerInitialize) X(cuptiProfilerDeInitialize) X(cuptiDeviceGetChipName) \
    X(cuptiProfilerGetCounterAvailability) X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize) \
    X(cuptiProfilerHostGetMetricProperties) X(cuptiProfilerHostConfigAddMetrics) \
    X(cuptiProfilerHostGetConfigImageSize) X(cuptiProfilerHostGetConfigImage) \
    X(cuptiProfilerHostEvaluateToGpuValues) X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) \
    X(cuptiRangeProfilerGetCounterDataSize) X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerSetConfig) X(cuptiRangeProfilerStart) X(cuptiRangeProfilerStop) \
    X(cuptiRangeProfilerDecodeData) X(cuptiRangeProfilerGetCounterDataInfo)
// clang-format on

struct Cupti {
#define XCUDA_DECLARE(name) \
    decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): a declaration
    XCUDA_CUPTI_FUNCTIONS(XCUDA_DECLARE)
    XCUDA_CUPTI_GRAPH_FUNCTIONS(XCUDA_DECLARE)  // null where it has none
    XCUDA_CUPTI_COUNTER_FUNCTIONS(XCUDA_DECLARE)
#undef XCUDA_DECLARE
    std::string no_counters;    // empty: it has the functions for hardware counters
    std::uint32_t version = 0;  // 130001 for CUDA 13.0; below 100 for CUDA 12: CUPTI's own count
    Candidate found;
};

/// Null where there is none; `why`, if given, then says why in a sentence and `advice` how to get it.
const Cupti* find_cupti(std::string* why = nullptr, std::string* advice = nullptr);

/// An error in a sentence: who is in the way, what is not allowed and how to allow it, or CUPTI's own word.
std::string cupti_problem(const Cupti& cupti, CUptiResult result, const char* doing);

}  // namespace xcuda::device::cuda
