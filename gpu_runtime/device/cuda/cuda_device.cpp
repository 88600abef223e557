#include "device/cuda/cuda_device.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <typeinfo>

#include "device/cuda/callbacks.hpp"
#include "device/cuda/compile.hpp"
#include "device/cuda/context.hpp"
#include "device/cuda/copies.hpp"
#include "device/cuda/counters.hpp"
#include "device/cuda/describe.hpp"
#include "device/cuda/event.hpp"
#include "device/cuda/foreign.hpp"
#include "device/cuda/function.hpp"
#include "device/cuda/graph.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/tensor_maps.hpp"
#include "device/spilling.hpp"

namespace xcuda::device::cuda {

namespace {

/// What a GPU has once it is in use.
struct Gpu {
    CUcontext context;
    MemoryPool memory;
    Staging staging;
    std::shared_ptr<Queue> default_queue;
    std::shared_timed_mutex moving;  // held while arrays move; shared by who starts work on them

    Gpu(CUdevice device, const Info& info, CUcontext c)
        : context(c),
          memory(device, info.name, info.memory_bytes),
          default_queue(Queue::make(c, nullptr, false)) {}
};

CudaEvent& event_of(Event& event) {
    if (auto* own = dynamic_cast<CudaEvent*>(&event)) return *own;
    throw bug("an event of another device was given to a GPU");
}
const CudaEvent& event_of(const Event& event) { return event_of(const_cast<Event&>(event)); }

CUdeviceptr address_of(const void* on_device) { return reinterpret_cast<CUdeviceptr>(on_device); }

class CudaDevice : public Device, public Spilling {
public:
    CudaDevice(CUdevice device, int ordinal) : device_(device), info_(describe(device, ordinal)) {}

    const Info& info() const override { return info_; }
    int lost_by() const noexcept override { return cuda::lost_by(device_); }
    Error lost_error() const override { return cuda::lost_error(device_); }

    void* allocate(std::size_t bytes, Stream* stream) override {
        if (Gpu* made = stream ? nullptr : gpu_.load(std::memory_order_acquire))
            if (void* kept = made->memory.take_kept(bytes)) return kept;
        const Use use(*this);
        if (stream && stream->captures)
            refuse_in_capture("making an array", "make the array before the capture begins");
        return use.gpu.memory.allocate(bytes, queue_of(stream, use.gpu)->stream());
    }
    void release(void* address, Stream* stream) noexcept override {
        if (Gpu* made = stream ? nullptr : gpu_.load(std::memory_order_acquire);
            made && made->memory.keep(address))
            return;
        try {
            const Use use(*this);
            use.gpu.memory.release(address, queue_of(stream, use.gpu)->stream());
        } catch (...) {
            // A lost context has nothing to give back.
        }
    }
    bool host_accessible() const override { return false; }

    void copy_to_device(void* to, const void* from, std::size_t bytes, Stream* stream) override {
        if (bytes == 0) return;
        const Work use(*this);
        if (auto* capture = capture_of(stream)) {
            expect_pinned(from);
            return check(driver().cuMemcpyHtoDAsync(address_of(to), from, bytes, capture->stream()),
                         "capturing a copy");
        }
        use.gpu.staging.to_device(to, from, bytes, *queue_of(stream, use.gpu), stream == nullptr);
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes, Stream* stream) override {
        if (bytes == 0) return;
        const Work use(*this);
        if (auto* capture = capture_of(stream)) {
            expect_pinned(to);
            return check(driver().cuMemcpyDtoHAsync(to, address_of(from), bytes, capture->stream()),
                         "capturing a copy");
        }
        use.gpu.staging.to_host(to, from, bytes, *queue_of(stream, use.gpu), stream == nullptr);
    }
    void copy_on_device(void* to, const void* from, std::size_t bytes, Stream* stream) override {
        if (bytes == 0) return;
        const Work use(*this);
        check(
            driver().cuMemcpyAsync(address_of(to), address_of(from), bytes, working_stream(stream, use.gpu)),
            "copying on the GPU");
    }
    bool copy_from_peer(void* to, Device& peer, const void* from, std::size_t bytes, Event& ready,
                        Stream* stream) override {
        auto* other = dynamic_cast<CudaDevice*>(&peer);
        if (!other) return false;
        if (bytes == 0) return true;
        const Work use(*this);
        const CUstream here = working_stream(stream, use.gpu);
        event_of(ready).wait_on(here);
        check(driver().cuMemcpyPeerAsync(address_of(to), use.gpu.context, address_of(from),
                                         other->gpu().context, bytes, here),
              "copying from another GPU");
        return true;
    }
    void fill(void* to, int byte, std::size_t bytes, Stream* stream) override {
        if (bytes == 0) return;
        const Work use(*this);
        check(driver().cuMemsetD8Async(address_of(to), static_cast<unsigned char>(byte), bytes,
                                       working_stream(stream, use.gpu)),
              "filling memory on the GPU");
    }
    Memory memory() const override {
        const Use use(*this);
        return use.gpu.memory.statistics();
    }
    void trim() override {
        const Use use(*this);
        use.gpu.memory.trim();
    }
    void set_memory_limit(std::int64_t bytes) override {
        const Use use(*this);
        use.gpu.memory.set_limit(bytes);
    }

    void set_spill_limit(std::int64_t bytes) override {
        const Use use(*this);
        use.gpu.memory.spill().set_limit(bytes);
        if (bytes > 0) spilling = true;
    }
    Figures spilled() const override {
        const Use use(*this);
        return {use.gpu.memory.spill().limit(), use.gpu.memory.spill().figures().spilled};
    }
    bool make_room(std::size_t bytes) override {
        const Use use(*this);
        const auto alone = nobody_starts(use.gpu);
        return alone.owns_lock() && use.gpu.memory.spill().make_room(bytes);
    }
    void bring_back() override {
        const Use use(*this);
        if (!use.gpu.memory.spill().wants_back()) return;
        const auto alone = nobody_starts(use.gpu);
        if (!alone.owns_lock()) return;
        use.gpu.memory.spill().trim();  // what is kept for new arrays is room too
        use.gpu.memory.spill().bring_back(use.gpu.memory.room());
    }
    void keep_in_place(const void* address) override {
        const Use use(*this);
        use.gpu.memory.spill().keep_in_place(address);
    }
    void note_use(const void* address) noexcept override {
        if (Gpu* made = gpu_.load()) made->memory.spill().note_use(address);
    }

    std::shared_ptr<Stream> make_stream(int priority) override {
        const Use use(*this);
        retire_streams();
        const Driver& d = driver();
        int least = 0, greatest = 0;  // the most urgent has the lowest number
        check(d.cuCtxGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
        CUstream made = nullptr;
        // In order with the default stream, as numba's and CuPy's: an array filled there may be used here at once.
        check(d.cuStreamCreateWithPriority(&made, CU_STREAM_DEFAULT, std::clamp(priority, greatest, least)),
              "making a stream");
        return own_stream(use.gpu.context, made);
    }
    void synchronize(Stream* stream) override {
        const Use use(*this);
        queue_of(stream, use.gpu)->wait();
        if (!stream) retire_streams();
    }
    bool finished(Stream* stream) const override {
        const Use use(*this);
        return queue_of(stream, use.gpu)->poll();
    }
    std::shared_ptr<Event> make_event(bool timing) override {
        const Use use(*this);
        return std::make_shared<CudaEvent>(use.gpu.context, timing);
    }
    void record(Event& event, Stream* stream) override {
        const Use use(*this);
        event_of(event).record(queue_of(stream, use.gpu));
    }
    void wait(Event& event, Stream* stream) override {
        const Use use(*this);
        event_of(event).wait_on(queue_of(stream, use.gpu)->stream());
    }
    void synchronize(Event& event) override {
        const Use use(*this);
        event_of(event).wait();
    }
    bool happened(const Event& event) const override {
        const Use use(*this);
        return event_of(event).happened();
    }
    double seconds(const Event& from, const Event& to) const override {
        const Use use(*this);
        return cuda::seconds(event_of(from), event_of(to));
    }
    void call_on_host(Stream* stream, Callback callback) override {
        const Use use(*this);
        cuda::call_on_host(queue_of(stream, use.gpu), std::move(callback));
    }

    std::uintptr_t handle(Stream* stream) const override {
        const Use use(*this);
        return reinterpret_cast<std::uintptr_t>(working_stream(stream, use.gpu));
    }
    std::shared_ptr<Stream> adopt(std::uintptr_t handle, std::shared_ptr<void> owner) override {
        const Use use(*this);
        return adopt_stream(use.gpu.context, handle, std::move(owner));
    }
    void order(std::uintptr_t first, std::uintptr_t then) override {
        const Use use(*this);
        order_streams(use.gpu.context, first, then);
    }

    std::string toolchain() const override { return cuda::toolchain(info_.architecture); }
    Image compile(const Source& source) override {
        const Use use(*this);  // the driver's compiler may be needed
        return cuda::compile(source, info_.architecture);
    }
    std::string assembly(const Source& source) override { return cuda::assembly(source, info_.architecture); }
    std::shared_ptr<Function> load(const Image& image) override {
        const Use use(*this);
        return std::make_shared<CudaFunction>(image, use.gpu.context);
    }

    std::shared_ptr<Launch> launch(const std::shared_ptr<Function>& function, const Shape& shape,
                                   std::span<const std::byte> arguments, Stream* stream) override {
        const Work use(*this);
        auto* kernel =
            function && typeid(*function) == typeid(CudaFunction)  // much cheaper than a dynamic_cast
                ? static_cast<CudaFunction*>(function.get())
                : nullptr;
        if (!kernel || kernel->context() != use.gpu.context) [[unlikely]]
            throw bug("a kernel of another device was launched on a GPU");
        kernel->prepare(shape, info_.limits);
        if (shape.whole_grid) [[unlikely]]
            kernel->require_resident(shape, info_.multiprocessors);
        static constexpr std::int64_t nothing = 0;  // what a kernel without parameters reads
        const void* packed = arguments.empty() ? static_cast<const void*>(&nothing) : arguments.data();
        if (auto* capture = capture_of(stream)) [[unlikely]] {
            capture->launch(kernel->handle(), function, shape, packed);
            return nullptr;
        }
        const SparedHostMemory spared(arguments);
        return queue_of(stream, use.gpu)->launch(kernel->handle(), function, shape, packed);
    }

    void describe_boxes(std::span<std::byte, 128> to, const BoxedArray& array) override {
        const Use use(*this);
        encode_tensor_map(to, array);
    }

    void* allocate_pinned(std::size_t bytes) override {
        const Use use(*this);
        return cuda::allocate_pinned(bytes);
    }
    void release_pinned(void* address) noexcept override {
        try {
            const Use use(*this);
            cuda::release_pinned(address);
        } catch (...) {
            // A lost context has nothing to give back.
        }
    }
    void pin(void* address, std::size_t bytes) override {
        const Use use(*this);
        cuda::pin(address, bytes);
    }
    void unpin(void* address) noexcept override {
        try {
            const Use use(*this);
            cuda::unpin(address);
        } catch (...) {
            // A lost context pins nothing.
        }
    }
    bool is_pinned(const void* host) const override {
        const Use use(*this);
        return is_known_to_driver(host);
    }

    std::shared_ptr<Stream> begin_capture() override {
        const Use use(*this);
        return std::make_shared<CaptureStream>(use.gpu.context);
    }
    std::shared_ptr<Graph> end_capture(Stream& stream) override {
        const Use use(*this);
        if (auto* capture = capture_of(&stream)) return capture->end();
        throw bug("a stream that captures nothing was given as a capture");
    }
    std::shared_ptr<Launch> replay(const std::shared_ptr<Graph>& graph, Stream* stream) override {
        const Work use(*this);
        auto own = std::dynamic_pointer_cast<CudaGraph>(graph);
        if (!own || own->context != use.gpu.context)
            throw bug("a graph of another device was launched on a GPU");
        if (capture_of(stream)) refuse_in_capture("another graph", "launch its kernels again");
        return queue_of(stream, use.gpu)->replay(std::move(own));
    }

private:
    /// The GPU with its context current on this thread. Where the use finds it lost, all who wait for it are answered.
    struct Use {
        explicit Use(const CudaDevice& d) : device(d), gpu(d.gpu()), current(answered()) {}
        ~Use() { answered(); }
        CUcontext answered() const {
            if (device.lost_by() != 0) [[unlikely]]
                answer_all(gpu.context);
            return gpu.context;
        }
        const CudaDevice& device;
        Gpu& gpu;
        const Current current;
    };

    /// One that starts work on arrays: they stay where they are until it is given to the GPU.
    struct Work : Use {
        explicit Work(const CudaDevice& d) : Use(d) {
            if (spilling.load(std::memory_order_relaxed)) [[unlikely]]
                started = std::shared_lock(gpu.moving);
        }
        std::shared_lock<std::shared_timed_mutex> started;
    };
    // A thread that waits for the GPU with its work half given is not waited for without end.
    static std::unique_lock<std::shared_timed_mutex> nobody_starts(Gpu& gpu) {
        return std::unique_lock(gpu.moving, std::chrono::seconds(5));
    }

    Gpu& gpu() const {
        if (Gpu* made = gpu_.load(std::memory_order_acquire)) [[likely]]
            return *made;
        const std::lock_guard lock(mutex_);
        if (!gpu_.load()) {
            const CUcontext context = primary_context(device_);
            const Current here(context);
            gpu_ = new Gpu(device_, info_, context);  // as long as the process: arrays may outlive everything
        }
        return *gpu_.load();
    }

    const std::shared_ptr<Queue>& queue_of(Stream* stream, Gpu& gpu) const {
        if (!stream) return gpu.default_queue;
        auto* own = dynamic_cast<CudaStream*>(stream);
        if (stream->captures) [[unlikely]]
            throw Error(Fault::user, "ValueError", "work that is captured can't be waited for or timed", {},
                        "replay the graph, then wait for the stream that it was launched on");
        if (!own || own->queue->context() != gpu.context) [[unlikely]]
            throw bug("a stream of another device was given to a GPU");
        if (own->thread && *own->thread != std::this_thread::get_id()) [[unlikely]]
            throw Error(Fault::user, "ValueError", "a thread's own default stream is used by another thread",
                        {}, "call cuda.per_thread_default_stream() there");
        return own->queue;
    }

    CUstream working_stream(Stream* stream, Gpu& gpu) const {
        if (auto* capture = capture_of(stream)) [[unlikely]]
            return capture->stream();
        return queue_of(stream, gpu)->stream();
    }

    static void expect_pinned(const void* host) {
        if (!is_known_to_driver(host))
            refuse_in_capture("a copy of ordinary host memory", "copy from or to a cuda.pinned_array(...)");
    }

    const CUdevice device_;
    const Info info_;
    mutable std::mutex mutex_;  // while the context is made
    mutable std::atomic<Gpu*> gpu_{nullptr};
};

}  // namespace

std::vector<std::shared_ptr<Device>> make_devices() {
    std::vector<std::shared_ptr<Device>> made;
    const Driver* d = find_driver();
    int count = 0;
    if (!d || d->cuDeviceGetCount(&count) != CUDA_SUCCESS) return made;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        CUdevice device = 0;
        check(d->cuDeviceGet(&device, ordinal), "asking for a GPU");
        made.push_back(std::make_shared<CudaDevice>(device, ordinal));
    }
    return made;
}

}  // namespace xcuda::device::cuda
