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

// Events of no one's that order two streams: a wait takes an event as it is then, so that recording it anew for others
// changes no wait. Never destroyed by a thread's or the process' end: CUDA may be gone before either.
struct Spare {
    std::mutex mutex;
    std::map<CUcontext, std::vector<CUevent>> events;
};
Spare& spare() {
    static Spare& all = *new Spare;
    return all;
}

/// One of them while it is used; kept for others where it did what it was for.
class OrderEvent {
public:
    explicit OrderEvent(CUcontext context) : context_(context) {
        const std::lock_guard lock(spare().mutex);
        auto& events = spare().events[context];
        if (events.empty()) {
            check(driver().cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "making an event");
            return;
        }
        event_ = events.back();
        events.pop_back();
    }
    ~OrderEvent() {
        if (!used_) {  // by a stream or context that is gone, perhaps with the event
            driver().cuEventDestroy(event_);
            return;
        }
        const std::lock_guard lock(spare().mutex);
        spare().events[context_].push_back(event_);
    }
    OrderEvent(const OrderEvent&) = delete;
    OrderEvent& operator=(const OrderEvent&) = delete;

    void make_wait(CUstream then, const char* doing) {
        check(driver().cuStreamWaitEvent(then, event_, CU_EVENT_WAIT_DEFAULT), doing);
        used_ = true;
    }
    CUevent get() const { return event_; }

private:
    CUcontext context_;
    CUevent event_ = nullptr;
    bool used_ = false;
};

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
    OrderEvent event(context);
    const Driver& d = driver();
    if (first == Device::everything) {
        if (d.cuCtxRecordEvent && d.cuCtxRecordEvent(context, event.get()) == CUDA_SUCCESS) {
            event.make_wait(stream_of(then), "waiting for the GPU");
            return;
        }
        first = legacy;  // an older driver: all but streams that were made to stand beside it
    }
    check(d.cuEventRecord(event.get(), stream_of(first)), "recording an event in another library's stream");
    event.make_wait(stream_of(then), "waiting for another library's stream");
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
