// Streams, events, callbacks, graphs. All work runs in the order of the calls, on one thread.
#include <algorithm>

#include "profiling.hpp"
#include "state.hpp"

using namespace fake;

namespace {

/// The last work that a stream's end stands for: a default stream waits for those that wait for it.
std::uint64_t end_of(CUstream handle, const Stream& stream) {
    std::uint64_t end = stream.last;
    if (handle == nullptr || handle == CU_STREAM_LEGACY)
        for (const auto& [key, other] : state().streams)
            if (other->context == stream.context && !(other->flags & CU_STREAM_NON_BLOCKING))
                end = std::max(end, other->last);
    return end;
}

Event* event_of(CUevent handle) {
    const auto at = state().events.find(reinterpret_cast<Event*>(handle));
    return at == state().events.end() ? nullptr : at->second.get();
}

/// Waits, then tells what the context then answers.
CUresult wait_for(std::uint64_t until, Context* context) {
    std::unique_lock lock(state().mutex);
    state().changed.wait(lock, [&] { return state().done >= until; });
    return context->alive ? context->broken : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

}  // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    return enter("cuStreamCreateWithPriority", Needs::context, [&] {
        auto made = std::make_unique<Stream>(Stream{current(), flags, priority, 0, nullptr});
        *stream = reinterpret_cast<CUstream>(made.get());
        state().streams[made.get()] = std::move(made);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream) {
    return enter("cuStreamDestroy", Needs::context, [&] {
        return state().streams.erase(reinterpret_cast<Stream*>(stream)) ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_HANDLE;
    });
}

CUresult cuStreamQuery(CUstream handle) {
    if (state().options.idle) return CUDA_SUCCESS;
    return enter("cuStreamQuery", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        return state().done >= end_of(handle, *stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuStreamSynchronize(CUstream handle) {
    std::uint64_t until = 0;
    const CUresult result = enter("cuStreamSynchronize", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        until = end_of(handle, *stream);
        return CUDA_SUCCESS;
    });
    return result == CUDA_SUCCESS ? wait_for(until, current()) : result;
}

// The order of the calls is the order of the work: nothing is left to wait for.
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    return enter("cuStreamWaitEvent", Needs::context, [&] {
        return stream_of(handle) && event_of(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
    return enter("cuStreamGetFlags", Needs::context, [&] {
        const Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        *flags = stream->flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
    return enter("cuStreamGetPriority", Needs::context, [&] {
        const Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        *priority = stream->priority;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
    return enter("cuStreamGetCtx", Needs::context, [&] {
        const Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        *context = reinterpret_cast<CUcontext>(stream->context);
        return CUDA_SUCCESS;
    });
}

// Not called where the context is broken by then, as the driver has it.
CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
    return enter("cuLaunchHostFunc", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        add(*stream, [=] { function(data); });
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data, unsigned) {
    return enter("cuStreamAddCallback", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        Context* context = stream->context;
        const auto call = [=] {
            CUresult status;
            {
                const std::lock_guard lock(state().mutex);
                status = context->alive ? context->broken : CUDA_ERROR_CONTEXT_IS_DESTROYED;
            }
            function(handle, status, data);
        };
        add(*stream, call, true);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
    return enter("cuEventCreate", Needs::context, [&] {
        auto made = std::make_unique<Event>(Event{current(), !(flags & CU_EVENT_DISABLE_TIMING), 0, 0});
        *event = reinterpret_cast<CUevent>(made.get());
        state().events[made.get()] = std::move(made);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventDestroy(CUevent event) {
    return enter("cuEventDestroy", Needs::context, [&] {
        return state().events.erase(reinterpret_cast<Event*>(event)) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_HANDLE;
    });
}

CUresult cuEventRecord(CUevent handle, CUstream where) {
    if (state().options.idle) return CUDA_SUCCESS;
    return enter("cuEventRecord", Needs::context, [&] {
        Stream* stream = stream_of(where);
        Event* event = event_of(handle);
        if (!stream || !event) return CUDA_ERROR_INVALID_HANDLE;
        const bool captured = stream->capturing != nullptr;
        add(*stream, [handle] {
            const double time = now();
            const std::lock_guard lock(state().mutex);
            if (Event* still = event_of(handle)) still->time = time;
        });
        if (!captured) event->at = stream->last;
        return CUDA_SUCCESS;
    });
}

CUresult cuEventQuery(CUevent handle) {
    if (state().options.idle) return CUDA_SUCCESS;
    return enter("cuEventQuery", Needs::context, [&] {
        const Event* event = event_of(handle);
        if (!event) return CUDA_ERROR_INVALID_HANDLE;
        return state().done >= event->at ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuEventSynchronize(CUevent handle) {
    std::uint64_t until = 0;
    const CUresult result = enter("cuEventSynchronize", Needs::context, [&] {
        const Event* event = event_of(handle);
        if (!event) return CUDA_ERROR_INVALID_HANDLE;
        until = event->at;
        return CUDA_SUCCESS;
    });
    return result == CUDA_SUCCESS ? wait_for(until, current()) : result;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
    if (state().options.idle) return *milliseconds = 0.002f, CUDA_SUCCESS;
    return enter("cuEventElapsedTime", Needs::context, [&] {
        const Event *a = event_of(from), *b = event_of(to);
        if (!a || !b || !a->timing || !b->timing || a->at == 0 || b->at == 0)
            return CUDA_ERROR_INVALID_HANDLE;
        if (state().done < a->at || state().done < b->at) return CUDA_ERROR_NOT_READY;
        *milliseconds = static_cast<float>((b->time - a->time) * 1e3);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
    return enter("cuStreamBeginCapture", Needs::context, [&] {
        Stream* stream = handle ? stream_of(handle) : nullptr;
        if (!stream || stream->capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        stream->capturing = std::make_unique<Graph>();
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
    return enter("cuStreamEndCapture", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        if (!stream || !stream->capturing) return CUDA_ERROR_ILLEGAL_STATE;
        Graph* made = stream->capturing.release();
        state().graphs.insert(made);
        *graph = reinterpret_cast<CUgraph>(made);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    return enter("cuStreamIsCapturing", Needs::context, [&] {
        const Stream* stream = stream_of(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        *status = stream->capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
        return CUDA_SUCCESS;
    });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    thread_local CUstreamCaptureMode before = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::swap(before, *mode);
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode*, std::size_t* count) {
    return enter("cuGraphGetNodes", Needs::driver, [&] {
        *count = reinterpret_cast<Graph*>(graph)->work.size();
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long) {
    return enter("cuGraphInstantiateWithFlags", Needs::driver, [&] {
        static std::uint32_t number = 4;
        auto* copy = new Graph(*reinterpret_cast<Graph*>(graph));
        copy->number = ++number;
        state().graphs.insert(copy);
        *made = reinterpret_cast<CUgraphExec>(copy);
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphUpload(CUgraphExec, CUstream) {
    return enter("cuGraphUpload", Needs::context, [] { return CUDA_SUCCESS; });
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream handle) {
    if (state().options.idle) return CUDA_SUCCESS;
    return enter("cuGraphLaunch", Needs::context, [&] {
        Stream* stream = stream_of(handle);
        auto* work = reinterpret_cast<Graph*>(graph);
        if (!stream || !state().graphs.contains(work)) return CUDA_ERROR_INVALID_HANDLE;
        const std::uint32_t call = call_number();
        std::uint32_t node = 0;
        for (const auto& each : work->work)
            add(*stream, [each, of = OfGraph{call, work->number, ++node}] {
                const Replaying now(of);
                each();
            });
        if (state().options.graphs_whole)
            add(*stream, [of = OfGraph{call, work->number, 0}, context = stream->context, stream] {
                profile_graph(of, context, stream);
            });
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphExecDestroy(CUgraphExec graph) {
    return enter("cuGraphExecDestroy", Needs::driver, [&] {
        auto* held = reinterpret_cast<Graph*>(graph);
        if (!state().graphs.erase(held)) return CUDA_ERROR_INVALID_HANDLE;
        delete held;
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphDestroy(CUgraph graph) {
    return enter("cuGraphDestroy", Needs::driver, [&] {
        auto* held = reinterpret_cast<Graph*>(graph);
        if (!state().graphs.erase(held)) return CUDA_ERROR_INVALID_HANDLE;
        delete held;
        return CUDA_SUCCESS;
    });
}
}
