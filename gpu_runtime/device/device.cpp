#include "device/device.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/settings.hpp"
#ifdef XCUDA_CPU_DEVICE
#include "device/cpu/cpu_device.hpp"
#endif
#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/compile.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/describe.hpp"
#include "device/cuda/driver.hpp"
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

std::span<const std::shared_ptr<Device>> devices() {
    // Never destroyed: work in flight at the process' end still uses them.
    static const auto* all = new std::vector<std::shared_ptr<Device>>(find_devices());
    return *all;
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
    if (wanted.empty()) return all.front();
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

std::vector<Library> libraries() {
#ifdef XCUDA_CUDA_DEVICE
    return cuda::libraries();
#else
    return {};
#endif
}

}  // namespace xcuda::device
