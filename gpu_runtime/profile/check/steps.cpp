#include "profile/check/steps.hpp"

namespace xcuda::profile::check {

namespace {

struct Recorder : launch::Watcher {
    Recorder(Steps& to, std::int64_t block, std::uint32_t thread, std::size_t most)
        : Watcher{
              [](Watcher* w, std::int64_t b, std::uint32_t t, What what, std::int32_t id, std::uint64_t low,
                 std::uint64_t high) { static_cast<Recorder*>(w)->told(b, t, what, id, low, high); },
              [](Watcher*, std::int64_t, std::uint32_t, What, std::int32_t, std::uint64_t) {},
              [](Watcher*, std::int64_t, std::uint32_t, std::int32_t, std::uint64_t, std::uint64_t) {},
              [](Watcher*, std::int64_t, std::uint32_t, std::int32_t, double, double, double) {},
              [](Watcher* w, std::int64_t turn) { return static_cast<Recorder*>(w)->block_at(turn); },
              [](Watcher* w) { w->left = INT64_MAX; }},
          to_(to),
          block_(block),
          thread_(thread),
          most_(most) {}

private:
    void told(std::int64_t block, std::uint32_t thread, What what, std::int32_t id, std::uint64_t low,
              std::uint64_t high) {
        if (what < What::step) return;
        if (block_ < 0) {
            const bool here = what == What::step && to_.points[static_cast<std::size_t>(id)].breakpoint;
            if (here && !to_.at_breakpoint) to_.at_breakpoint.emplace(block, thread);
            return;
        }
        if (block != block_ || thread != thread_) return;
        if (to_.events.size() < most_)
            to_.events.push_back({what, id, {low, high}});
        else
            to_.cut = true;
    }

    std::int64_t block_at(std::int64_t turn) const {
        if (block_ >= 0) return turn == 0 ? block_ : -1;
        return turn < to_.shape.grid.count() && !to_.at_breakpoint ? turn : -1;
    }

    Steps& to_;
    const std::int64_t block_;
    const std::uint32_t thread_;
    const std::size_t most_;
};

}  // namespace

Steps follow(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
             const device::Shape& shape, std::int64_t block, std::uint32_t thread, std::size_t most) {
    Steps made;
    const launch::Watched kernel = launch::watched(lowered, shape, &made.points);
    made.shape = kernel.shape;
    made.variables = kernel.module.fiber->vars;
    if (shape.grid.count() == 0 || shape.block.count() == 0) return made;
    Recorder recorder(made, block, thread, most);
    launch::Listened run = launch::run_watched(kernel, arguments, recorder);
    if (run.fault && run.kind == device::FaultKind::interrupted) throw *run.fault;
    made.fault = std::move(run.fault);
    return made;
}

}  // namespace xcuda::profile::check
