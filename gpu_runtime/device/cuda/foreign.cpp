#include "device/cuda/foreign.hpp"

#include <map>
#include <utility>
#include <vector>

#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr std::uintptr_t legacy = 1, per_thread = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD

// The streams in use by number; those that are one thread's own are not among them.
struct Known {
    std::mutex mutex;
    std::map<std::pair<CUcontext, std::uintptr_t>, std::weak_ptr<CudaStream>> streams;
};
Known& known() {
    static Known& all = *new Known;
    return all;
}

CUstream stream_of(std::uintptr_t handle) { return reinterpret_cast<CUstream>(handle); }

// Kept for the thread's next call: a wait takes the event as it is then, and recording it anew changes no wait.
CUevent event_for_order(CUcontext context) {
    struct Made {
        std::vector<std::pair<CUcontext, CUevent>> events;
        ~Made() {
            for (const auto& made : events) driver().cuEventDestroy(made.second);
        }
    };
    thread_local Made made;
    for (const auto& [of, event] : made.events)
        if (of == context) return event;
    CUevent event = nullptr;
    check(driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "making an event");
    made.events.emplace_back(context, event);
    return event;
}

}  // namespace

std::shared_ptr<Stream> own_stream(CUcontext context, CUstream stream) {
    auto made = std::make_shared<CudaStream>(Queue::make(context, stream, true));
    Known& k = known();
    const std::lock_guard lock(k.mutex);
    std::erase_if(k.streams, [](const auto& entry) { return entry.second.expired(); });
    k.streams[{context, reinterpret_cast<std::uintptr_t>(stream)}] = made;
    return made;
}

std::shared_ptr<Stream> adopt_stream(CUcontext context, std::uintptr_t handle, std::shared_ptr<void> owner) {
    if (handle <= legacy) return nullptr;
    if (handle == per_thread) {
        thread_local std::vector<std::pair<CUcontext, std::weak_ptr<CudaStream>>> mine;
        for (const auto& [of, weak] : mine)
            if (auto found = weak.lock(); found && of == context) return found;
        auto made = std::make_shared<CudaStream>(Queue::make(context, stream_of(handle), false));
        made->thread = std::this_thread::get_id();
        std::erase_if(mine, [](const auto& entry) { return entry.second.expired(); });
        mine.emplace_back(context, made);
        return made;
    }
    Known& k = known();
    std::shared_ptr<CudaStream> stream;
    {
        const std::lock_guard lock(k.mutex);
        auto& entry = k.streams[{context, handle}];
        stream = entry.lock();
        if (!stream)
            entry = stream = std::make_shared<CudaStream>(Queue::make(context, stream_of(handle), false));
    }
    stream->queue->hold(std::move(owner));
    return stream;
}

void order_streams(CUcontext context, std::uintptr_t first, std::uintptr_t then) {
    first = first == 0 ? legacy : first;
    then = then == 0 ? legacy : then;
    if (first == then) return;
    const CUevent event = event_for_order(context);
    const Driver& d = driver();
    if (first == Device::everything) {
        if (d.cuCtxRecordEvent && d.cuCtxRecordEvent(context, event) == CUDA_SUCCESS) {
            check(d.cuStreamWaitEvent(stream_of(then), event, CU_EVENT_WAIT_DEFAULT), "waiting for the GPU");
            return;
        }
        first = legacy;  // an older driver: all but streams that were made to stand beside it
    }
    check(d.cuEventRecord(event, stream_of(first)), "recording an event in another library's stream");
    check(d.cuStreamWaitEvent(stream_of(then), event, CU_EVENT_WAIT_DEFAULT),
          "waiting for another library's stream");
}

namespace {

/// Asks the driver, which answers some questions in a context only: in any one, where the thread has none.
template <class Ask>
CUresult ask_somewhere(Ask ask) {
    const CUresult result = ask();
    if (result != CUDA_ERROR_INVALID_CONTEXT) return result;
    const Current here(primary_context(0));
    return ask();
}

}  // namespace

std::optional<int> ordinal_of_memory(const void* address) {
    int ordinal = 0;
    unsigned type = 0;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* into[] = {&type, &ordinal};
    const CUresult result = ask_somewhere([&] {
        return driver().cuPointerGetAttributes(2, what, into, reinterpret_cast<CUdeviceptr>(address));
    });
    if (result != CUDA_SUCCESS || type == 0) return std::nullopt;
    return ordinal;
}

std::optional<int> ordinal_of_stream(std::uintptr_t handle) {
    const Driver& d = driver();
    CUcontext context = nullptr;
    CUdevice device = 0;
    if (handle <= per_thread) return std::nullopt;
    if (ask_somewhere([&] { return d.cuStreamGetCtx(stream_of(handle), &context); }) != CUDA_SUCCESS)
        return std::nullopt;
    const Current here(context);
    if (d.cuCtxGetDevice(&device) != CUDA_SUCCESS) return std::nullopt;
    return device;
}

}  // namespace xcuda::device::cuda
