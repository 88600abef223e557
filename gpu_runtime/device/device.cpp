#include "device/device.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/settings.hpp"
#ifdef XCUDA_CPU_DEVICE
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/interrupt.hpp"
#endif

namespace xcuda::device {

namespace {

std::vector<std::shared_ptr<Device>> find_devices() {
    std::vector<std::shared_ptr<Device>> found;
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
    if (all.empty())
        throw missing("a device to run kernels on (this build has no CPU device, and no GPU was found)",
                      "install an xcuda built with its CPU device, or run on a machine with an NVIDIA GPU");
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

void interrupt_all() noexcept {
#ifdef XCUDA_CPU_DEVICE
    cpu::interrupt_all();
#endif
}

}  // namespace xcuda::device
