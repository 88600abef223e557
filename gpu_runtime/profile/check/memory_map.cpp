#include "profile/check/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace xcuda::profile::check {

namespace {

/// The index of an address in an array, where its strides tell; empty where they don't.
std::vector<std::int64_t> index_in(const launch::Argument& a, std::uint64_t address) {
    std::vector<std::size_t> axes;
    for (int i = 0; i < a.ndim; ++i)
        if (a.lengths[static_cast<std::size_t>(i)] > 1) axes.push_back(static_cast<std::size_t>(i));
    std::sort(axes.begin(), axes.end(),
              [&](std::size_t i, std::size_t j) { return std::abs(a.strides[i]) > std::abs(a.strides[j]); });
    std::vector<std::int64_t> index(static_cast<std::size_t>(a.ndim), 0);
    // From the first byte: an axis that runs backwards counts from its other end.
    std::int64_t left = reinterpret_cast<const char*>(address) - launch::extent(a).begin;
    for (const std::size_t axis : axes) {
        const std::int64_t step = std::abs(a.strides[axis]) * a.stride_unit();
        if (step == 0) return {};
        const std::int64_t along = std::min(left / step, a.lengths[axis] - 1);
        left -= along * step;
        index[axis] = a.strides[axis] < 0 ? a.lengths[axis] - 1 - along : along;
    }
    if (left < 0 || left >= static_cast<std::int64_t>(info(a.dtype).size)) return {};
    return index;
}

std::vector<std::int64_t> index_in(std::span<const std::int64_t> extents, std::int64_t flat) {
    std::vector<std::int64_t> index;
    for (std::size_t i = extents.size(); i-- > 0;) {
        index.insert(index.begin(), i ? flat % extents[i] : flat);
        if (i) flat /= extents[i];
    }
    if (extents.empty()) index.push_back(flat);
    return index;
}

}  // namespace

MemoryMap::MemoryMap(const ir::Module& module, const ir::Function& thread,
                     std::span<const launch::Argument> arguments)
    : arguments_(arguments),
      module_(module),
      thread_(thread),
      last_(module.sites.size()) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].is_array) continue;
        const launch::Extent e = launch::extent(arguments[i]);
        given_.push_back({reinterpret_cast<std::uint64_t>(e.begin), reinterpret_cast<std::uint64_t>(e.end),
                          static_cast<int>(i), -1, ir::Space::global, info(arguments[i].dtype).size});
    }
}

bool MemoryMap::lies(int variable, std::uint32_t thread, std::uint64_t address, std::uint64_t bytes) {
    const ir::Var& v = thread_.vars[static_cast<std::size_t>(variable)];
    const Range range{address, address + bytes, -1, variable, v.type.space, info(v.type.dtype).size};
    const bool shared = range.space == ir::Space::shared;
    auto& known = shared ? shared_ : local_[thread];
    for (const Range& r : known)
        if (r.variable == variable && r.begin == range.begin && r.end == range.end) return !shared;
    known.push_back(range);
    return true;
}

void MemoryMap::begin_block() {
    shared_.clear();
    local_.clear();
    for (Range& r : last_)
        if (r.parameter < 0) r = {};
}

const Range* MemoryMap::find(std::uint64_t address, std::int32_t site, std::uint32_t thread) {
    Range* last = site >= 0 && static_cast<std::size_t>(site) < last_.size()
                      ? &last_[static_cast<std::size_t>(site)]
                      : nullptr;
    if (last && last->holds(address)) return last;
    const std::string* wanted = last ? &module_.sites[static_cast<std::size_t>(site)].subject : nullptr;
    const Range* found = nullptr;
    const auto own = local_.find(thread);
    for (const auto* ranges : {&given_, &shared_, own == local_.end() ? nullptr : &own->second}) {
        if (!ranges) continue;
        for (const Range& r : *ranges) {
            if (!r.holds(address)) continue;
            const bool named = wanted && name(r) == *wanted;  // arrays that overlap: the one the line names
            if (!found || named) found = &r;
            if (named) break;
        }
    }
    if (found && last) *last = *found;
    return found;
}

std::string MemoryMap::name(const Range& range) const {
    const ir::Function& f = thread_;
    if (range.variable >= 0) return f.vars[static_cast<std::size_t>(range.variable)].name;
    return f.vars[static_cast<std::size_t>(f.params[static_cast<std::size_t>(range.parameter)])].name;
}

std::vector<std::int64_t> MemoryMap::index(const Range& range, std::uint64_t address) const {
    if (range.parameter >= 0) return index_in(arguments_[static_cast<std::size_t>(range.parameter)], address);
    return index_in(thread_.vars[static_cast<std::size_t>(range.variable)].type.extents,
                    static_cast<std::int64_t>((address - range.begin) / range.element));
}

std::string MemoryMap::element(std::uint64_t address, std::int32_t site, std::uint32_t thread) {
    const Range* range = find(address, site, thread);
    if (!range) return "an element";
    return fmt::format("{}[{}]", name(*range), fmt::join(index(*range, address), ", "));
}

}  // namespace xcuda::profile::check
