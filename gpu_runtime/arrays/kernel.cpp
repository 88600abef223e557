#include "arrays/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "launch/shape.hpp"
#include "launch/target.hpp"

namespace xcuda::arrays {
namespace {

constexpr std::size_t most_sites = 64;  // of one kernel that are told apart

struct Sited {
    const void* code;
    int instruction;
    std::shared_ptr<const launch::Specialisation> general, sited;
    std::shared_ptr<void> keeps;
};

// All of one structure.
struct Entry {
    std::unique_ptr<launch::Program> program;
    std::shared_ptr<const launch::Lowered> lowered;             // of the last launch
    std::shared_ptr<const launch::Specialisation> specialised;  // of the last launch
    std::vector<Sited> sites;
};

std::unordered_map<std::string, Entry>& entries() {
    static auto* all = new std::unordered_map<std::string, Entry>;
    return *all;
}

PlaceOf place_of = nullptr;
std::uint64_t launches = 0;
std::vector<Launched>* watcher = nullptr;

launch::Argument array_argument(DType dtype, const Axes& axes, const Memory& memory) {
    launch::Argument a;
    a.is_array = true;
    a.dtype = dtype;
    a.address = memory.address;
    if (axes.count > launch::max_ndim)
        throw Error(Fault::user, "ValueError", "the array's axes lie in more than 8 independent directions",
                    std::nullopt, "make a contiguous copy of it first: x.copy()");
    for (int i = 0; i < axes.count; ++i) {
        const auto to = static_cast<std::size_t>(a.ndim++), from = static_cast<std::size_t>(axes[i]);
        a.lengths[to] = memory.view.lengths[from];
        a.strides[to] = memory.view.strides[from];
    }
    if (a.ndim == 0) {
        a.ndim = 1;
        a.lengths[0] = a.strides[0] = 1;
    }
    a.layout = launch::layout_of(a.ndim, a.lengths.data(), a.strides.data());
    return a;
}

launch::Argument number_argument(DType dtype, std::uint64_t bits, std::uint64_t more_bits,
                                 bool weak = false) {
    launch::Argument a;
    a.dtype = dtype;
    a.bits = bits;
    a.more_bits = more_bits;
    a.weak = weak;
    return a;
}

void arguments_of(const Kernel& k, std::vector<launch::Argument>& out) {
    const Structure& s = k.structure;
    for (std::size_t i = 0; i < s.outputs.size(); ++i)
        out.push_back(array_argument(s.outputs[i].dtype, s.outputs[i].axes, k.outputs[i]));
    for (std::size_t i = 0; i < s.slots.size(); ++i)
        out.push_back(s.slots[i].number
                          ? number_argument(s.slots[i].dtype, k.slots[i].bits, k.slots[i].more_bits)
                          : array_argument(s.slots[i].dtype, s.slots[i].axes, k.slots[i]));
    const std::size_t before =
        s.folding.empty() ? k.figures.size() : static_cast<std::size_t>(s.folding[0].axes);
    for (std::size_t i = 0; i < k.figures.size(); ++i) {
        if (i == before)
            out.push_back(number_argument(loop_of(s.folding[0].loop).out, k.identity, k.more_identity));
        out.push_back(number_argument(DType::i64, static_cast<std::uint64_t>(k.figures[i]), 0, true));
    }
    if (!s.folding.empty() && before == k.figures.size())
        out.push_back(number_argument(loop_of(s.folding[0].loop).out, k.identity, k.more_identity));
}

std::optional<device::Dim3> block_of(int threads, int axes) {
    if (threads == 0) return std::nullopt;
    const auto n = static_cast<unsigned>(threads);
    return axes == 1 ? device::Dim3{n, 1, 1} : device::Dim3{32, n / 32, 1};
}

Entry& entry_of(const Structure& s, const Queue& queue) {
    std::string key = s.key();
    if (queue.fast || queue.threads || queue.elements)
        key += fmt::format("|{} {} {}", queue.fast, queue.threads, queue.elements);
    Entry& entry = entries()[key];
    if (entry.program) return entry;
    launch::Options options;
    options.checked = false;
    options.fma = queue.fast;  // else every operation is rounded, as NumPy rounds
    options.fastmath = queue.fast;
    options.tuning.block = block_of(queue.threads, s.axes - (s.folding.empty() ? 0 : s.folding[0].axes) -
                                                       (s.rows.empty() ? 0 : s.rows[0].axes));
    if (queue.elements) options.tuning.elements = queue.elements;
    entry.program = std::make_unique<launch::Program>(
        s.text(), [s](const std::vector<ir::Type>& parameters) { return lowered(s, parameters); }, options);
    return entry;
}

// The specialisation as the report is to name it: at the user's line.
const std::shared_ptr<const launch::Specialisation>& at_site(
    Entry& entry, const std::shared_ptr<const launch::Specialisation>& general, const Site& site) {
    if (!site.code || !place_of) return general;
    for (const Sited& s : entry.sites)
        if (s.code == site.code.get() && s.instruction == site.instruction && s.general == general)
            return s.sited;
    const Place place = place_of(site);
    std::shared_ptr<const launch::Specialisation> sited;
    for (const Sited& s : entry.sites)  // a cell that runs again is new code at the same line
        if (s.general == general && s.sited->facts->place == place) sited = s.sited;
    if (!sited) {
        auto made = std::make_shared<launch::Specialisation>(*general);
        auto facts = std::make_shared<launch::KernelFacts>(*general->facts);
        facts->place = place;
        made->facts = std::move(facts);
        sited = std::move(made);
    }
    if (entry.sites.size() >= most_sites) entry.sites.clear();
    entry.sites.push_back({site.code.get(), site.instruction, general, std::move(sited), site.code});
    return entry.sites.back().sited;
}

std::int64_t bytes_of(DType dtype, const Memory& memory) {
    std::int64_t n = static_cast<std::int64_t>(info(dtype).size);
    for (std::size_t i = 0; i < static_cast<std::size_t>(memory.view.ndim); ++i)
        if (memory.view.strides[i] != 0) n *= memory.view.lengths[i];
    return n;
}

Launched described(const Kernel& k) {
    const Structure& s = k.structure;
    Launched out;
    out.text = s.text(std::string::npos);
    out.threads = k.outputs[0].view.size();
    for (std::size_t i = 0; i < s.outputs.size(); ++i)
        out.bytes_written += bytes_of(s.outputs[i].dtype, k.outputs[i]);
    for (std::size_t i = 0; i < s.slots.size(); ++i) {
        if (s.slots[i].number || s.slots[i].ramp) continue;
        out.bytes_read += bytes_of(s.slots[i].dtype, k.slots[i]);
        ++out.arrays_read;
    }
    out.arrays_written = static_cast<int>(s.outputs.size());
    out.operations = static_cast<int>(s.steps.size()) + static_cast<int>(s.folding.size());
    out.folds = !s.folding.empty() || !s.rows.empty();
    return out;
}

}  // namespace

std::vector<Launched>* watch(std::vector<Launched>* log) { return std::exchange(watcher, log); }

Axes axes_of(const View& view, bool all) {
    std::array<int, max_axes> order;
    int n = 0;
    const auto stride = [&](int axis) { return std::abs(view.strides[static_cast<std::size_t>(axis)]); };
    for (int d = 0; d < view.ndim; ++d)
        if (all || stride(d) != 0) order[static_cast<std::size_t>(n++)] = d;
    sort_few(order.data(), order.data() + n, [&](int a, int b) { return stride(a) > stride(b); });
    Axes axes;
    for (int i = 0; i < n; ++i) axes.add(order[static_cast<std::size_t>(i)]);
    return axes;
}

void set_place_of(PlaceOf hook) { place_of = hook; }

Counts counts() { return {launches, entries().size()}; }

std::vector<Targeted> compile_all_for(const std::string& architecture) {
    std::vector<Targeted> out;
    for (const auto& [key, entry] : entries()) {
        if (!entry.lowered) continue;
        const launch::Targeted made = launch::compile_for(*entry.program, *entry.lowered, architecture, true);
        out.push_back({entry.program->name(), made.text.kernel, made.image.attributes.registers,
                       made.image.attributes.local_bytes});
    }
    return out;
}

void start(const Kernel& kernel, const Site& site, const Queue& queue) {
    Entry& entry = entry_of(kernel.structure, queue);
    thread_local std::vector<launch::Argument> arguments;
    arguments.clear();
    arguments_of(kernel, arguments);
    if (!entry.lowered || !launch::matches(entry.lowered->signature, arguments)) {
        entry.lowered = entry.program->lower(launch::signature(arguments));
        entry.specialised = nullptr;
    }
    const device::Info& info = queue.device->info();
    const device::Shape shape =
        kernel.shape ? *kernel.shape
                     : launch::shape_for(*entry.lowered, arguments, info, entry.program->name());
    const bool long_grid = info.kind != "cpu" && launch::is_long(shape);
    if (!entry.specialised || entry.specialised->device != queue.device ||
        entry.specialised->long_grid != long_grid ||
        (entry.specialised->block && *entry.specialised->block != shape.block))
        entry.specialised =
            entry.program->specialise(entry.lowered, queue.device, shape.block, true, long_grid);
    ++launches;
    if (watcher) [[unlikely]]
        watcher->push_back(described(kernel));
    queue.launched(
        launch::start(at_site(entry, entry.specialised, site), shape, true, arguments, queue.stream.get()));
}

}  // namespace xcuda::arrays
