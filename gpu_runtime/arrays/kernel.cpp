#include "arrays/kernel.hpp"

#include <algorithm>
#include <unordered_map>

#include "launch/shape.hpp"

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

launch::Argument array_argument(DType dtype, std::uint32_t axes, const Memory& memory) {
    launch::Argument a;
    a.is_array = true;
    a.dtype = dtype;
    a.address = memory.address;
    for (int d = 0; d < memory.view.ndim; ++d) {
        if (!(axes >> d & 1)) continue;
        if (a.ndim == launch::max_ndim)
            throw Error(Fault::user, "ValueError",
                        "the array's axes lie in more than 8 independent directions", std::nullopt,
                        "make a contiguous copy of it first: x.copy()");
        const auto i = static_cast<std::size_t>(a.ndim++);
        a.lengths[i] = memory.view.lengths[static_cast<std::size_t>(d)];
        a.strides[i] = memory.view.strides[static_cast<std::size_t>(d)];
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

Entry& entry_of(const Structure& s) {
    Entry& entry = entries()[s.key()];
    if (entry.program) return entry;
    launch::Options options;
    options.checked = false;
    options.fma = false;  // every operation is rounded, as NumPy rounds
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
    if (entry.sites.size() >= most_sites) entry.sites.clear();
    auto sited = std::make_shared<launch::Specialisation>(*general);
    auto facts = std::make_shared<launch::KernelFacts>(*general->facts);
    facts->place = place_of(site);
    sited->facts = std::move(facts);
    entry.sites.push_back({site.code.get(), site.instruction, general, std::move(sited), site.code});
    return entry.sites.back().sited;
}

}  // namespace

void set_place_of(PlaceOf hook) { place_of = hook; }

Counts counts() { return {launches, entries().size()}; }

void start(const Kernel& kernel, const Site& site, const Queue& queue) {
    Entry& entry = entry_of(kernel.structure);
    thread_local std::vector<launch::Argument> arguments;
    arguments.clear();
    arguments_of(kernel, arguments);
    if (!entry.lowered || !launch::matches(entry.lowered->signature, arguments)) {
        entry.lowered = entry.program->lower(launch::signature(arguments));
        entry.specialised = nullptr;
    }
    const device::Info& info = queue.device->info();
    const device::Shape shape = launch::shape_for(*entry.lowered, arguments, info, entry.program->name());
    const bool long_grid = info.kind != "cpu" && launch::is_long(shape);
    if (!entry.specialised || entry.specialised->device != queue.device ||
        entry.specialised->long_grid != long_grid ||
        (entry.specialised->block && *entry.specialised->block != shape.block))
        entry.specialised =
            entry.program->specialise(entry.lowered, queue.device, shape.block, true, long_grid);
    ++launches;
    queue.launched(
        launch::start(at_site(entry, entry.specialised, site), shape, true, arguments, queue.stream.get()));
}

}  // namespace xcuda::arrays
