#include "launch/listened.hpp"

#include <fmt/format.h>

#include <vector>

#include "emit/emit.hpp"

namespace xcuda::launch {

std::shared_ptr<device::Device> listening_device(const char* what) {
    for (const auto& d : device::devices())
        if (d->info().kind == "cpu") return d;
    throw Error(Fault::machine, "RuntimeError",
                fmt::format("this build has no CPU device, where kernels are {}", what), std::nullopt,
                "build xcuda with XCUDA_CPU_DEVICE=ON");
}

Listened run_listened(const Telling& kernel, std::span<const Argument> arguments, const void* listener,
                      std::mutex& one_at_a_time, const std::function<void(device::FaultRecord&)>& as_meant) {
    std::vector<Argument> all(arguments.begin(), arguments.end());
    Argument told;
    told.dtype = DType::u64;
    told.bits = reinterpret_cast<std::uint64_t>(listener);
    all.push_back(told);
    const emit::ArgumentLayout layout = emit::argument_layout(kernel.module);
    std::vector<std::byte> packed(layout.bytes);
    pack(layout, all, *kernel.device, packed.data());

    const std::lock_guard lock(one_at_a_time);
    const auto launched = kernel.device->launch(kernel.function, kernel.shape, packed, nullptr);
    kernel.device->synchronize(nullptr);
    if (launched->fault.kind == 0) return {};
    ArgumentShapes shapes;
    for (const Argument& a : arguments) {
        shapes.emplace_back();
        if (a.is_array) shapes.back().assign(a.lengths.begin(), a.lengths.begin() + a.ndim);
    }
    device::FaultRecord fault = launched->fault;
    if (as_meant) as_meant(fault);
    return {fault_error(fault, kernel.module.sites, shapes),
            static_cast<device::FaultKind>(fault.kind & 0xff)};
}

}  // namespace xcuda::launch
