#include "launch/watch.hpp"

#include <mutex>

#include "launch/cache.hpp"
#include "launch/launch.hpp"
#include "passes/traced.hpp"

namespace xcuda::launch {

Watched watched(const Lowered& lowered, const device::Shape& asked, std::vector<passes::Step>* steps) {
    Watched made;
    made.device = listening_device("checked");
    made.shape = whole_shape(lowered, asked);
    made.module = steps ? passes::stepped(lowered.module, {}, *steps) : passes::traced(lowered.module, {});
    const emit::Text text = emit::emit_watched(made.module, made.points);
    made.function = get_or_compile(*made.device, {text.source, text.entry, "trace"});
    return made;
}

Listened run_watched(const Watched& kernel, std::span<const Argument> arguments, Watcher& watcher) {
    if (kernel.shape.grid.count() == 0) return {};
    static std::mutex& one_at_a_time = *new std::mutex;
    return run_listened(kernel, arguments, &watcher, one_at_a_time);
}

}  // namespace xcuda::launch
