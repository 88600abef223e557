// CUPTI's range profiler for tests: strict about the order of its calls; a counter's value is its name's length.
#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstring>
#include <string>
#include <vector>

#include "profiling.hpp"

using namespace fake;

namespace {

bool initialised = false;

struct Host {
    std::vector<std::string> metrics;
};
Host* host_of(CUpti_Profiler_Host_Object* object) { return reinterpret_cast<Host*>(object); }

enum class Step { enabled, configured, started, stopped };
struct Ranges {
    Context* context;
    Step step = Step::enabled;
    std::uint8_t* image = nullptr;
    std::int64_t kernels_before = 0;
};
Ranges* ranges_of(CUpti_RangeProfiler_Object* object) { return reinterpret_cast<Ranges*>(object); }

constexpr std::size_t image_bytes = 64, plan_bytes = 32;

bool known(const char* metric) { return std::strncmp(metric, "none__", 6) != 0; }

CUptiResult answer(const char* function, const std::function<CUptiResult()>& body) {
    const CUresult ordered = enter(function, Needs::nothing, [] { return CUDA_SUCCESS; });
    return ordered != CUDA_SUCCESS ? static_cast<CUptiResult>(ordered) : body();
}

void wait_for_work() {
    std::unique_lock lock(state().mutex);
    const std::uint64_t until = state().added;
    state().changed.wait(lock, [&] { return state().done >= until; });
}

}  // namespace

extern "C" {

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
    return answer("cuptiProfilerInitialize", [] {
        initialised = true;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params*) {
    return answer("cuptiProfilerDeInitialize", [] {
        initialised = false;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
    p->pChipName = "FAKE100";
    return p->deviceIndex < static_cast<std::size_t>(state().options.devices) ? CUPTI_SUCCESS
                                                                              : CUPTI_ERROR_INVALID_DEVICE;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
    return answer("cuptiProfilerGetCounterAvailability", [&] {
        if (!initialised) return CUPTI_ERROR_NOT_INITIALIZED;
        p->counterAvailabilityImageSize = 16;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
    return answer("cuptiProfilerHostInitialize", [&] {
        if (std::strcmp(p->pChipName, "FAKE100") != 0) return CUPTI_ERROR_INVALID_CHIP_NAME;
        p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
    delete host_of(p->pHostObject);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* p) {
    return known(p->pMetricName) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_NAME;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
    for (std::size_t i = 0; i < p->numMetrics; ++i) {
        if (!known(p->ppMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
        host_of(p->pHostObject)->metrics.emplace_back(p->ppMetricNames[i]);
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
    p->configImageSize = plan_bytes;
    return host_of(p->pHostObject)->metrics.empty() ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
    if (p->configImageSize < plan_bytes) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    std::memset(p->pConfigImage, 0x5a, plan_bytes);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
    return answer("cuptiProfilerHostEvaluateToGpuValues", [&] {
        if (p->rangeIndex >= p->pCounterDataImage[0]) return CUPTI_ERROR_INVALID_PARAMETER;
        for (std::size_t i = 0; i < p->numMetrics; ++i) {
            const std::string name = p->ppMetricNames[i];
            p->pMetricValues[i] =
                name == "gpu__time_duration.sum" ? 5000.0 : static_cast<double>(name.size());
        }
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
    return answer("cuptiRangeProfilerEnable", [&] {
        if (!initialised) return CUPTI_ERROR_NOT_INITIALIZED;
        auto* made = new Ranges{reinterpret_cast<Context*>(p->ctx)};
        p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(made);
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* p) {
    return answer("cuptiRangeProfilerDisable", [&] {
        delete ranges_of(p->pRangeProfilerObject);
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
    p->counterDataSize = image_bytes;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* p) {
    if (p->counterDataSize < image_bytes) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    std::memset(p->pCounterData, 0, image_bytes);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
    return answer("cuptiRangeProfilerSetConfig", [&] {
        Ranges* r = ranges_of(p->pRangeProfilerObject);
        if (r->step == Step::started || p->configSize != plan_bytes || p->pConfig[0] != 0x5a ||
            p->counterDataImageSize != image_bytes || p->range != CUPTI_AutoRange ||
            p->replayMode != CUPTI_KernelReplay)
            return CUPTI_ERROR_INVALID_OPERATION;
        r->image = p->pCounterDataImage;
        r->step = Step::configured;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* p) {
    return answer("cuptiRangeProfilerStart", [&] {
        Ranges* r = ranges_of(p->pRangeProfilerObject);
        if (r->step != Step::configured) return CUPTI_ERROR_INVALID_OPERATION;
        wait_for_work();
        r->kernels_before = kernels_in(r->context);
        r->step = Step::started;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
    return answer("cuptiRangeProfilerStop", [&] {
        Ranges* r = ranges_of(p->pRangeProfilerObject);
        if (r->step != Step::started) return CUPTI_ERROR_INVALID_OPERATION;
        wait_for_work();
        r->step = Step::stopped;
        p->isAllPassSubmitted = 1;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* p) {
    return answer("cuptiRangeProfilerDecodeData", [&] {
        Ranges* r = ranges_of(p->pRangeProfilerObject);
        if (r->step != Step::stopped) return CUPTI_ERROR_INVALID_OPERATION;
        const std::int64_t ran = kernels_in(r->context) - r->kernels_before;
        r->image[0] = ran > 0;
        p->numOfRangeDropped = ran > 1 ? static_cast<std::size_t>(ran - 1) : 0;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
    p->numTotalRanges = p->pCounterDataImage[0];
    return CUPTI_SUCCESS;
}
}
