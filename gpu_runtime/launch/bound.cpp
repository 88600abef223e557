#include "launch/bound.hpp"

#include <utility>

#include "base/clock.hpp"
#include "device/ranges.hpp"
#include "device/under_way.hpp"
#include "launch/arguments.hpp"
#include "launch/crash.hpp"

namespace xcuda::launch {

Bound bind(const std::shared_ptr<const Specialisation>& kernel, const device::Shape& shape, bool automatic,
           std::span<const Argument> arguments) {
    Bound bound{
        kernel, whole_shape(*kernel->lowered, shape), {}, event_of(*kernel, shape, automatic, arguments)};
    bound.launched = bound.shape;
    bound.launched.dynamic_shared_bytes += kernel->text.moved_shared_bytes;
    bound.packed.resize(kernel->lowered->layout.bytes);
    pack(kernel->lowered->layout, arguments, *kernel->device, bound.packed.data());
    return bound;
}

Started start(const Bound& bound, device::Stream* stream) {
    Started started;
    started.kernel = bound.kernel;
    if (bound.shape.grid.count() == 0) return started;
    started.event = bound.event;
    note_launch(*bound.kernel);
    const double begin = now();
    const device::Range range(bound.kernel->facts->name);
    const device::UnderWay told(device::Doing::launch, bound.kernel->facts->name, begin);
    started.timing =
        bound.kernel->device->launch(bound.kernel->function, bound.launched, bound.packed, stream);
    if (!started.timing) return started;
    record_launch(bound.event, begin, reinterpret_cast<std::uintptr_t>(stream), started.timing);
    return started;
}

}  // namespace xcuda::launch
