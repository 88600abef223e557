#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/settings.hpp"
#include "device/blas.hpp"
#ifdef XCUDA_CPU_DEVICE
#include "device/cpu/blas.hpp"
#include "device/cpu/cpu_device.hpp"
#endif
#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/compile.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/describe.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/foreign.hpp"
#include "device/cuda/libraries.hpp"
#endif

namespace xcuda::device {

namespace {

std::vector<std::shared_ptr<Device>> find_devices() {
    std::vector<std::shared_ptr<Device>> found;
#ifdef XCUDA_CUDA_DEVICE
    found = cuda::make_devices();
#endif
#ifdef XCUDA_CPU_DEVICE
    found.push_back(cpu::make_device());
#endif
    return found;
}

std::string name_of(const Device& device) {
    const Info& info = device.info();
    return info.kind == "cpu" ? info.kind : fmt::format("{}:{}", info.kind, info.ordinal);
}

}  // namespace

// What a device may leave out.

Error Device::lost_error() const { return bug(name_of(*this) + " is not lost"); }
std::uintptr_t Device::handle(Stream* stream) const { return reinterpret_cast<std::uintptr_t>(stream); }
std::shared_ptr<Stream> Device::adopt(std::uintptr_t, std::shared_ptr<void>) {
    throw Error(Fault::user, "ValueError",
                fmt::format("{} has no streams of other libraries", name_of(*this)), std::nullopt,
                "cuda.stream() makes one");
}
void Device::order(std::uintptr_t, std::uintptr_t) {}
void* Device::allocate_pinned(std::size_t) { throw bug(name_of(*this) + " has no pinned memory"); }
void Device::release_pinned(void*) noexcept {}
void Device::pin(void*, std::size_t) {}
void Device::unpin(void*) noexcept {}
bool Device::is_pinned(const void*) const { return false; }
bool Device::copy_from_peer(void*, Device&, const void*, std::size_t, Event&, Stream*) { return false; }
void Device::describe_boxes(std::span<std::byte, 128> to, const BoxedArray& array) {
    std::array<std::int64_t, 16> words{};
    words[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.address));
    for (std::size_t d = 0; d < array.lengths.size(); ++d) {  // the last axis first, as CUDA's have it
        words[1 + d] = array.lengths[array.lengths.size() - 1 - d];
        words[6 + d] = array.strides[array.strides.size() - 1 - d];
    }
    std::memcpy(to.data(), words.data(), to.size());
}
std::shared_ptr<Stream> Device::begin_capture() { throw bug(name_of(*this) + " captures no graphs"); }
std::shared_ptr<Graph> Device::end_capture(Stream&) { throw bug(name_of(*this) + " captures no graphs"); }
std::shared_ptr<Device::Launch> Device::replay(const std::shared_ptr<Graph>&, Stream*) {
    throw bug(name_of(*this) + " captures no graphs");
}

namespace {

struct Waiting {
    std::mutex mutex;
    std::vector<void (*)()> calls;
    std::atomic<bool> found{false};
};
Waiting& waiting() {
    static Waiting& only = *new Waiting;
    return only;
}

// Apart from the finding itself: who is called may ask for the devices.
void tell_those_waiting() {
    std::vector<void (*)()> calls;
    {
        const std::lock_guard lock(waiting().mutex);
        waiting().found = true;
        calls.swap(waiting().calls);
    }
    for (const auto call : calls) call();
}

}  // namespace

std::span<const std::shared_ptr<Device>> devices() {
    // Never destroyed: work in flight at the process' end still uses them.
    static const auto* all = new std::vector<std::shared_ptr<Device>>(find_devices());
    if (!devices_found()) [[unlikely]]
        tell_those_waiting();
    return *all;
}

bool devices_found() { return waiting().found.load(std::memory_order_acquire); }

void when_devices_found(void (*then)()) {
    {
        const std::lock_guard lock(waiting().mutex);
        auto& calls = waiting().calls;
        if (!waiting().found) {
            if (std::find(calls.begin(), calls.end(), then) == calls.end()) calls.push_back(then);
            return;
        }
    }
    then();
}

std::shared_ptr<Device> default_device() {
    const auto all = devices();
    const std::string& wanted = settings().device;
    if (all.empty()) {
        std::string why = "no GPU was found";
#ifdef XCUDA_CUDA_DEVICE
        cuda::find_driver(&why);
#endif
        throw missing("a device to run kernels on: this build has no CPU device, and " + why,
                      "install an xcuda built with its CPU device, or run on a machine with an NVIDIA GPU");
    }
    if (wanted.empty()) return all.front()->lost_by() == 0 ? all.front() : all.back();
    std::string names;
    for (const auto& device : all) {
        const std::string name = name_of(*device);
        if (wanted == name || (wanted == device->info().kind && device->info().ordinal == 0)) return device;
        names += (names.empty() ? "" : ", ") + name;
    }
    throw Error(
        Fault::user, "ValueError",
        fmt::format("XCUDA_DEVICE is \"{}\", which is not a device here; there are: {}", wanted, names));
}

namespace {

/// By the number among GPUs that `which` finds; where there is one GPU there is nothing to find.
template <class Which>
std::shared_ptr<Device> gpu_of([[maybe_unused]] Which which) {
#ifdef XCUDA_CUDA_DEVICE
    const auto all = devices();
    const auto gpus =
        std::count_if(all.begin(), all.end(), [](const auto& d) { return d->info().kind == "cuda"; });
    if (gpus == 0) return nullptr;
    if (gpus == 1) return all.front();
    const std::optional<int> ordinal = which();
    if (ordinal && *ordinal < gpus) return all[static_cast<std::size_t>(*ordinal)];
#endif
    return nullptr;
}

}  // namespace

std::shared_ptr<Device> device_of_memory([[maybe_unused]] const void* address) {
    return gpu_of([&] { return cuda::ordinal_of_memory(address); });
}

std::shared_ptr<Device> device_of_stream([[maybe_unused]] std::uintptr_t handle) {
    return gpu_of([&] { return cuda::ordinal_of_stream(handle); });
}

Image compile_for([[maybe_unused]] const std::string& architecture, [[maybe_unused]] const Source& source) {
#ifdef XCUDA_CUDA_DEVICE
    return cuda::compile(source, architecture);
#else
    throw missing("the CUDA device, which compiles for " + architecture,
                  "build xcuda with -DXCUDA_CUDA_DEVICE=ON");
#endif
}

std::optional<Info> describe_target([[maybe_unused]] const std::string& architecture) {
#ifdef XCUDA_CUDA_DEVICE
    return cuda::describe_architecture(architecture);
#else
    return std::nullopt;
#endif
}

bool cpu_has_blas() {
#ifdef XCUDA_CPU_DEVICE
    return cpu::has_blas();
#else
    return false;
#endif
}

std::vector<Library> libraries() {
#ifdef XCUDA_CUDA_DEVICE
    return cuda::libraries();
#else
    return {};
#endif
}

}  // namespace xcuda::device
