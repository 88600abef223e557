#include "device/cpu/cpu_device.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/recycled.hpp"
#include "device/cpu/compiler.hpp"
#include "device/cpu/fibers.hpp"
#include "device/cpu/graph.hpp"
#include "device/cpu/host.hpp"
#include "device/cpu/interrupt.hpp"
#include "device/cpu/memory_pool.hpp"
#include "device/cpu/run_launch.hpp"
#include "device/cpu/stream.hpp"

namespace xcuda::device::cpu {

namespace {

class CpuDevice : public Device {
public:
    const Info& info() const override { return info_; }

    void* allocate(std::size_t bytes, Stream* stream) override {
        if (stream && stream->captures)
            refuse_in_capture("making an array", "make the array before the capture begins");
        return memory_.allocate(bytes);
    }

    void release(void* address, Stream* stream) noexcept override {
        try {
            // Kernels that wait in the stream may still use it.
            if (const auto queue = queue_of(stream); queue && !queue->idle())
                return queue->push([this, address] { memory_.release(address); });
        } catch (...) {
            // No memory for the task, or a foreign stream: keeping the block for ever is the only safe end.
            return;
        }
        memory_.release(address);
    }

    bool host_accessible() const override { return true; }

    void copy_to_device(void* to, const void* from, std::size_t bytes, Stream* stream) override {
        expect_pinned_in_capture(from, stream);
        in_order(stream, [=] { std::memmove(to, from, bytes); });
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes, Stream* stream) override {
        expect_pinned_in_capture(to, stream);
        in_order(stream, [=] { std::memmove(to, from, bytes); });
    }
    void copy_on_device(void* to, const void* from, std::size_t bytes, Stream* stream) override {
        in_order(stream, [=] { std::memmove(to, from, bytes); });
    }
    void fill(void* to, int byte, std::size_t bytes, Stream* stream) override {
        in_order(stream, [=] { std::memset(to, byte, bytes); });
    }
    Memory memory() const override { return memory_.statistics(); }
    void trim() override { memory_.trim(); }
    void set_memory_limit(std::int64_t bytes) override { memory_.set_limit(bytes); }

    std::shared_ptr<Stream> make_stream(int) override { return std::make_shared<QueueStream>(); }
    void synchronize(Stream* stream) override {
        if (const auto queue = queue_of(stream)) queue->wait_idle();
    }
    bool finished(Stream* stream) const override {
        const auto queue = queue_of(stream);
        return !queue || queue->idle();
    }
    std::shared_ptr<Event> make_event(bool) override { return std::make_shared<Mark>(); }
    void record(Event& event, Stream* stream) override {
        cpu::record(mark_of(event), queue_of(stream).get());
    }
    void wait(Event& event, Stream* stream) override { cpu::wait(mark_of(event), queue_of(stream).get()); }
    void synchronize(Event& event) override { cpu::synchronize(mark_of(event)); }
    bool happened(const Event& event) const override { return cpu::happened(mark_of(event)); }
    double seconds(const Event& from, const Event& to) const override {
        return cpu::seconds(mark_of(from), mark_of(to));
    }
    void call_on_host(Stream* stream, Callback callback) override {
        if (const auto queue = queue_of(stream))
            queue->push(std::move(callback));
        else
            callback();
    }

    void* allocate_pinned(std::size_t bytes) override {
        void* address = memory_.allocate(bytes);
        pin(address, bytes);
        return address;
    }
    void release_pinned(void* address) noexcept override {
        unpin(address);
        memory_.release(address);
    }
    void pin(void* address, std::size_t bytes) override {
        const std::lock_guard lock(pinned_mutex_);
        pinned_[static_cast<const char*>(address)] = bytes;
    }
    void unpin(void* address) noexcept override {
        const std::lock_guard lock(pinned_mutex_);
        pinned_.erase(static_cast<const char*>(address));
    }
    bool is_pinned(const void* host) const override {
        const std::lock_guard lock(pinned_mutex_);
        auto after = pinned_.upper_bound(static_cast<const char*>(host));
        if (after == pinned_.begin()) return false;
        --after;
        return static_cast<const char*>(host) < after->first + after->second;
    }

    std::string toolchain() const override { return cpu::toolchain(); }
    Image compile(const Source& source) override { return cpu::compile(source); }
    std::shared_ptr<Function> load(const Image& image) override { return std::make_shared<Kernel>(image); }
    std::string assembly(const Source& source) override { return cpu::assembly(source); }

    std::shared_ptr<Launch> launch(const std::shared_ptr<Function>& function, const Shape& shape,
                                   std::span<const std::byte> arguments, Stream* stream) override {
        auto kernel = std::dynamic_pointer_cast<Kernel>(function);
        if (!kernel) throw bug("a kernel of another device was launched on the CPU device");
        check(shape);
        if (auto* graph = capture_of(stream)) {
            graph->steps.emplace_back(KeptLaunch{std::move(kernel), shape, PackedArguments(arguments)});
            return nullptr;
        }
        auto launch = make_recycled<Launch>();
        if (shape.print_words > 0) launch->printed = print_buffer(shape.print_words);
        if (const auto queue = queue_of(stream)) {
            queue->push([launch, kernel = std::move(kernel), shape, packed = PackedArguments(arguments),
                         asked = interrupts()] { run_launch(*kernel, shape, packed.data(), asked, *launch); });
        } else {
            const InterruptGuard guard;
            const PackedArguments packed(arguments);
            run_launch(*kernel, shape, packed.data(), guard.since(), *launch);
        }
        return launch;
    }

    std::shared_ptr<Stream> begin_capture() override { return std::make_shared<CaptureStream>(); }
    std::shared_ptr<Graph> end_capture(Stream& stream) override {
        capture_of(&stream);
        return std::exchange(static_cast<CaptureStream&>(stream).graph, nullptr);
    }
    std::shared_ptr<Launch> replay(const std::shared_ptr<Graph>& graph, Stream* stream) override {
        auto recorded = std::dynamic_pointer_cast<RecordedGraph>(graph);
        if (!recorded) throw bug("a graph of another device was launched on the CPU device");
        return recorded->replay(stream, {});
    }

private:
    template <class F>
    void in_order(Stream* stream, F task) {
        if (auto* graph = capture_of(stream))
            graph->steps.emplace_back(Task(std::move(task)));
        else if (const auto queue = queue_of(stream))
            queue->push(std::move(task));
        else
            task();
    }

    void expect_pinned_in_capture(const void* host, Stream* stream) const {
        if (stream && stream->captures && !is_pinned(host))
            refuse_in_capture("a copy of ordinary host memory", "copy from or to a cuda.pinned_array(...)");
    }

    static std::shared_ptr<const std::uint64_t> print_buffer(std::int64_t words) {
        const std::size_t head = sizeof(PrintBuffer) / 8;
        // Untouched pages cost nothing.
        auto* memory = static_cast<std::uint64_t*>(std::calloc(head + static_cast<std::size_t>(words), 8));
        if (!memory) throw Error(Fault::machine, "MemoryError", "no memory for a launch's print buffer");
        *reinterpret_cast<PrintBuffer*>(memory) = {0, static_cast<std::uint64_t>(words),
                                                   static_cast<std::uint64_t>(words), 0};
        return {memory, [](const std::uint64_t* p) { std::free(const_cast<std::uint64_t*>(p)); }};
    }

    void check(const Shape& shape) const {
        const Limits& limits = info_.limits;
        const auto refuse = [](const std::string& message) {
            throw Error(Fault::user, "ValueError", message);
        };
        const Dim3 &block = shape.block, &grid = shape.grid;
        if (block.x < 1 || block.y < 1 || block.z < 1 || grid.x < 0 || grid.y < 0 || grid.z < 0)
            refuse(fmt::format(
                "a launch of grid ({}, {}, {}) and block ({}, {}, {}) has a length that is {}", grid.x,
                grid.y, grid.z, block.x, block.y, block.z,
                block.x < 0 || block.y < 0 || block.z < 0 || grid.x < 0 || grid.y < 0 || grid.z < 0
                    ? "negative"
                    : "zero: a block has at least one thread"));
        if (block.x > limits.block.x || block.y > limits.block.y || block.z > limits.block.z ||
            block.count() > limits.threads_per_block)
            refuse(fmt::format(
                "a block of ({}, {}, {}) is too large: at most {} threads, and ({}, {}, {}) along the "
                "axes",
                block.x, block.y, block.z, limits.threads_per_block, limits.block.x, limits.block.y,
                limits.block.z));
        if (grid.x > limits.grid.x || grid.y > limits.grid.y || grid.z > limits.grid.z)
            refuse(fmt::format("a grid of ({}, {}, {}) blocks is too large: at most ({}, {}, {})", grid.x,
                               grid.y, grid.z, limits.grid.x, limits.grid.y, limits.grid.z));
        if (shape.whole_grid && grid.count() * block.count() > most_grid_threads)
            throw Error(
                Fault::user, "ValueError",
                fmt::format(
                    "a grid of {} blocks of {} threads can't meet in grid.sync(): on the CPU device at "
                    "most {} such blocks can be resident",
                    grid.count(), block.count(), most_grid_threads / block.count()),
                std::nullopt, "launch fewer blocks, and let each thread loop over its elements");
        if (shape.dynamic_shared_bytes < 0 ||
            shape.dynamic_shared_bytes > limits.shared_bytes_per_block_optin)
            refuse(fmt::format("{} bytes of dynamic shared memory: from 0 to {} are possible",
                               shape.dynamic_shared_bytes, limits.shared_bytes_per_block_optin));
    }

    const Info info_ = host_info();
    MemoryPool memory_{info_.memory_bytes};
    mutable std::mutex pinned_mutex_;
    std::map<const char*, std::size_t> pinned_;  // bytes by address
};

}  // namespace

std::shared_ptr<Device> make_device() { return std::make_shared<CpuDevice>(); }

}  // namespace xcuda::device::cpu
