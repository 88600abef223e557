#include "device/cuda/activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "device/cuda/activity_records.hpp"
#include "device/cuda/context.hpp"
#include "device/cuda/cupti.hpp"
#include "device/cuda/queue.hpp"
#include "device/cuda/wait.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr std::size_t most_records = 1 << 18;
constexpr std::size_t buffer_bytes = 1 << 20;
constexpr double longest_wait = 10;  // seconds, for work whose record would be lost

constexpr CUpti_CallbackId own_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,       CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,        CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
};
constexpr CUpti_ActivityKind beside_kernels[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                                 CUPTI_ACTIVITY_KIND_MEMSET};

/// One moment on both clocks.
struct Moment {
    std::uint64_t there = 0;  // ns of CUPTI's
    double here = 0;          // base/clock
};

struct State {
    std::mutex switching;  // while it is started, stopped or paused; taken before
    std::mutex mutex;      // of the records; never held while CUPTI is called
    int watches = 0;
    bool paused = false;
    std::atomic<bool> overlapping = false;
    // Another library replays graphs: later watches let kernels overlap from the start. Under `mutex`.
    bool graphs_met = false;
    CUpti_SubscriberHandle subscriber = nullptr;
    Moment begun;
    KernelNames names;
    std::vector<RawActivity> records;
    std::unordered_map<std::uint32_t, const Device::Launch*> ours;  // by correlation; null: not a launch
    std::map<const Device::Launch*, std::uint32_t> replays;         // of graphs, with the graph's number
    std::uint64_t lost = 0;
};
// Never destroyed: CUPTI's threads may call back while the process exits.
State& state() {
    static State& the_state = *new State;
    return the_state;
}

Moment moment(const Cupti& c) {
    Moment best;
    double closest = 1;
    for (int i = 0; i < 5; ++i) {
        Moment m;
        const double before = now();
        if (c.cuptiGetTimestamp(&m.there) != CUPTI_SUCCESS) continue;
        const double after = now();
        m.here = (before + after) / 2;
        if (after - before < closest) closest = after - before, best = m;
    }
    return best;
}

// The driver is about to be asked for something: by this library where its context is entered on this thread.
void on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (call->callbackSite != CUPTI_API_ENTER || !Current::here()) return;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.ours.size() < most_records) s.ours[call->correlationId] = Launching::now();
}

void want_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
    *bytes = *buffer ? buffer_bytes : 0;
    *most = 0;
}

void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                 std::size_t valid) {
    const Cupti* c = find_cupti();
    State& s = state();
    if (c && watching.load()) {
        const std::lock_guard lock(s.mutex);
        CUpti_Activity* record = nullptr;
        while (c->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
            auto raw = read_record(*record, s.names);
            if (!raw) continue;
            s.graphs_met |= raw->kernel && raw->node != 0 && !s.overlapping;
            if (s.records.size() < most_records)
                s.records.push_back(std::move(*raw));
            else
                ++s.lost;
        }
        std::size_t dropped = 0;
        if (c->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
            s.lost += dropped;
    }
    std::free(buffer);
}

CUptiResult enable_kinds(const Cupti& c, const State& s) {
    CUptiResult first = CUPTI_SUCCESS;
    const auto enable = [&](CUpti_ActivityKind kind) {
        if (const CUptiResult r = c.cuptiActivityEnable(kind); r != CUPTI_SUCCESS && first == CUPTI_SUCCESS)
            first = r;
    };
    enable(s.overlapping ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL);
    for (const CUpti_ActivityKind kind : beside_kernels) enable(kind);
    return first;
}

void disable_kinds(const Cupti& c, const State& s) {
    c.cuptiActivityDisable(s.overlapping ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                         : CUPTI_ACTIVITY_KIND_KERNEL);
    for (const CUpti_ActivityKind kind : beside_kernels) c.cuptiActivityDisable(kind);
}

bool graphs_met(State& s) {
    const std::lock_guard lock(s.mutex);
    return s.graphs_met;
}

void clear(State& s) {
    const std::lock_guard lock(s.mutex);
    s.records.clear();
    s.records.shrink_to_fit();
    s.ours.clear();
    s.replays.clear();
    s.lost = 0;
}

/// Calls `use` with each GPU's context that is in use in this process, made current.
template <class Use>
void each_context(Use use) {
    const Driver* d = find_driver();
    int count = 0;
    if (!d || d->cuDeviceGetCount(&count) != CUDA_SUCCESS) return;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        CUdevice device = 0;
        unsigned flags = 0;
        int active = 0;
        if (d->cuDeviceGet(&device, ordinal) != CUDA_SUCCESS || lost_by(device) != 0 ||
            d->cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active)
            continue;
        CUcontext context = primary_context(device);
        const Current here(context);
        use(*d, ordinal, context);
    }
}

/// Until all that the GPU was asked for is done, at most `until` (base/clock). The context is current.
void wait_for_all(const Driver& d, CUcontext context, double until) {
    CUevent event = nullptr;
    if (d.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
    const CUresult recorded =
        d.cuCtxRecordEvent ? d.cuCtxRecordEvent(context, event) : d.cuEventRecord(event, CU_STREAM_LEGACY);
    try {
        if (recorded == CUDA_SUCCESS)
            wait_until(
                [&] {
                    const CUresult result = d.cuEventQuery(event);
                    return result == CUDA_ERROR_NOT_READY && now() > until ? CUDA_SUCCESS : result;
                },
                "waiting for the GPU");
    } catch (...) {
        d.cuEventDestroy(event);
        throw;
    }
    d.cuEventDestroy(event);
}

using Replay = std::pair<std::uint32_t, std::uint32_t>;  // the graph's number, the call's

/// Of graphs' replays that were measured as one, which shows by kernels without a time: the time of all, or null.
template <class Time>
std::map<Replay, std::shared_ptr<const Device::Launch>> measured_as_one(
    const std::vector<RawActivity>& records, Time time) {
    std::map<Replay, std::shared_ptr<const Device::Launch>> out;
    for (const RawActivity& r : records)
        if (r.kernel && r.node != 0 && r.end == 0) out[{r.graph, r.correlation}] = nullptr;
    if (out.empty()) return out;
    for (const RawActivity& r : records) {
        const auto found = out.find({r.graph, r.correlation});
        if (!r.kernel || r.node == 0 || r.end == 0 || found == out.end()) continue;
        auto all = std::make_shared<Device::Launch>();
        const auto& before = found->second;
        all->begin = before ? std::min(before->begin, time(r.begin)) : time(r.begin);
        all->end = before ? std::max(before->end, time(r.end)) : time(r.end);
        all->done = true;
        found->second = std::move(all);
    }
    return out;
}

}  // namespace

std::string start_watching(bool overlapping) {
    State& s = state();
    const std::lock_guard lock(s.switching);
    if (s.watches > 0) return ++s.watches, std::string();
    std::string why, advice;
    const Cupti* c = find_cupti(&why, &advice);
    if (!c)
        return fmt::format("CUPTI, which sees other libraries' kernels, was not found ({}): {}", why, advice);
    CUptiResult result = c->cuptiSubscribe(&s.subscriber, on_call, nullptr);
    if (result != CUPTI_SUCCESS) return cupti_problem(*c, result, "starting to watch the GPU");
    s.overlapping = overlapping || graphs_met(s);
    clear(s);
    watching = true;
    result = c->cuptiActivityRegisterCallbacks(want_buffer, take_buffer);
    for (const CUpti_CallbackId call : own_calls)
        if (result == CUPTI_SUCCESS)
            result = c->cuptiEnableCallback(1, s.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call);
    if (result == CUPTI_SUCCESS) result = enable_kinds(*c, s);
    if (result == CUPTI_SUCCESS) {
        s.begun = moment(*c);
        s.watches = 1;
        return {};
    }
    watching = false;
    disable_kinds(*c, s);
    c->cuptiUnsubscribe(s.subscriber);
    return cupti_problem(*c, result, "starting to watch the GPU");
}

void stop_watching() noexcept {
    State& s = state();
    const std::lock_guard lock(s.switching);
    if (--s.watches > 0) return;
    if (const Cupti* c = find_cupti()) {
        if (!s.paused) disable_kinds(*c, s);
        c->cuptiUnsubscribe(s.subscriber);
    }
    watching = false;
    clear(s);
}

// One kernel at a time, CUPTI (13.0, H200) measures a graph as one: its first kernel's record has the time of all, the
// others' have none. So from the first replay on kernels may overlap, and each of a graph's has its own time.
void let_graphs_be_told() {
    State& s = state();
    const std::lock_guard lock(s.switching);
    if (s.watches == 0 || s.overlapping) return;
    const Cupti* c = find_cupti();
    if (!c) return;
    if (s.paused) {
        s.overlapping = true;
        return;
    }
    const double until = now() + longest_wait;
    each_context([&](const Driver& d, int, CUcontext context) { wait_for_all(d, context, until); });
    c->cuptiActivityFlushAll(0);
    c->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_KERNEL);
    s.overlapping = c->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
    if (!s.overlapping) c->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL);
}

void pause_watching(bool paused) {
    State& s = state();
    const std::lock_guard lock(s.switching);
    const Cupti* c = find_cupti();
    if (c && s.watches > 0 && paused && !s.paused) {
        const double until = now() + longest_wait;
        each_context([&](const Driver& d, int, CUcontext context) { wait_for_all(d, context, until); });
        c->cuptiActivityFlushAll(0);
        disable_kinds(*c, s);
    }
    if (c && s.watches > 0 && !paused && s.paused) enable_kinds(*c, s);
    s.paused = paused;
}

void note_replay(const Device::Launch& launch, CUgraphExec graph) {
    const Cupti* c = find_cupti();
    std::uint32_t number = 0;
    if (!c || !c->cuptiGetGraphExecId || c->cuptiGetGraphExecId(graph, &number) != CUPTI_SUCCESS) number = 0;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.replays.size() < most_records) s.replays[&launch] = number;
}

bool watch_overlaps() {
    const std::lock_guard lock(state().switching);
    return state().overlapping;
}

std::string watch_source() {
    const Cupti* c = find_cupti();
    if (!c) return {};
    return c->version >= 130000 ? fmt::format("CUPTI {}.{}", c->version / 10000, c->version / 100 % 100)
                                : fmt::format("CUPTI of CUDA {}", c->found.major);
}

void look_at_launches() {
    each_context([](const Driver&, int, CUcontext context) { Queue::poll_all(context); });
}

Activities watched_since(double from, double seconds) {
    State& s = state();
    Activities out;
    const Cupti* c = find_cupti();
    if (!c) return out;
    const double until = now() + seconds;
    each_context([&](const Driver& d, int ordinal, CUcontext context) {
        wait_for_all(d, context, until);
        std::uint32_t id = 0;
        if (c->cuptiGetStreamIdEx(context, nullptr, 0, &id) == CUPTI_SUCCESS)
            out.default_streams[ordinal] = id;
    });
    c->cuptiActivityFlushAll(0);
    // The clocks run apart a little: a moment at either end.
    const Moment begun = s.begun, ended = moment(*c);
    const double there = static_cast<double>(static_cast<std::int64_t>(ended.there - begun.there));
    const double rate = there > 0 ? (ended.here - begun.here) / there : 1e-9;
    const auto time = [&](std::uint64_t t) {
        return begun.here + static_cast<double>(static_cast<std::int64_t>(t - begun.there)) * rate;
    };
    const std::lock_guard lock(s.mutex);
    out.lost = s.lost;
    out.replays = s.replays;
    const auto wholes = measured_as_one(s.records, time);
    for (const RawActivity& r : s.records) {
        const auto one = wholes.find({r.graph, r.correlation});
        const bool whole = r.kernel && r.node != 0 && one != wholes.end();
        if (r.end == 0 && (!whole || !one->second)) continue;  // nothing is known of its time
        const double begin = whole ? one->second->begin : time(r.begin);
        if (begin < from) continue;
        const auto own = s.ours.find(r.correlation);
        const bool ours = own != s.ours.end();
        const bool launched = ours && r.kind == Activity::Kind::kernel;
        out.seen.push_back({r.kind, ours, r.ordinal, r.stream, begin, whole ? one->second->end : time(r.end),
                            r.bytes, launched ? own->second : nullptr, r.correlation, r.kernel, r.node,
                            r.graph, whole ? one->second : nullptr});
    }
    std::stable_sort(out.seen.begin(), out.seen.end(),
                     [](const Activity& a, const Activity& b) { return a.begin < b.begin; });
    return out;
}

}  // namespace xcuda::device::cuda
