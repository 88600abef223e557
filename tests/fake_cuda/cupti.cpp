// libcupti for tests: subscribers are told of the driver's calls, activity records come in buffers when flushed.
#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "profiling.hpp"

using namespace fake;

namespace {

struct Profiling {
    std::mutex mutex;
    CUpti_CallbackFunc subscriber = nullptr;
    void* user = nullptr;
    std::set<CUpti_CallbackId> calls;
    CUpti_BuffersCallbackRequestFunc want = nullptr;
    CUpti_BuffersCallbackCompleteFunc done = nullptr;
    std::map<CUpti_ActivityKind, std::uint32_t> kinds;  // noted for calls after this one
    std::vector<std::vector<std::uint8_t>> records;
    std::map<Context*, std::int64_t> kernels;
    std::set<std::string> names;  // records point into it
};
Profiling& profiling() {
    static Profiling& all = *new Profiling;
    return all;
}

std::atomic<std::uint32_t> calls{0};
thread_local std::uint32_t this_call = 0;
thread_local OfGraph replaying;

const std::map<std::string, CUpti_CallbackId> numbers = {
    {"cuLaunchKernel", CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
    {"cuLaunchCooperativeKernel", CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel},
    {"cuGraphLaunch", CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
    {"cuMemcpyAsync", CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync},
    {"cuMemcpyHtoDAsync", CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2},
    {"cuMemcpyDtoHAsync", CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2},
    {"cuMemcpyPeerAsync", CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync},
    {"cuMemsetD8Async", CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async},
};

// Seconds of the fake's clock as CUPTI's: another epoch, and another rate.
std::uint64_t there(double seconds) {
    return static_cast<std::uint64_t>(1'700'000'000'000'000'000 +
                                      static_cast<std::int64_t>(seconds * 1.00001e9));
}

CUptiResult answer(const char* function, const std::function<CUptiResult()>& body) {
    const CUresult ordered = enter(function, Needs::nothing, [] { return CUDA_SUCCESS; });
    return ordered != CUDA_SUCCESS ? static_cast<CUptiResult>(ordered) : body();
}

template <class Record>
void add_record(const Record& record) {
    Profiling& p = profiling();
    const std::lock_guard lock(p.mutex);
    const auto kind = p.kinds.find(record.kind);
    if (kind == p.kinds.end() || record.correlationId <= kind->second) return;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
    p.records.emplace_back(bytes, bytes + sizeof record);
}

std::uint32_t number_of(const Stream* stream) {
    if (!stream) return 7;
    const std::lock_guard lock(state().mutex);
    std::uint32_t number = 13;
    for (const auto& [each, held] : state().streams) {
        if (each == stream) return number;
        ++number;
    }
    return 7;  // a context's default stream
}

template <class Record>
void set_common(Record& r, const Done& done) {
    r.deviceId = static_cast<std::uint32_t>(done.context->device);
    r.contextId = 1 + static_cast<std::uint32_t>(done.context->device);
    r.streamId = number_of(done.stream);
    r.correlationId = done.call;
    if (replaying.call) {
        const Options& options = state().options;
        r.correlationId = replaying.call + static_cast<std::uint32_t>(options.astray);
        if (options.no_numbers != 1) {
            r.graphId = replaying.graph;
            r.graphNodeId = std::uint64_t{replaying.graph} << 32 | replaying.node;
        }
    }
    r.start = there(done.begin);
    r.end = there(done.end);
}

std::size_t size_of(const CUpti_Activity& record) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel9);
        case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy5);
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return sizeof(CUpti_ActivityGraphTrace2);
        default: return sizeof(CUpti_ActivityMemset4);
    }
}

}  // namespace

namespace fake {

void profile_call(const char* function) {
    this_call = ++calls;
    Profiling& p = profiling();
    CUpti_CallbackFunc tell = nullptr;
    void* user = nullptr;
    const auto number = numbers.find(function);
    {
        const std::lock_guard lock(p.mutex);
        if (number == numbers.end() || !p.subscriber || !p.calls.contains(number->second)) return;
        tell = p.subscriber, user = p.user;
    }
    CUpti_CallbackData data{};
    data.callbackSite = CUPTI_API_ENTER;
    data.functionName = function;
    data.context = reinterpret_cast<CUcontext>(current());
    data.correlationId = this_call;
    tell(user, CUPTI_CB_DOMAIN_DRIVER_API, number->second, &data);
    data.callbackSite = CUPTI_API_EXIT;
    tell(user, CUPTI_CB_DOMAIN_DRIVER_API, number->second, &data);
}

std::uint32_t call_number() { return this_call; }
Replaying::Replaying(const OfGraph& of) : before_(std::exchange(replaying, of)) {}
Replaying::~Replaying() { replaying = before_; }

/// Whether the kernel has a record of its own.
bool told() {
    Options& options = state().options;
    if (!replaying.call) return true;
    if (options.graphs_whole) return false;
    static std::int64_t count = 0;
    if (options.untold < 0) return ++count % -options.untold != 0;
    return options.untold == 0 || (--options.untold, false);
}

/// One kernel at a time, a graph is measured as one: its first kernel's record has the time of all, no other has any.
void measure_as_one(CUpti_ActivityKernel9& r) {
    Profiling& p = profiling();
    const std::lock_guard lock(p.mutex);
    for (auto& bytes : p.records) {
        auto& first = reinterpret_cast<CUpti_ActivityKernel9&>(*bytes.data());
        if (first.kind != r.kind || first.correlationId != r.correlationId || first.end == 0) continue;
        first.end = r.end;
        r.start = r.end = 0;
        return;
    }
}

void profile_kernel(const Done& done, const std::string& name, const std::array<unsigned, 6>& shape,
                    unsigned shared) {
    Profiling& p = profiling();
    CUpti_ActivityKernel9 r{};
    {
        const std::lock_guard lock(p.mutex);
        ++p.kernels[done.context];
        r.name = p.names.insert(name).first->c_str();
        r.kind = p.kinds.contains(CUPTI_ACTIVITY_KIND_KERNEL) ? CUPTI_ACTIVITY_KIND_KERNEL
                                                              : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    }
    set_common(r, done);
    r.gridX = static_cast<int>(shape[0]), r.gridY = static_cast<int>(shape[1]),
    r.gridZ = static_cast<int>(shape[2]);
    r.blockX = static_cast<int>(shape[3]), r.blockY = static_cast<int>(shape[4]),
    r.blockZ = static_cast<int>(shape[5]);
    r.registersPerThread = 32;
    r.staticSharedMemory = 512;
    r.dynamicSharedMemory = static_cast<int>(shared);
    if (!told()) return;
    if (replaying.call && r.kind == CUPTI_ACTIVITY_KIND_KERNEL) measure_as_one(r);
    add_record(r);
}

void profile_graph(const OfGraph& of, Context* context, Stream* stream) {
    CUpti_ActivityGraphTrace2 r{};
    r.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    r.correlationId = of.call + static_cast<std::uint32_t>(state().options.astray);
    r.graphId = of.graph;
    r.deviceId = static_cast<std::uint32_t>(context->device);
    r.streamId = number_of(stream);
    r.start = r.end = there(now());
    Profiling& p = profiling();
    const std::lock_guard lock(p.mutex);
    if (p.kinds.empty()) return;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&r);
    p.records.emplace_back(bytes, bytes + sizeof r);
}

void profile_copy(const Done& done, const void* to, const void* from, std::size_t bytes) {
    const auto on_device = [](const void* address) {
        const std::lock_guard lock(state().mutex);
        auto at = state().memory.upper_bound(reinterpret_cast<std::uintptr_t>(address));
        if (at == state().memory.begin()) return false;
        --at;
        return at->second.device >= 0 &&
               reinterpret_cast<std::uintptr_t>(address) < at->first + at->second.bytes;
    };
    CUpti_ActivityMemcpy5 r{};
    r.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    set_common(r, done);
    r.copyKind = on_device(to)
                     ? (on_device(from) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
                     : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    r.bytes = bytes;
    add_record(r);
}

void profile_fill(const Done& done, std::size_t bytes) {
    CUpti_ActivityMemset4 r{};
    r.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    set_common(r, done);
    r.bytes = bytes;
    add_record(r);
}

std::int64_t kernels_in(Context* context) {
    const std::lock_guard lock(profiling().mutex);
    return profiling().kernels[context];
}

}  // namespace fake

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
    *version = 130000;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** words) {
    *words = "A_FAKE_RESULT";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
    *time = there(now());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc call, void* user) {
    return answer("cuptiSubscribe", [&] {
        Profiling& p = profiling();
        const std::lock_guard lock(p.mutex);
        if (p.subscriber) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
        p.subscriber = call;
        p.user = user;
        *handle = reinterpret_cast<CUpti_SubscriberHandle>(&p);
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
    return answer("cuptiUnsubscribe", [] {
        const std::lock_guard lock(profiling().mutex);
        if (!profiling().subscriber) return CUPTI_ERROR_INVALID_PARAMETER;
        profiling().subscriber = nullptr;
        profiling().calls.clear();
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId id) {
    return answer("cuptiEnableCallback", [&] {
        const std::lock_guard lock(profiling().mutex);
        if (!profiling().subscriber) return CUPTI_ERROR_INVALID_PARAMETER;
        if (enable)
            profiling().calls.insert(id);
        else
            profiling().calls.erase(id);
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc want,
                                           CUpti_BuffersCallbackCompleteFunc done) {
    return answer("cuptiActivityRegisterCallbacks", [&] {
        const std::lock_guard lock(profiling().mutex);
        profiling().want = want;
        profiling().done = done;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    return answer("cuptiActivityEnable", [&] {
        const std::lock_guard lock(profiling().mutex);
        if (!profiling().want) return CUPTI_ERROR_NOT_INITIALIZED;
        profiling().kinds.emplace(kind, calls.load());
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    return answer("cuptiActivityDisable", [&] {
        const std::lock_guard lock(profiling().mutex);
        profiling().kinds.erase(kind);
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
    return answer("cuptiActivityFlushAll", [] {
        Profiling& p = profiling();
        std::vector<std::vector<std::uint8_t>> ready;
        {
            const std::lock_guard lock(p.mutex);
            if (!p.want || !p.done) return CUPTI_ERROR_NOT_INITIALIZED;
            ready.swap(p.records);
        }
        for (std::size_t next = 0; next < ready.size();) {
            std::uint8_t* buffer = nullptr;
            std::size_t size = 0, most = 0, used = 0;
            p.want(&buffer, &size, &most);
            if (!buffer) return CUPTI_ERROR_OUT_OF_MEMORY;
            for (; next < ready.size() && used + ready[next].size() <= size; ++next) {
                std::memcpy(buffer + used, ready[next].data(), ready[next].size());
                used += ready[next].size();
            }
            p.done(nullptr, 0, buffer, size, used);
        }
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    std::uint8_t* next = *record ? reinterpret_cast<std::uint8_t*>(*record) + size_of(**record) : buffer;
    if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
    *dropped = static_cast<std::size_t>(std::exchange(state().options.drop, 0));
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graph, std::uint32_t* number) {
    return answer("cuptiGetGraphExecId", [&] {
        if (state().options.no_numbers) return CUPTI_ERROR_NOT_INITIALIZED;
        *number = reinterpret_cast<Graph*>(graph)->number;
        return CUPTI_SUCCESS;
    });
}

CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
    *id = number_of(reinterpret_cast<Stream*>(stream));
    return CUPTI_SUCCESS;
}
}
