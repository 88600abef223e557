// What a device is to the floors above: memory, streams, events, modules, launches. Nothing else names CUDA
// or clang.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/export.hpp"

namespace xcuda::device {

struct Dim3 {
    std::int64_t x = 1, y = 1, z = 1;
    std::int64_t count() const { return x * y * z; }
    bool operator==(const Dim3&) const = default;
};

struct Limits {
    std::int64_t threads_per_block = 1024;
    Dim3 block{1024, 1024, 64};
    Dim3 grid{2147483647, 65535, 65535};
    std::int64_t shared_bytes_per_block = 48 * 1024;        // static, without opting in
    std::int64_t shared_bytes_per_block_optin = 48 * 1024;  // dynamic, at most
};

struct Info {
    std::string kind;  // "cpu", "cuda"
    int ordinal = 0;
    std::string name;          // "NVIDIA H200", "Intel(R) Xeon(R) Processor, 2 cores, AVX-512"
    std::string architecture;  // "sm_90", "x86-64-v4"
    int multiprocessors = 0;   // SMs; worker threads on the CPU device
    int warp_size = 32;        // on the CPU device: lanes of a float32 vector
    int vector_bytes = 0;      // CPU device: bytes of a vector register; 0 elsewhere
    std::int64_t memory_bytes = 0;
    double clock_hz = 0;  // 0: unknown
    Limits limits;
    int max_threads_per_multiprocessor = 0;  // 0: occupancy has no meaning here
    int max_blocks_per_multiprocessor = 0;
    std::int64_t registers_per_multiprocessor = 0;
    std::int64_t shared_bytes_per_multiprocessor = 0;
};

/// A compiled kernel's own figures; an absent one could not be had.
struct Attributes {
    std::optional<int> registers;
    std::optional<std::int64_t> local_bytes;   // spills and local arrays, per thread
    std::optional<std::int64_t> shared_bytes;  // static
    std::optional<int> max_threads_per_block;
};

struct Source {
    std::string text;     // emitted C++, prelude included by the device
    std::string entry;    // the extern "C" name of the kernel
    std::string options;  // optimisation level and the like; part of the cache key
};

/// What a compile leaves: bytes to load (an object file or a cubin) and what is known of them.
struct Image {
    std::vector<std::byte> bytes;
    std::string entry;
    Attributes attributes;
    std::string log;  // the compiler's own words, for bug reports only
};

/// The first fault of a launch, written once by the thread that met it (layout shared with the preludes).
struct FaultRecord {
    std::int32_t site;  // index into the kernel's table of sites; -1: none
    std::int32_t kind;  // FaultKind
    std::int64_t
        value[4];  // index: value[0] = the index met, value[1] = the axis' length; assertion, raised: two numbers
    std::int32_t thread[3];
    std::int32_t block[3];
};
enum class FaultKind : std::int32_t {
    none,
    index,
    zero_division,
    assertion,
    raised,
    interrupted,
    barrier,
    unbound,
    warp,
    lost,  // the GPU ended while it was under way
};

struct Shape {
    Dim3 grid, block;
    std::int64_t dynamic_shared_bytes = 0;
    bool whole_grid = false;       // its threads all meet: every block must be resident
    std::int64_t print_words = 0;  // room for what its threads print, in words of 8 bytes; 0: they don't
    bool operator==(const Shape&) const = default;
};

/// Before a launch's printed words; kernels write both (emit/prelude_print.hpp).
struct PrintBuffer {
    std::uint64_t next, capacity, end, lost;
};

/// An array of which a kernel fetches boxes by the copy engine: one address, and along each axis, the last one contiguous,
/// the length and the distance of neighbours in elements.
struct BoxedArray {
    DType dtype;
    const void* address;
    std::span<const std::int64_t> lengths, strides, box;
};

// Handles; each house derives its own. Work in flight keeps what it needs, so they may go at any time.
class XCUDA_API Stream {
public:
    explicit Stream(bool is_capture = false) : captures(is_capture) {}
    virtual ~Stream() = default;
    const bool captures;  // of begin_capture: its work is kept instead of done
};
class XCUDA_API Event {
public:
    virtual ~Event() = default;
};
/// A loaded kernel, ready to launch.
class XCUDA_API Function {
public:
    virtual ~Function() = default;
};
/// Work that was captured once, to be done again and again.
class XCUDA_API Graph {
public:
    virtual ~Graph() = default;
};

using Callback =
    std::function<void()>;  // runs on a thread of the device; must not touch Python objects without the GIL

/// One device. All calls are thread-safe; a null stream is the default stream, ordered with nothing but
/// itself.
class XCUDA_API Device {
public:
    virtual ~Device() = default;

    virtual const Info& info() const = 0;
    /// The number of the driver's error by which this process has lost the device with everything on it, for good; 0: it
    /// has not. Whatever is asked of a lost device throws lost_error(), a DeviceLostError.
    virtual int lost_by() const noexcept { return 0; }
    virtual Error lost_error() const;

    // Memory. Bytes come from the device's pool, in stream order; `address` is what kernels see. Host memory
    // given to a copy must stay until the stream has passed the copy; on the default stream that is when the
    // call returns.
    virtual void* allocate(std::size_t bytes, Stream* stream) = 0;
    virtual void release(void* address, Stream* stream) noexcept = 0;
    virtual bool host_accessible() const = 0;  // true: kernels may be given host pointers
    virtual void copy_to_device(void* to, const void* from, std::size_t bytes, Stream* stream) = 0;
    virtual void copy_to_host(void* to, const void* from, std::size_t bytes, Stream* stream) = 0;
    virtual void copy_on_device(void* to, const void* from, std::size_t bytes, Stream* stream) = 0;
    /// From another device's memory, once `ready` has happened there. False where only the host can carry it.
    virtual bool copy_from_peer(void* to, Device& peer, const void* from, std::size_t bytes, Event& ready,
                                Stream* stream);
    virtual void fill(void* to, int byte, std::size_t bytes, Stream* stream) = 0;
    struct Memory {
        std::int64_t used, high_water;  // by arrays: now, and at most so far
        std::int64_t pooled;            // kept for the next arrays
        std::int64_t total;             // of the device
        std::int64_t available = 0;     // to be had now, what is kept for reuse counted in
        std::int64_t limit = 0;         // of `used`; 0: none
    };
    virtual Memory memory() const = 0;
    /// Gives back what is kept for reuse, once the work under way has let go of it.
    virtual void trim() = 0;
    /// More than `bytes` in use is refused with a MemoryError; 0: whatever the device has. XCUDA_MEMORY_LIMIT at first.
    virtual void set_memory_limit(std::int64_t bytes) = 0;

    // Streams and events. Seconds between two recorded events that have happened.
    virtual std::shared_ptr<Stream> make_stream(int priority) = 0;
    virtual void synchronize(
        Stream* stream) = 0;  // may be interrupted: then Error python_type KeyboardInterrupt
    /// True where nothing is under way. Looking also finds out which launches are done, where the device does not
    /// tell by itself; the default stream's order is that of the device's own library.
    virtual bool finished(Stream* stream) const = 0;
    virtual std::shared_ptr<Event> make_event(bool timing) = 0;
    virtual void record(Event& event, Stream* stream) = 0;
    virtual void wait(Event& event, Stream* stream) = 0;
    virtual void synchronize(Event& event) = 0;
    virtual bool happened(const Event& event) const = 0;
    virtual double seconds(const Event& from, const Event& to) const = 0;
    virtual void call_on_host(Stream* stream, Callback callback) = 0;

    // Streams by the number that other libraries know them by: a CUstream as an integer, 0 and 1 for the legacy default
    // stream, 2 for the calling thread's own. The CPU device's numbers mean nothing to others.
    virtual std::uintptr_t handle(Stream* stream) const;
    /// Another library's stream as one of ours, null for the default one; `owner` is kept while it is in use. The same
    /// number gives the same stream. Throws a ValueError on a device that has no such streams.
    virtual std::shared_ptr<Stream> adopt(std::uintptr_t handle, std::shared_ptr<void> owner);
    /// Work asked for from now on in `then` waits for what `first` holds now: a stream, or `everything` that the device
    /// is doing. Nothing to do where they are one.
    static constexpr std::uintptr_t everything = ~std::uintptr_t{0};
    virtual void order(std::uintptr_t first, std::uintptr_t then);

    // Host memory that the device reads and writes by itself: pinned memory. Elsewhere it is memory as any other, but
    // known again, so that copies of it may go on while the caller does. Throws a MemoryError.
    virtual void* allocate_pinned(std::size_t bytes);
    virtual void release_pinned(void* address) noexcept;
    /// Pins memory that is there; its pages must be nobody else's.
    virtual void pin(void* address, std::size_t bytes);
    virtual void unpin(void* address) noexcept;
    virtual bool is_pinned(const void* host) const;

    // Compiling and launching. `compile` needs the compiler, not the device, and throws missing() without it.
    virtual std::string toolchain() const = 0;  // compiler and target, part of every cache key
    virtual Image compile(const Source& source) = 0;
    virtual std::shared_ptr<Function> load(const Image& image) = 0;
    virtual std::string assembly(const Source& source) = 0;  // the machine's own text, for people
    /// Starts the kernel. `arguments` is the packed argument struct. The launch's fault record lives in
    /// `Launch`.
    struct Launch {
        std::atomic<bool> done{false};
        FaultRecord fault{-1, 0, {}, {}, {}};
        double begin = 0, end = 0;     // seconds on base/clock's scale, once done
        bool timed = true;             // false: not measured, both are 0
        int workers = 0;               // threads of the CPU device that shared it; 0: it was not shared
        double busy = 0, busiest = 0;  // seconds at work: of all of them, and of the one at work longest
        int node = -1;                 // of a graph's replay: which of its launches the fault is of
        std::shared_ptr<const Launch> whole;  // of a graph's launch that the device does not time: the replay
        std::shared_ptr<const std::uint64_t>
            printed;  // a PrintBuffer and its words, to be read once done; or null

        /// Over, well, and measured.
        bool has_time() const { return done.load(std::memory_order_acquire) && timed && fault.kind == 0; }
    };
    virtual std::shared_ptr<Launch> launch(const std::shared_ptr<Function>& function, const Shape& shape,
                                           std::span<const std::byte> arguments, Stream* stream) = 0;

    /// The 128 bytes by which kernels name such an array to the copy engine: CUDA's tensor map, for boxes in rows of 128
    /// bytes whose 16-byte pieces change places. The CPU device's kernels read what emit/prelude_flows.hpp says.
    virtual void describe_boxes(std::span<std::byte, 128> to, const BoxedArray& array);

    // Graphs. Launches, copies and fills asked for in the stream of a capture are kept instead of done; launches then
    // give null. What can't be kept throws a ValueError. What they use must live as long as the graph.
    virtual std::shared_ptr<Stream> begin_capture();
    virtual std::shared_ptr<Graph> end_capture(Stream& stream);
    /// Does it all, in order. One record for all of its launches: of the first that faulted.
    virtual std::shared_ptr<Launch> replay(const std::shared_ptr<Graph>& graph, Stream* stream);
};

/// The devices of this process, found once: CUDA devices first, the embedded CPU device last. Never empty
/// when built with it.
XCUDA_API std::span<const std::shared_ptr<Device>> devices();
/// Whether someone has called devices(), which starts CUDA.
XCUDA_API bool devices_found();
/// Calls `then` once, when devices() is called for the first time, or at once where it was.
XCUDA_API void when_devices_found(void (*then)());
/// The device that is current where none is named: XCUDA_DEVICE ("cpu", "cuda:0"), else the first; the last, which is the
/// CPU device where there is one, once the first is lost.
XCUDA_API std::shared_ptr<Device> default_device();
/// The GPU that memory or a stream of another library belongs to; null where it is on none.
XCUDA_API std::shared_ptr<Device> device_of_memory(const void* address);
XCUDA_API std::shared_ptr<Device> device_of_stream(std::uintptr_t handle);
/// Compiles for a named architecture ("sm_90") that need not be here. Throws missing() without its compiler.
XCUDA_API Image compile_for(const std::string& architecture, const Source& source);
/// The limits of a named architecture, for occupancy; nothing where it is not known.
XCUDA_API std::optional<Info> describe_target(const std::string& architecture);

/// A library that a device needs: what was found where, or what is missing and how to get it. For people.
struct Library {
    std::string name, purpose;
    std::string version, file, from;  // empty where it is missing
    std::string problem, advice;      // empty where it is usable
};
XCUDA_API std::vector<Library> libraries();

/// Stops the kernels that run and drops those that wait, where a device can: their launches end with
/// FaultKind::interrupted. Async-signal-safe, from any thread.
XCUDA_API void interrupt_all() noexcept;

}  // namespace xcuda::device
