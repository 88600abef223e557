#include "device/cuda/copies.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "device/cuda/context.hpp"
#include "device/cuda/wait.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr std::size_t chunk = 1 << 20;
constexpr std::size_t staged_from = 8 << 20;  // below, the driver's own way is as fast
constexpr std::size_t taken_at_once =
    64 << 10;  // CUDA's guide, Asynchronous Concurrent Execution: no wait up to 64 KB
constexpr std::size_t most_threads = 8;

std::size_t thread_count() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, most_threads);
}

char* pinned(std::size_t bytes) {
    void* memory = nullptr;
    check(driver().cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE),
          "getting pinned memory for copies");
    return static_cast<char*>(memory);
}

CUdeviceptr address(const void* on_device) { return reinterpret_cast<CUdeviceptr>(on_device); }

// Buffers of one chunk for copies by callbacks, which give them back from the driver's thread.
struct Store {
    std::mutex mutex;
    std::vector<char*> idle;
};
Store& store() {
    static Store& all = *new Store;
    return all;
}

char* take_buffer() {
    {
        const std::lock_guard lock(store().mutex);
        if (!store().idle.empty()) {
            char* buffer = store().idle.back();
            store().idle.pop_back();
            return buffer;
        }
        store().idle.reserve(store().idle.capacity() + 1);  // giving back allocates nothing
    }
    return pinned(chunk);
}

// One step of such a copy: moves bytes, then gives the buffer back if it was the last.
struct Step {
    void* to;
    const void* from;
    std::size_t bytes;
    char* give_back;
};
void make_step(void* held) {
    const std::unique_ptr<Step> step(static_cast<Step*>(held));
    if (step->bytes > 0) std::memcpy(step->to, step->from, step->bytes);
    if (!step->give_back) return;
    const std::lock_guard lock(store().mutex);
    store().idle.push_back(step->give_back);
}
void add_step(CUstream stream, const Step& made) {
    auto step = std::make_unique<Step>(made);
    check(driver().cuLaunchHostFunc(stream, make_step, step.get()), "adding a copy to a stream");
    step.release();
}

}  // namespace

bool is_known_to_driver(const void* host) {
    // The plural: it gives 0 for memory the driver does not know, where the singular is an error.
    unsigned type = 0;
    CUpointer_attribute what = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void* into = &type;
    return driver().cuPointerGetAttributes(1, &what, &into, address(host)) == CUDA_SUCCESS && type != 0;
}

void* allocate_pinned(std::size_t bytes) { return pinned(std::max<std::size_t>(bytes, 1)); }
void release_pinned(void* address) noexcept { driver().cuMemFreeHost(address); }
void pin(void* address, std::size_t bytes) {
    check(driver().cuMemHostRegister(address, bytes, CU_MEMHOSTREGISTER_PORTABLE), "pinning host memory");
}
void unpin(void* address) noexcept { driver().cuMemHostUnregister(address); }

// Each thread takes a chunk at a time through two buffers of its own; the stream is idle, so none waits for long.
void Staging::by_threads(Way way, char* host, CUdeviceptr device, std::size_t bytes, CUstream stream) {
    const Driver& d = driver();
    const std::lock_guard lock(mutex_);
    const std::size_t threads = std::min(thread_count(), (bytes + chunk - 1) / chunk);
    while (buffers_.size() < 2 * threads) {
        Buffer made{pinned(chunk), nullptr};
        if (const CUresult result = d.cuEventCreate(&made.free, CU_EVENT_DISABLE_TIMING);
            result != CUDA_SUCCESS) {
            d.cuMemFreeHost(made.memory);
            throw driver_error(result, "making an event");
        }
        buffers_.push_back(made);
    }
    CUcontext context = nullptr;
    check(d.cuCtxGetCurrent(&context), "asking for the current context");
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stopped{false};
    std::exception_ptr error;
    const auto work = [&](std::size_t thread) {
        try {
            const Current here(context);
            struct Flight {
                Buffer* buffer;
                std::size_t at = 0, size = 0;
            } flights[2] = {{&buffers_[2 * thread]}, {&buffers_[2 * thread + 1]}};
            const auto land = [&](Flight& f) {  // a chunk is in its buffer: on to the host
                if (f.size == 0) return;
                check(d.cuEventSynchronize(f.buffer->free), "copying to the host");
                std::memcpy(host + f.at, f.buffer->memory, std::exchange(f.size, 0));
            };
            for (int turn = 0;; turn ^= 1) {
                Flight& f = flights[turn];
                const std::size_t at = next.fetch_add(chunk);
                if (at >= bytes || stopped.load()) break;
                const std::size_t size = std::min(chunk, bytes - at);
                if (way == Way::in) {
                    check(d.cuEventSynchronize(f.buffer->free), "copying to the GPU");
                    std::memcpy(f.buffer->memory, host + at, size);
                    check(d.cuMemcpyHtoDAsync(device + at, f.buffer->memory, size, stream),
                          "copying to the GPU");
                } else {
                    land(f);
                    check(d.cuMemcpyDtoHAsync(f.buffer->memory, device + at, size, stream),
                          "copying to the host");
                    f.at = at, f.size = size;
                }
                check(d.cuEventRecord(f.buffer->free, stream), "recording an event");
            }
            for (Flight& f : flights) land(f);
        } catch (...) {
            if (!stopped.exchange(true)) error = std::current_exception();
        }
    };
    std::vector<std::jthread> others;
    try {
        for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
    } catch (const std::system_error&) {
        // Fewer threads do it too.
    }
    work(0);
    others.clear();
    if (error) std::rethrow_exception(error);
}

// One buffer in the stream's own order: a callback fills it, a copy empties it, and so on.
void Staging::by_callbacks(Way way, char* host, CUdeviceptr device, std::size_t bytes, CUstream stream) {
    const Driver& d = driver();
    char* const buffer = take_buffer();
    for (std::size_t at = 0; at < bytes; at += chunk) {
        const std::size_t part = std::min(chunk, bytes - at);
        const bool last = at + part == bytes;
        if (way == Way::in) {
            add_step(stream, {buffer, host + at, part, nullptr});
            check(d.cuMemcpyHtoDAsync(device + at, buffer, part, stream), "copying to the GPU");
            if (last) add_step(stream, {nullptr, nullptr, 0, buffer});
        } else {
            check(d.cuMemcpyDtoHAsync(buffer, device + at, part, stream), "copying to the host");
            add_step(stream, {host + at, buffer, part, last ? buffer : nullptr});
        }
    }
}

void Staging::to_device(void* to, const void* from, std::size_t bytes, Queue& queue, bool waits) {
    const Driver& d = driver();
    const CUstream stream = queue.stream();
    if (is_known_to_driver(from)) {
        check(d.cuMemcpyHtoDAsync(address(to), from, bytes, stream), "copying to the GPU");
        if (waits) queue.wait();
        return;
    }
    // The driver has a copy of it when this returns, and waits for nothing. Else it is read in the stream's own order.
    if (waits && bytes <= taken_at_once)
        return check(d.cuMemcpyHtoDAsync(address(to), from, bytes, stream), "copying to the GPU");
    auto* host = const_cast<char*>(static_cast<const char*>(from));
    if (!queue.poll()) {
        if (!waits) return by_callbacks(Way::in, host, address(to), bytes, stream);
        queue.wait();
    }
    if (bytes >= staged_from) return by_threads(Way::in, host, address(to), bytes, stream);
    check(d.cuMemcpyHtoDAsync(address(to), from, bytes, stream), "copying to the GPU");
}

void Staging::to_host(void* to, const void* from, std::size_t bytes, Queue& queue, bool waits) {
    const Driver& d = driver();
    const CUstream stream = queue.stream();
    if (is_known_to_driver(to)) {
        check(d.cuMemcpyDtoHAsync(to, address(from), bytes, stream), "copying to the host");
        if (waits) queue.wait();
        return;
    }
    if (!waits) return by_callbacks(Way::out, static_cast<char*>(to), address(from), bytes, stream);
    queue.wait();
    if (bytes >= staged_from)
        return by_threads(Way::out, static_cast<char*>(to), address(from), bytes, stream);
    check(d.cuMemcpyDtoHAsync(to, address(from), bytes, stream), "copying to the host");
    check(d.cuStreamSynchronize(stream), "copying to the host");
}

}  // namespace xcuda::device::cuda
