// Accesses of a block between two barriers: one element, two threads, a write among them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "profile/analysis/finding.hpp"
#include "profile/constant_stores.hpp"

namespace xcuda::profile::analysis {

using What = launch::TraceRecord::What;

namespace {

/// The last access of each kind to an element and how far its thread had come then.
struct Last {
    int epoch = -1, warp_epoch = -1;  // barriers, and meetings of its warp, that the thread has passed
    std::uint32_t thread = 0;
    std::int32_t site = -1;
};
struct Element {
    Last write, read, atomic, other_read;  // other_read: of another thread than `read`'s
};

class Watch {
public:
    Watch(const Subject& subject, std::vector<Finding>& found)
        : subject_(subject),
          found_(found),
          constant_(constant_stores(subject.trace.module)) {}

    void block(const launch::BlockTrace& trace) {
        std::unordered_map<std::uint64_t, Element> elements;
        std::unordered_map<std::uint32_t, int> passed, met;  // by thread
        for (const launch::TraceRecord& r : trace.records) {
            if (r.what == What::barrier) {
                ++passed[r.thread];
                continue;
            }
            if (r.what == What::warp) {
                ++met[r.thread];
                continue;
            }
            if (r.what == What::branch || r.what == What::turn) continue;
            const Last now{passed[r.thread], met[r.thread], r.thread, r.where};
            Element& e = elements[r.value];
            if (r.what == What::read) {
                meet(e.write, now, trace.block, "writes", "reads");
                if (e.read.thread != r.thread) e.other_read = e.read;
                e.read = now;
            } else if (r.what == What::write) {
                if (r.silent) continue;
                if (!(constant_.contains(r.where) && e.write.site == r.where))
                    meet(e.write, now, trace.block, "writes", "writes");
                meet(e.read, now, trace.block, "reads", "writes");
                meet(e.other_read, now, trace.block, "reads", "writes");
                meet(e.atomic, now, trace.block, "changes", "writes");
                e.write = now;
            } else {
                meet(e.write, now, trace.block, "writes", "changes");
                e.atomic = now;
            }
        }
    }

private:
    std::string thread(std::uint32_t linear) const {
        const auto& b = subject_.trace.shape.block;
        return fmt::format("({}, {}, {})", linear % b.x, linear / b.x % b.y, linear / b.x / b.y);
    }

    void meet(const Last& before, const Last& now, std::int64_t block, const char* did, const char* does) {
        if (before.site < 0 || before.epoch != now.epoch || before.thread == now.thread) return;
        const bool one_warp = before.thread / warp_lanes == now.thread / warp_lanes;
        if (one_warp && before.warp_epoch != now.warp_epoch) return;
        if (!said_.emplace(std::minmax(before.site, now.site)).second) return;
        const auto& sites = subject_.trace.module.sites;
        const Place &then = sites[static_cast<std::size_t>(before.site)].place,
                    &here = sites[static_cast<std::size_t>(now.site)].place;
        const ir::Var* array = array_of(subject_, now.site);
        const std::string& name = array ? array->name : sites[static_cast<std::size_t>(now.site)].subject;
        const bool shared = array && array->type.space == ir::Space::shared;
        found_.push_back(
            {{},
             then.line > here.line ? then : here,
             fmt::format(
                 "an element of {} that thread {} {} at line {}, thread {} {} at line {} (block {}), with no "
                 "barrier between: which comes first is left to chance",
                 name, thread(before.thread), did, then.line, thread(now.thread), does, here.line, block),
             shared ? "put cuda.syncthreads() between the two lines (in a loop: also before the next turn "
                      "writes)"
                    : "let each thread write its own element, use cuda.atomic, or put cuda.syncthreads() "
                      "between "
                      "where both threads are of one block",
             std::nullopt,
             name,
             std::min(then.line, here.line)});
    }

    const Subject& subject_;
    std::vector<Finding>& found_;
    std::set<int> constant_;
    std::set<std::pair<int, int>> said_;
};

}  // namespace

void races(const Subject& subject, std::vector<Finding>& found) {
    Watch watch(subject, found);
    for (const launch::BlockTrace& block : subject.trace.blocks) watch.block(block);
}

namespace {

// The array whose index was tested there.
std::string indexed(const Subject& subject, const Place& place) {
    for (const ir::Site& s : subject.trace.module.sites)
        if (s.kind == ir::Site::Kind::index && s.place == place) return s.subject;
    return {};
}

}  // namespace

void out_of_range(const Subject& subject, std::vector<Finding>& found) {
    const auto& fault = subject.trace.fault;
    if (!fault || !fault->place || subject.trace.fault_kind == device::FaultKind::barrier) return;
    const bool index = fault->python_type == "IndexError";
    const std::string name = indexed(subject, *fault->place);
    found.push_back(
        {{},
         *fault->place,
         std::string(fault->python_type) + ": " + fault->what(),
         index ? fmt::format(
                     "let no thread come here with such an index: where the grid has more threads than {0} "
                     "has elements, guard the body with `if i < {0}.shape[0]:`",
                     name)
               : std::string("let no thread come here with such values"),
         std::nullopt,
         index ? name : std::string()});
}

}  // namespace xcuda::profile::analysis
