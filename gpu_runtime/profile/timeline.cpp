#include "profile/timeline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace xcuda::profile {
namespace {

using launch::Event;
using nlohmann::json;

const char* state_of(const Event& e) {
    if (!e.timing || e.kind != Event::Kind::launch) return "done";
    if (!e.timing->done.load(std::memory_order_acquire)) return "running";
    if (e.timing->fault.kind != 0) return "failed";
    return e.timing->timed ? "done" : "not measured";
}

const char* kind_of(const Event& e) {
    if (e.kind == Event::Kind::launch) return "launch";
    if (e.kind == Event::Kind::compile) return "compile";
    return copy_direction(e.kind);
}

/// Streams have no names: 0 is the default one, others are counted in order of their first use.
class StreamNumbers {
public:
    int of(const Event& e) {
        return e.stream ? known_.emplace(e.stream, static_cast<int>(known_.size()) + 1).first->second : 0;
    }

private:
    std::map<std::uintptr_t, int> known_;
};

}  // namespace

const char* copy_direction(Event::Kind kind) {
    switch (kind) {
        case Event::Kind::copy_in: return "to device";
        case Event::Kind::copy_out: return "to host";
        case Event::Kind::copy_within: return "on device";
        case Event::Kind::fill: return "fill";
        default: return nullptr;
    }
}

json timeline(const launch::Slice& slice, double origin, std::size_t most) {
    StreamNumbers streams;
    std::vector<json> rows;
    std::size_t left_out = slice.lost;
    for (const auto& sum : slice.sums) left_out += static_cast<std::size_t>(sum.calls);
    for (const Event& e : slice.events) {
        const char* kind = kind_of(e);
        if (!kind || (e.kind == Event::Kind::launch && !e.timing)) continue;
        if (rows.size() >= most) {
            ++left_out;
            continue;
        }
        const std::string state = state_of(e);
        const bool known = state == "done" || (state == "failed" && e.end > 0);
        json row{{"kind", kind},
                 {"name", e.kernel ? e.kernel->name : std::string(kind)},
                 {"device", e.device},
                 {"stream", streams.of(e)},
                 {"begin", e.begin - origin},
                 {"end", known ? json(std::max(e.end, e.begin) - origin) : json(nullptr)},
                 {"state", state}};
        if (copy_direction(e.kind)) row["bytes"] = e.bytes;
        if (e.foreign) row["foreign"] = true;
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const json& a, const json& b) { return a["begin"] < b["begin"]; });
    return {{"events", std::move(rows)}, {"left_out", left_out}};
}

LaunchTimes launch_times(const launch::Slice& slice) {
    LaunchTimes all;
    std::vector<std::pair<double, double>> spans;
    std::set<const device::Device::Launch*> replays;  // with launches that have no time of their own
    bool replays_known = true;
    for (const auto& replay : slice.replays) {
        replays.insert(replay.get());
        replays_known &= replay->has_time();
    }
    for (const Event& e : slice.events) {
        if (e.kind == Event::Kind::copy_in || e.kind == Event::Kind::copy_out) all.copied += e.bytes;
        if (e.kind != Event::Kind::launch || !e.timing) continue;
        ++all.launches;
        if (std::string_view(state_of(e)) == "done")
            spans.emplace_back(e.begin, e.end);
        else if (e.timing->whole && e.timing->whole->has_time())
            replays.insert(e.timing->whole.get());
        else
            ++all.unknown;
    }
    all.unknown += static_cast<int>(slice.lost);
    for (const auto& sum : slice.sums) {
        all.launches += sum.calls;
        if (!sum.what->replayed || sum.timed > 0 || slice.replays.empty() || !replays_known)
            all.unknown += sum.calls - sum.timed;
        all.busy += sum.total;  // of one stream, one after the other
    }
    for (const auto* replay : replays)
        if (replay->has_time()) spans.emplace_back(replay->begin, replay->end);
    std::sort(spans.begin(), spans.end());
    double until = spans.empty() ? 0 : spans.front().first;
    for (const auto& [begin, end] : spans) {
        if (end <= until) continue;
        all.busy += end - std::max(begin, until);
        until = end;
    }
    return all;
}

}  // namespace xcuda::profile
