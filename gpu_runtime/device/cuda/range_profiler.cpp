#include "device/cuda/range_profiler.hpp"

#include <limits>

namespace xcuda::device::cuda {

namespace {

/// A parameter block with its size told, all else null.
template <class Params>
Params sized(std::size_t size) {
    Params params{};
    params.structSize = size;
    return params;
}
#define XCUDA_PARAMS(type) sized<type>(type##_STRUCT_SIZE)

void check(const Cupti& cupti, CUptiResult result, const char* doing) {
    if (result != CUPTI_SUCCESS) throw ProfilerError{cupti_problem(cupti, result, doing)};
}

}  // namespace

ProfilerHost::ProfilerHost(const Cupti& cupti, const char* chip,
                           const std::vector<std::uint8_t>& availability)
    : cupti_(cupti) {
    auto params = XCUDA_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip;
    params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    check(cupti_, cupti_.cuptiProfilerHostInitialize(&params), "asking for the GPU's counters");
    host_ = params.pHostObject;
}

ProfilerHost::~ProfilerHost() {
    auto params = XCUDA_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    params.pHostObject = host_;
    cupti_.cuptiProfilerHostDeinitialize(&params);
}

bool ProfilerHost::knows(const std::string& counter) const {
    auto params = XCUDA_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
    params.pHostObject = host_;
    params.pMetricName = counter.c_str();
    return cupti_.cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
}

std::vector<std::uint8_t> ProfilerHost::plan(const std::vector<const char*>& counters) {
    constexpr const char* doing = "planning how to read counters";
    auto add = XCUDA_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = host_;
    add.ppMetricNames = const_cast<const char**>(counters.data());
    add.numMetrics = counters.size();
    check(cupti_, cupti_.cuptiProfilerHostConfigAddMetrics(&add), doing);
    auto size = XCUDA_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host_;
    check(cupti_, cupti_.cuptiProfilerHostGetConfigImageSize(&size), doing);
    std::vector<std::uint8_t> made(size.configImageSize);
    auto get = XCUDA_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    get.pHostObject = host_;
    get.configImageSize = made.size();
    get.pConfigImage = made.data();
    check(cupti_, cupti_.cuptiProfilerHostGetConfigImage(&get), doing);
    return made;
}

std::vector<double> ProfilerHost::evaluate(const std::vector<std::uint8_t>& image,
                                           const std::vector<const char*>& counters) {
    auto info = XCUDA_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    check(cupti_, cupti_.cuptiRangeProfilerGetCounterDataInfo(&info), "reading counters");
    if (info.numTotalRanges == 0) return {};
    std::vector<double> values(counters.size());
    auto params = XCUDA_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    params.pHostObject = host_;
    params.pCounterDataImage = image.data();
    params.counterDataImageSize = image.size();
    params.ppMetricNames = const_cast<const char**>(counters.data());
    params.numMetrics = counters.size();
    params.pMetricValues = values.data();
    check(cupti_, cupti_.cuptiProfilerHostEvaluateToGpuValues(&params), "reading counters");
    return values;
}

RangeProfiler::RangeProfiler(const Cupti& cupti, CUcontext context, int ordinal,
                             const std::vector<std::vector<std::string>>& wanted)
    : cupti_(cupti) {
    auto chip = XCUDA_PARAMS(CUpti_Device_GetChipName_Params);
    chip.deviceIndex = static_cast<std::size_t>(ordinal);
    check(cupti_, cupti_.cuptiDeviceGetChipName(&chip), "asking for the GPU's chip");
    auto available = XCUDA_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
    available.ctx = context;
    check(cupti_, cupti_.cuptiProfilerGetCounterAvailability(&available), "asking for the GPU's counters");
    std::vector<std::uint8_t> availability(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    check(cupti_, cupti_.cuptiProfilerGetCounterAvailability(&available), "asking for the GPU's counters");
    host_ = std::make_unique<ProfilerHost>(cupti_, chip.pChipName, availability);

    for (const auto& spellings : wanted) {
        place_.push_back(-1);
        for (const std::string& name : spellings) {
            if (!host_->knows(name)) continue;
            place_.back() = static_cast<int>(names_.size());
            names_.push_back(name);
            break;
        }
    }
    for (const std::string& name : names_) asked_.push_back(name.c_str());
    if (asked_.empty()) throw ProfilerError{"the GPU has none of the counters that were asked for"};
    plan_ = host_->plan(asked_);

    auto enable = XCUDA_PARAMS(CUpti_RangeProfiler_Enable_Params);
    enable.ctx = context;
    check(cupti_, cupti_.cuptiRangeProfilerEnable(&enable), "starting to read counters");
    profiler_ = enable.pRangeProfilerObject;
    auto size = XCUDA_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = asked_.data();
    size.numMetrics = asked_.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    check(cupti_, cupti_.cuptiRangeProfilerGetCounterDataSize(&size), "starting to read counters");
    image_.resize(size.counterDataSize);
}

RangeProfiler::~RangeProfiler() {
    auto params = XCUDA_PARAMS(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = profiler_;
    if (profiler_) cupti_.cuptiRangeProfilerDisable(&params);
}

void RangeProfiler::start() {
    constexpr const char* doing = "starting to read counters";
    auto empty = XCUDA_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    empty.pRangeProfilerObject = profiler_;
    empty.counterDataSize = image_.size();
    empty.pCounterData = image_.data();
    check(cupti_, cupti_.cuptiRangeProfilerCounterDataImageInitialize(&empty), doing);
    auto set = XCUDA_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    set.pRangeProfilerObject = profiler_;
    set.configSize = plan_.size();
    set.pConfig = plan_.data();
    set.counterDataImageSize = image_.size();
    set.pCounterDataImage = image_.data();
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_KernelReplay;
    set.maxRangesPerPass = 1;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    check(cupti_, cupti_.cuptiRangeProfilerSetConfig(&set), doing);
    auto params = XCUDA_PARAMS(CUpti_RangeProfiler_Start_Params);
    params.pRangeProfilerObject = profiler_;
    check(cupti_, cupti_.cuptiRangeProfilerStart(&params), doing);
}

std::vector<double> RangeProfiler::stop() {
    auto params = XCUDA_PARAMS(CUpti_RangeProfiler_Stop_Params);
    params.pRangeProfilerObject = profiler_;
    check(cupti_, cupti_.cuptiRangeProfilerStop(&params), "reading counters");
    auto decode = XCUDA_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = profiler_;
    check(cupti_, cupti_.cuptiRangeProfilerDecodeData(&decode), "reading counters");
    if (decode.numOfRangeDropped > 0) return {};  // another thread's kernel came between
    const std::vector<double> read = host_->evaluate(image_, asked_);
    if (read.empty()) return {};
    std::vector<double> values;
    for (const int place : place_)
        values.push_back(place < 0 ? std::numeric_limits<double>::quiet_NaN()
                                   : read[static_cast<std::size_t>(place)]);
    return values;
}

}  // namespace xcuda::device::cuda
