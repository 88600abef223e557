#include "launch/watch.hpp"

#include <mutex>

#include "launch/cache.hpp"
#include "launch/launch.hpp"
#include "passes/traced.hpp"

namespace xcuda::launch {

Watched watched(const Lowered& lowered, const device::Shape& asked, std::vector<passes::Step>* steps) {
    Watched made;
    for (const auto& d : device::devices())
        if (d->info().kind == "cpu") made.device = d;
    if (!made.device)
        throw Error(Fault::machine, "RuntimeError", "this build has no CPU device, where kernels are checked",
                    std::nullopt, "build xcuda with XCUDA_CPU_DEVICE=ON");
    made.shape = whole_shape(lowered, asked);
    made.module = steps ? passes::stepped(lowered.module, {}, *steps) : passes::traced(lowered.module, {});
    const emit::Text text = emit::emit_watched(made.module, made.points);
    made.function = get_or_compile(*made.device, {text.source, text.entry, "trace"});
    return made;
}

WatchedRun run_watched(const Watched& kernel, std::span<const Argument> arguments, Watcher& watcher) {
    WatchedRun run;
    if (kernel.shape.grid.count() == 0) return run;
    std::vector<Argument> all(arguments.begin(), arguments.end());
    Argument told;
    told.dtype = DType::u64;
    told.bits = reinterpret_cast<std::uint64_t>(&watcher);
    all.push_back(told);
    const emit::ArgumentLayout layout = emit::argument_layout(kernel.module.kernel());
    std::vector<std::byte> packed(layout.bytes);
    pack(layout, all, packed.data());

    static std::mutex& one_at_a_time = *new std::mutex;  // a watched kernel's text has one watcher
    const std::lock_guard lock(one_at_a_time);
    const auto launched = kernel.device->launch(kernel.function, kernel.shape, packed, nullptr);
    kernel.device->synchronize(nullptr);
    if (launched->fault.kind == 0) return run;
    ArgumentShapes shapes;
    for (const Argument& a : arguments) {
        shapes.emplace_back();
        if (a.is_array) shapes.back().assign(a.lengths.begin(), a.lengths.begin() + a.ndim);
    }
    run.fault = fault_error(launched->fault, kernel.module.sites, shapes);
    run.kind = static_cast<device::FaultKind>(launched->fault.kind & 0xff);
    return run;
}

}  // namespace xcuda::launch
