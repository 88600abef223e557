#include "device/cuda/counters.hpp"

#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "device/cuda/activity.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/lost.hpp"
#include "device/cuda/range_profiler.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr const char* time_counter = "gpu__time_duration.sum";  // ns

using Launched = std::tuple<CUfunction, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            std::int64_t, std::int64_t>;

struct State {
    std::mutex mutex;  // a counted launch has the GPU to itself
    bool on = false;
    std::shared_ptr<const std::vector<Counter>> which;
    int most = 0;  // launches of a kernel and shape
    std::string problem;
    std::map<CUcontext, std::unique_ptr<RangeProfiler>> profilers;
    std::map<Launched, int> launches;
    std::map<const Device::Launch*, std::shared_ptr<const CounterValues>> counted;
};
State& state() {
    static State& the_state = *new State;
    return the_state;
}

std::vector<std::vector<std::string>> wanted(const State& s) {
    std::vector<std::vector<std::string>> names{{time_counter}};
    for (const Counter& counter : *s.which) names.push_back(counter.names);
    return names;
}

RangeProfiler& profiler_of(State& s, CUcontext context) {
    auto& made = s.profilers[context];
    if (!made)
        made = std::make_unique<RangeProfiler>(*find_cupti(), context, device_of(context).value_or(0),
                                               wanted(s));
    return *made;
}

Launched key_of(CUfunction function, const Shape& s) {
    return {function, s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z, s.dynamic_shared_bytes};
}

}  // namespace

// Any word that is such an address: a number that happens to be one costs the counters, and nothing else.
bool SparedHostMemory::names_host_memory(std::span<const std::byte> arguments) {
    for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= arguments.size(); at += sizeof(CUdeviceptr)) {
        CUdeviceptr word = 0;
        std::memcpy(&word, arguments.data() + at, sizeof word);
        unsigned type = 0;
        CUpointer_attribute what = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        void* into = &type;
        if (word != 0 && driver().cuPointerGetAttributes(1, &what, &into, word) == CUDA_SUCCESS &&
            type == CU_MEMORYTYPE_HOST)
            return true;
    }
    return false;
}

void CountedLaunch::begin(CUcontext context, CUfunction function, const Shape& shape,
                          const Device::Launch& launch) {
    if (shape.print_words > 0 || SparedHostMemory::spared()) return;  // each pass would print, or write anew
    State& s = state();
    s.mutex.lock();
    if (!s.on || !s.problem.empty() || s.launches[key_of(function, shape)] >= s.most) return s.mutex.unlock();
    try {
        profiler_of(s, context).start();
    } catch (const ProfilerError& error) {
        s.problem = error.problem;
        return s.mutex.unlock();
    }
    ++s.launches[key_of(function, shape)];
    launch_ = &launch;
    context_ = context;
}

void CountedLaunch::end() noexcept {
    State& s = state();
    try {
        auto& into = s.counted[launch_] = nullptr;
        const std::vector<double> values = profiler_of(s, context_).stop();
        if (!values.empty()) {
            auto read = std::make_shared<CounterValues>();
            read->of = s.which;
            read->seconds = values[0] * 1e-9;
            for (std::size_t i = 1; i < values.size(); ++i)
                read->values.push_back(values[i] * (*s.which)[i - 1].scale);
            into = std::move(read);
        }
    } catch (const ProfilerError& error) {
        s.problem = error.problem;
    } catch (...) {
        s.problem = "there was no memory to read counters into";
    }
    s.mutex.unlock();
}

std::string start_counting(std::vector<Counter> which, int launches) {
    std::string why, advice;
    const Cupti* c = find_cupti(&why, &advice);
    if (!c) return fmt::format("CUPTI, which reads hardware counters, was not found ({}): {}", why, advice);
    if (!c->no_counters.empty()) return c->no_counters;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.on) return "hardware counters are being read already: profile one thing at a time";
    pause_watching(true);
    CUpti_Profiler_Initialize_Params params{};
    params.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    if (const CUptiResult r = c->cuptiProfilerInitialize(&params); r != CUPTI_SUCCESS) {
        pause_watching(false);
        return cupti_problem(*c, r, "starting to read counters");
    }
    s.which = std::make_shared<const std::vector<Counter>>(std::move(which));
    s.most = launches;
    s.problem.clear();
    s.on = true;
    counting = true;
    return {};
}

void stop_counting() noexcept {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    counting = false;
    s.on = false;
    s.profilers.clear();
    s.launches.clear();
    s.counted.clear();
    s.which.reset();
    CUpti_Profiler_DeInitialize_Params params{};
    params.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
    if (const Cupti* c = find_cupti()) c->cuptiProfilerDeInitialize(&params);
    pause_watching(false);
}

std::string counting_problem() {
    const std::lock_guard lock(state().mutex);
    return state().problem;
}

std::map<const Device::Launch*, std::shared_ptr<const CounterValues>> counted_launches() {
    const std::lock_guard lock(state().mutex);
    return state().counted;
}

std::vector<bool> known_counters(const std::string& chip, const std::vector<std::string>& names) {
    std::string why, advice;
    const Cupti* c = find_cupti(&why, &advice);
    if (!c) throw missing("CUPTI (" + why + ")", advice);
    if (!c->no_counters.empty())
        throw missing("hardware counters: " + c->no_counters, "install a newer CUPTI");
    std::vector<bool> known;
    try {
        const ProfilerHost host(*c, chip.c_str(), {});
        for (const std::string& name : names) known.push_back(host.knows(name));
    } catch (const ProfilerError& error) {
        throw missing("counters of " + chip + ": " + error.problem, "ask for another chip");
    }
    return known;
}

}  // namespace xcuda::device::cuda
