#include "launch/launch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "base/settings.hpp"
#include "device/ranges.hpp"
#include "device/under_way.hpp"
#include "launch/arguments.hpp"
#include "launch/crash.hpp"
#include "launch/evaluate.hpp"
#include "launch/named_values.hpp"
#include "launch/printed.hpp"
#include "launch/shape.hpp"
#include "passes/cost.hpp"

namespace xcuda::launch {
namespace {

// A number among the arguments that the model has read, by its place.
using Read = std::pair<std::size_t, std::uint64_t>;

bool is_fraction(const Argument& number) { return is_floating(number.dtype) || is_complex(number.dtype); }

// `read`: the fractions that the figures hang on; lengths and integers are taken for read.
passes::Cost modelled(const ir::Module& module, const device::Shape& shape,
                      std::span<const Argument> arguments, std::vector<Read>& read) {
    passes::CostInputs inputs;
    const auto array = [arguments](int parameter) -> const Argument* {
        const auto i = static_cast<std::size_t>(parameter);
        return i < arguments.size() && arguments[i].is_array ? &arguments[i] : nullptr;
    };
    inputs.length = [array](int parameter, int axis) -> std::optional<double> {
        const Argument* a = array(parameter);
        if (!a || axis >= a->ndim) return std::nullopt;
        return static_cast<double>(a->lengths[static_cast<std::size_t>(axis)]);
    };
    inputs.value = [arguments, &read](int parameter) -> std::optional<double> {
        const auto i = static_cast<std::size_t>(parameter);
        if (i >= arguments.size()) return std::nullopt;
        if (!arguments[i].is_array && is_fraction(arguments[i])) read.emplace_back(i, arguments[i].bits);
        return number(arguments[i]);
    };
    inputs.elements = [array](int parameter) {
        const Argument* a = array(parameter);
        return a ? static_cast<double>(a->elements()) : 0.0;
    };
    const double grid[3] = {double(shape.grid.x), double(shape.grid.y), double(shape.grid.z)};
    const double block[3] = {double(shape.block.x), double(shape.block.y), double(shape.block.z)};
    std::copy(grid, grid + 3, inputs.grid);
    std::copy(block, block + 3, inputs.block);
    return passes::cost(module, inputs);
}

// What the model counts threads by: those that the kernel as written has, one for each element. On a GPU a launch whose shape is
// ours may lay axes out anew, and give a thread several; a kernel whose maker gives its shape (no domain) has it as written.
device::Shape shape_as_written(const Specialisation& kernel, const device::Shape& shape, bool automatic,
                               std::span<const Argument> arguments) {
    if (!automatic || kernel.device->info().kind == "cpu" || kernel.lowered->domain.empty()) return shape;
    device::Shape written;
    std::int64_t* grid[3] = {&written.grid.x, &written.grid.y, &written.grid.z};
    const auto lengths = domain_lengths(*kernel.lowered, arguments, kernel.facts->name);
    for (std::size_t i = 0; i < lengths.size(); ++i) *grid[i] = lengths[i];
    written.block = {1, 1, 1};
    return written;
}

Event made_event(const Specialisation& kernel, const device::Shape& shape, bool automatic,
                 std::span<const Argument> arguments, std::vector<Read>& read) {
    Event event{};
    event.kind = Event::Kind::launch;
    event.device = kernel.facts->device;
    event.kernel = kernel.facts;
    event.shape = shape;
    event.automatic_shape = automatic;
    for (const Argument& a : arguments)
        if (a.is_array)
            event.lengths.insert(event.lengths.end(), a.lengths.begin(), a.lengths.begin() + a.ndim);
    if (kernel.facts->programs) {
        event.flops = event.bytes_read = event.bytes_written = -1;
        return event;
    }
    const passes::Cost cost = modelled(
        kernel.lowered->module, shape_as_written(kernel, shape, automatic, arguments), arguments, read);
    event.flops = cost.complete ? cost.flops : -1;
    event.bytes_read = cost.complete ? cost.bytes_read : -1;
    event.bytes_written = cost.complete ? cost.bytes_written : -1;
    return event;
}

}  // namespace

// The model walks the IR, which takes longer than a launch: it is made once for arguments that are alike to it. Programs of
// many kernels launch all of them again and again, with other fractions each time. Per thread, so that no lock is taken.
std::shared_ptr<const Event> event_of(const Specialisation& kernel, const device::Shape& shape,
                                      bool automatic, std::span<const Argument> arguments) {
    struct Entry {
        std::shared_ptr<const Event> event;
        std::vector<std::int64_t> figures;
        std::vector<Read> read;
    };
    struct Kept {
        std::vector<Entry> entries;
        std::size_t next = 0;  // to be replaced
    };
    constexpr std::size_t most_kernels = 512, most_of_kernel = 8;
    struct Thread {
        std::unordered_map<const KernelFacts*, Kept> kept;  // the events keep the keys
        const Kept* last = nullptr;
        const KernelFacts* of = nullptr;
    };
    thread_local Thread mine;
    const auto is_like = [&](const Entry& e) {
        if (e.event->automatic_shape != automatic || !(e.event->shape == shape)) return false;
        auto figure = e.figures.begin();  // a signature has so many, whatever they are
        for (const Argument& a : arguments) {
            if (a.is_array) {
                for (int i = 0; i < a.ndim; ++i)
                    if (*figure++ != a.lengths[static_cast<std::size_t>(i)]) return false;
            } else if (!is_fraction(a) && *figure++ != static_cast<std::int64_t>(a.bits)) {
                return false;
            }
        }
        return std::ranges::all_of(e.read,
                                   [&](const Read& r) { return arguments[r.first].bits == r.second; });
    };
    const KernelFacts* const facts = kernel.facts.get();
    if (mine.of != facts) {
        const auto found = mine.kept.find(facts);
        mine.last = found != mine.kept.end() ? &found->second : nullptr;
        mine.of = mine.last ? facts : nullptr;
    }
    if (mine.last)
        for (const Entry& e : mine.last->entries)
            if (is_like(e)) return e.event;
    if (mine.kept.size() >= most_kernels) mine.kept.clear();
    Entry made;
    made.event = std::make_shared<const Event>(made_event(kernel, shape, automatic, arguments, made.read));
    for (const Argument& a : arguments) {
        if (a.is_array)
            made.figures.insert(made.figures.end(), a.lengths.begin(), a.lengths.begin() + a.ndim);
        else if (!is_fraction(a))
            made.figures.push_back(static_cast<std::int64_t>(a.bits));
    }
    Kept& of_kernel = mine.kept[facts];
    mine.last = &of_kernel;
    mine.of = facts;
    if (of_kernel.entries.size() < most_of_kernel)
        return of_kernel.entries.emplace_back(std::move(made)).event;
    return (of_kernel.entries[of_kernel.next++ % most_of_kernel] = std::move(made)).event;
}

std::vector<std::int64_t> domain_lengths(const Lowered& lowered, std::span<const Argument> arguments,
                                         const std::string& kernel) {
    std::vector<std::int64_t> lengths;
    const std::size_t axes = lowered.domain.size();
    for (std::size_t i = 0; i < axes && axes <= 3; ++i) {
        const auto value = evaluate(lowered.module.kernel(), *lowered.domain[i], arguments);
        if (!value) break;
        lengths.push_back(*value);
    }
    if (lengths.empty() || lengths.size() < axes)
        throw Error(Fault::user, "TypeError",
                    kernel +
                        " does not tell how many threads it wants: it has no guard such as `if i < n` over "
                        "cuda.grid and no written array that cuda.grid indexes",
                    std::nullopt, "give the shape yourself: " + kernel + "[grid, block](...)");
    return lengths;
}

std::vector<std::int64_t> by_hardware_axis(const Lowered& lowered, std::span<const std::int64_t> lengths) {
    std::vector<std::int64_t> along(lengths.size(), 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto axis = static_cast<std::size_t>(lowered.automatic.order[i]);
        if (axis >= along.size()) along.resize(axis + 1, 1);
        along[axis] = lengths[i];
    }
    return along;
}

namespace {

// The grid of a tile kernel that tells how many programs it wants.
device::Shape programs_for(const Lowered& lowered, std::span<const Argument> arguments,
                           const device::Info& device, const std::string& kernel) {
    device::Shape shape;
    shape.block = lowered.program_block;
    std::int64_t* grid[3] = {&shape.grid.x, &shape.grid.y, &shape.grid.z};
    for (std::size_t i = 0; i < lowered.programs.size() && i < 3; ++i) {
        const auto value = evaluate(lowered.module.kernel(), *lowered.programs[i], arguments);
        if (!value) throw bug("a tile kernel's grid can't be told");
        *grid[i] = *value;
    }
    if (lowered.programs.empty())
        throw Error(Fault::user, "TypeError", kernel + " does not tell how many programs it wants",
                    std::nullopt,
                    "give the grid yourself: tiles.launch(stream, grid, " + kernel + ", arguments)");
    if (shape.grid.y > device.limits.grid.y || shape.grid.z > device.limits.grid.z)
        throw Error(
            Fault::user, "ValueError",
            kernel + ": the result takes more tiles along an axis than " + device.name + " has blocks",
            std::nullopt, "use a larger tile_size");
    const std::int64_t all = shape.grid.count(), most = device.multiprocessors;
    if (lowered.persistent && most > 0 && all > most) shape.grid = {most, 1, 1};
    return shape;
}

}  // namespace

device::Shape shape_for(const Lowered& lowered, std::span<const Argument> arguments,
                        const device::Info& device, const std::string& kernel) {
    if (lowered.key) return programs_for(lowered, arguments, device, kernel);
    std::vector<std::int64_t> lengths = domain_lengths(lowered, arguments, kernel);
    if (device.kind != "cpu") {
        lengths = by_hardware_axis(lowered, lengths);
        lengths[0] = (lengths[0] + lowered.automatic.elements - 1) / lowered.automatic.elements;
        if (const auto axis = static_cast<std::size_t>(lowered.automatic.row_axis); axis < lengths.size())
            lengths[axis] = (lengths[axis] + lowered.automatic.rows - 1) / lowered.automatic.rows;
    }
    return automatic_shape(lengths, device, kernel, lowered.block);
}

device::Shape written_shape_for(const Lowered& lowered, std::span<const Argument> arguments,
                                const device::Info& device, const std::string& kernel) {
    if (lowered.key) return programs_for(lowered, arguments, device, kernel);
    return automatic_shape(domain_lengths(lowered, arguments, kernel), device, kernel, lowered.block);
}

std::optional<Error> Started::error(const ElementReader& element) const {
    if (!timing || timing->fault.kind == 0) return std::nullopt;
    if (timing->fault.kind == static_cast<std::int32_t>(device::FaultKind::lost))
        return kernel->device->lost_error();
    ArgumentShapes shapes;
    auto next = event->lengths.begin();
    for (const Key argument : kernel->lowered->signature) {
        shapes.emplace_back();
        const ir::Type type = type_of(argument);
        if (!type.is_array()) continue;
        shapes.back().assign(next, next + type.ndim);
        next += type.ndim;
    }
    // A launch whose shape is ours may lay axes out anew on a GPU, and give a thread several elements.
    const bool as_written = !kernel->automatic || kernel->device->info().kind == "cpu";
    const device::Shape* shape = as_written ? &event->shape : nullptr;
    Error error = fault_error(timing->fault, kernel->sites, shapes, shape);
    const std::string values =
        named_values(timing->fault, kernel->lowered->module, kernel->sites, shape, shapes, element);
    if (values.empty()) return error;
    return Error(error.fault, error.python_type, std::string(error.what()) + ", where " + values, error.place,
                 error.hint);
}

device::Shape whole_shape(const Lowered& lowered, device::Shape shape) {
    shape.whole_grid = lowered.whole_grid;
    if (lowered.prints) shape.print_words = std::max<std::int64_t>(settings().print_bytes / 8, 8);
    return shape;
}

std::string Started::printed() const {
    if (!timing || !timing->printed) return {};
    return printed_text(timing->printed.get(), kernel->sites, kernel->lowered->whole_grid);
}

Started start(std::shared_ptr<const Specialisation> given, const device::Shape& asked, bool automatic,
              std::span<const Argument> arguments, device::Stream* stream) {
    Started started;
    started.kernel = std::move(given);
    const Specialisation* const kernel = started.kernel.get();
    device::Shape shape = whole_shape(*kernel->lowered, asked);
    if (shape.grid.count() == 0) return started;

    const emit::ArgumentLayout& layout = kernel->lowered->layout;
    alignas(64) std::array<std::byte, 1024> small;
    std::vector<std::byte> large;
    std::byte* packed = small.data();
    if (layout.bytes > small.size()) {
        large.resize(layout.bytes);
        packed = large.data();
    }
    pack(layout, arguments, *kernel->device, packed);

    started.event = event_of(*kernel, shape, automatic, arguments);
    note_launch(*kernel);
    const double begin = now();
    shape.dynamic_shared_bytes += kernel->text.moved_shared_bytes;
    const device::Range range(kernel->facts->name);
    const device::UnderWay told(device::Doing::launch, kernel->facts->name, begin);
    started.timing = kernel->device->launch(kernel->function, shape, {packed, layout.bytes}, stream);
    if (!started.timing) return started;
    record_launch(started.event, begin, reinterpret_cast<std::uintptr_t>(stream), started.timing);
    return started;
}

}  // namespace xcuda::launch
