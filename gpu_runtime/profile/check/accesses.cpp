#include "profile/check/accesses.hpp"

#include <map>

#include "profile/check/memory_map.hpp"

namespace xcuda::profile::check {

namespace {

struct Recorder : launch::Watcher {
    Recorder(Accesses& to, const launch::Watched& kernel, std::span<const launch::Argument> arguments,
             std::int64_t block, std::size_t most, bool to_the_end)
        : Watcher{[](Watcher* w, std::int64_t b, std::uint32_t t, What what, std::int32_t site,
                     std::uint64_t address,
                     std::uint64_t) { static_cast<Recorder*>(w)->touched(b, t, what, site, address); },
                  [](Watcher* w, std::int64_t b, std::uint32_t t, What what, std::int32_t, std::uint64_t) {
                      auto* self = static_cast<Recorder*>(w);
                      if (what == What::barrier || what == What::grid) ++self->phases_[self->number(b, t)];
                  },
                  [](Watcher* w, std::int64_t b, std::uint32_t t, std::int32_t variable,
                     std::uint64_t address, std::uint64_t bytes) {
                      auto* self = static_cast<Recorder*>(w);
                      self->map_.lies(variable, self->number(b, t), address, bytes);
                  },
                  [](Watcher*, std::int64_t, std::uint32_t, std::int32_t, double, double, double) {},
                  [](Watcher* w, std::int64_t turn) { return static_cast<Recorder*>(w)->block_at(turn); },
                  [](Watcher* w) { w->left = INT64_MAX; }},
          to_(to),
          kernel_(kernel),
          map_(kernel.module, *kernel.module.fiber, arguments),
          block_(block),
          most_(most),
          to_the_end_(to_the_end) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const launch::Argument& a = arguments[i];
            if (!a.is_array) continue;
            numbers_[{static_cast<int>(i), -1}] = static_cast<std::int32_t>(to_.arrays.size());
            const ir::Function& f = *kernel.module.fiber;
            to_.arrays.push_back({f.vars[static_cast<std::size_t>(f.params[i])].name,
                                  false,
                                  {a.lengths.begin(), a.lengths.begin() + a.ndim}});
        }
    }

private:
    std::uint32_t number(std::int64_t block, std::uint32_t thread) const {
        return static_cast<std::uint32_t>(block * kernel_.shape.block.count() + thread);
    }

    std::int32_t array_of(const Range& range) {
        const auto [at, fresh] = numbers_.try_emplace({range.parameter, range.variable},
                                                      static_cast<std::int32_t>(to_.arrays.size()));
        if (!fresh) return at->second;
        const ir::Var& v = kernel_.module.fiber->vars[static_cast<std::size_t>(range.variable)];
        std::vector<std::int64_t> extents(v.type.extents.begin(), v.type.extents.end());
        if (extents.empty())  // its length is the launch's
            extents.push_back(static_cast<std::int64_t>((range.end - range.begin) / range.element));
        to_.arrays.push_back({map_.name(range), true, std::move(extents)});
        return at->second;
    }

    void touched(std::int64_t block, std::uint32_t thread, What what, std::int32_t site,
                 std::uint64_t address) {
        const std::uint32_t who = number(block, thread);
        const Range* range = map_.find(address, site, who);
        if (!range || range->space == ir::Space::local) return;
        if (to_.touches.size() >= most_) {
            to_.cut = true;
            return;
        }
        const std::int32_t array = array_of(*range);
        const auto& extents = to_.arrays[static_cast<std::size_t>(array)].extents;
        const auto index = map_.index(*range, address);
        if (index.size() != extents.size()) return;
        std::int64_t element = 0;
        for (std::size_t i = 0; i < index.size(); ++i) element = element * extents[i] + index[i];
        const int line = kernel_.module.sites[static_cast<std::size_t>(site)].place.line;
        to_.touches.push_back({what, block, thread, array, element, line, phases_[who]});
    }

    std::int64_t block_at(std::int64_t turn) {
        map_.begin_block();
        if (!kernel_.module.whole_grid) phases_.clear();
        if (block_ >= 0) return turn == 0 ? block_ : -1;
        return turn < kernel_.shape.grid.count() && (to_the_end_ || !to_.cut) ? turn : -1;
    }

    Accesses& to_;
    const launch::Watched& kernel_;
    MemoryMap map_;
    const std::int64_t block_;
    const std::size_t most_;
    const bool to_the_end_;
    std::map<std::pair<int, int>, std::int32_t> numbers_;  // of arrays, by parameter and variable
    std::unordered_map<std::uint32_t, std::int32_t> phases_;
};

}  // namespace

Accesses accesses(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
                  const device::Shape& shape, std::int64_t block, std::size_t most, bool to_the_end) {
    Accesses made;
    const launch::Watched kernel = launch::watched(lowered, shape);
    made.shape = kernel.shape;
    Recorder recorder(made, kernel, arguments, block, most, to_the_end);
    if (shape.grid.count() == 0 || shape.block.count() == 0) return made;
    launch::Listened run = launch::run_watched(kernel, arguments, recorder);
    if (run.fault && run.kind == device::FaultKind::interrupted) throw *run.fault;
    made.fault = std::move(run.fault);
    return made;
}

}  // namespace xcuda::profile::check
