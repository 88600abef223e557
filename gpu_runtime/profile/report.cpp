#include "profile/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "profile/advice.hpp"
#include "profile/figure.hpp"
#include "profile/kernel_row.hpp"
#include "profile/timeline.hpp"

namespace xcuda::profile {
namespace {

using launch::Event;
using nlohmann::json;

json place_json(const Place& place) { return object({{"file", place.file}, {"line", place.line}}); }

json compiles(const std::vector<Event>& events) {
    json rows = json::array();
    for (const auto& e : events) {
        if (e.kind != Event::Kind::compile || !e.kernel) continue;
        rows.push_back(object({{"kernel", e.kernel->name},
                               {"signature", e.kernel->signature},
                               {"place", place_json(e.kernel->place)},
                               {"device", e.device},
                               {"from", e.compile_source},
                               {"time", figure(e.end - e.begin, "s", From::measured)}}));
    }
    return rows;
}

struct CopySum {
    int calls = 0;
    double bytes = 0, seconds = 0;
};

json copies(const std::vector<Event>& events) {
    std::map<std::tuple<bool, std::string, Event::Kind>, CopySum> sums;
    for (const auto& e : events) {
        if (!copy_direction(e.kind)) continue;
        auto& sum = sums[{e.foreign, e.device, e.kind}];
        ++sum.calls;
        sum.bytes += static_cast<double>(e.bytes);
        sum.seconds += e.end - e.begin;
    }
    json rows = json::array();
    for (const auto& [key, sum] : sums) {
        const auto& [foreign, device, kind] = key;
        rows.push_back(
            object({{"device", device},
                    {"direction", copy_direction(kind)},
                    {"calls", sum.calls},
                    {"bytes", figure(sum.bytes, "B", From::measured)},
                    {"time", figure(sum.seconds, "s", From::measured)},
                    {"bandwidth", sum.seconds > 0 ? figure(sum.bytes / sum.seconds, "B/s", From::measured)
                                                  : absent("too short for the clock")}}));
        if (foreign) rows.back()["foreign"] = true;
    }
    return rows;
}

json ceiling(const DeviceState& d, double Ceilings::* which, const char* unit) {
    if (!d.ceilings) return absent(d.no_ceilings);
    const bool computed = d.ceilings->flops_computed && which != &Ceilings::copy_bytes_per_second;
    return figure((*d.ceilings).*which, unit, computed ? From::computed : From::measured);
}

json devices_json(const std::vector<Event>& events, const std::vector<DeviceState>& devices) {
    json rows = json::array();
    for (const auto& d : devices) {
        double change = 0;
        for (const auto& e : events) {
            if (e.device != d.label) continue;
            if (e.kind == Event::Kind::allocate) change += static_cast<double>(e.bytes);
            if (e.kind == Event::Kind::release) change -= static_cast<double>(e.bytes);
        }
        const std::string_view no_memory = "the device does not tell";
        rows.push_back(object({{"device", d.label},
                               {"kind", d.info.kind},
                               {"name", d.info.name},
                               {"architecture", d.info.architecture},
                               {"multiprocessors", d.info.multiprocessors},
                               {"memory_change", figure(change, "B", From::measured)},
                               {"memory_used", d.memory ? figure(double(d.memory->used), "B", From::measured)
                                                        : absent(no_memory)},
                               {"copy_bandwidth", ceiling(d, &Ceilings::copy_bytes_per_second, "B/s")},
                               {"peak_float32", ceiling(d, &Ceilings::flops_f32, "FLOP/s")},
                               {"peak_float64", ceiling(d, &Ceilings::flops_f64, "FLOP/s")}}));
    }
    return rows;
}

Surroundings surroundings(const std::vector<Event>& events, const std::vector<KernelRow>& rows,
                          double begin) {
    Surroundings all;
    for (const auto& row : rows)
        if (!row.foreign) all.device_seconds += row.total, all.launches += row.calls;
    for (const auto& e : events) {
        if (e.foreign) continue;
        if (e.kind == Event::Kind::compile && e.kernel && e.compile_source == "compiled") {
            ++all.compiled;
            all.compile_seconds += e.end - e.begin;
            all.compiled_names.push_back(e.kernel->name);
        }
        if (e.kind != Event::Kind::copy_in && e.kind != Event::Kind::copy_out) continue;
        all.copies_in += e.kind == Event::Kind::copy_in;
        if (e.before > 0 && e.before < begin) {
            ++all.copies_again;
            all.bytes_again += static_cast<double>(e.bytes);
            all.seconds_again += e.end - e.begin;
        }
        all.copy_seconds += e.end - e.begin;
        all.copy_bytes += static_cast<double>(e.bytes);
    }
    return all;
}

/// Share of a ceiling that all kernels together reached: the sum of what they did over their time.
json efficiency(const std::vector<KernelRow>& rows, bool arithmetic) {
    double seconds = 0, ideal = 0;
    for (const auto& row : rows) {
        if (!row.timed || row.foreign) continue;
        if (row.modelled < row.timed) return absent(why_unmodelled(row));
        if (!row.device) return absent("the device's limits are not known");
        if (!row.device->ceilings) return absent(row.device->no_ceilings);
        const auto& c = *row.device->ceilings;
        seconds += row.modelled_seconds;
        ideal += arithmetic ? row.flops / (row.float64() ? c.flops_f64 : c.flops_f32)
                            : row.bytes() / c.copy_bytes_per_second;
    }
    return seconds > 0 ? figure(ideal / seconds, "share", From::modelled) : absent("no kernel finished");
}

/// Replays with launches that have no time of their own: what of theirs is in no kernel's time.
struct Replays {
    int all = 0, timed = 0, running = 0;
    double seconds = 0;
};

Replays replays(const launch::Slice& slice) {
    struct Singly {
        double seconds = 0;
        int timed = 0, untimed = 0;
    };
    std::map<const device::Device::Launch*, Singly> of;
    for (const auto& replay : slice.replays) of[replay.get()];
    for (const Event& e : slice.events) {
        if (e.kind != Event::Kind::launch || e.foreign || !e.timing || !e.timing->whole) continue;
        Singly& one = of[e.timing->whole.get()];
        ++(e.timing->has_time() ? one.timed : one.untimed);
        if (e.timing->has_time()) one.seconds += e.timing->end - e.timing->begin;
    }
    Replays out;
    for (const auto& [replay, one] : of) {
        if (one.timed > 0 && one.untimed == 0) continue;
        ++out.all;
        out.running += !replay->done.load(std::memory_order_acquire);
        if (!replay->has_time()) continue;
        ++out.timed;
        out.seconds += std::max(0.0, replay->end - replay->begin - one.seconds);
    }
    return out;
}

/// Of other libraries' graphs that were measured as one.
double foreign_graphs(const std::vector<Event>& events) {
    std::set<const device::Device::Launch*> all;
    double seconds = 0;
    for (const Event& e : events)
        if (e.foreign && e.timing && e.timing->whole && all.insert(e.timing->whole.get()).second)
            seconds += e.timing->whole->end - e.timing->whole->begin;
    return seconds;
}

json graph_time(const Replays& graphs) {
    if (graphs.running) return absent("still running when the report was made");
    if (graphs.timed < graphs.all)
        return absent(fmt::format("only {} of {} replays have times by events", graphs.timed, graphs.all));
    return figure(graphs.seconds, "s", From::measured);
}

json device_time(const Surroundings& cell, const Replays& graphs, int own, int timed, int running) {
    if (graphs.all > 0 && graphs.timed < graphs.all && timed == 0) return graph_time(graphs);
    if (timed || own == 0 || graphs.timed > 0)
        return figure(cell.device_seconds + graphs.seconds, "s", From::measured);
    return absent(running ? "still running when the report was made" : "no launch finished");
}

json totals(const launch::Slice& slice, const std::vector<KernelRow>& rows, const Surroundings& cell) {
    int running = 0, failed = 0, timed = 0, untimed = 0, cached = 0, own = 0, foreign = 0;
    double foreign_seconds = foreign_graphs(slice.events);
    std::set<std::string> names;
    for (const auto& row : rows) {
        if (row.foreign) {
            foreign += row.calls, foreign_seconds += row.total;
            continue;
        }
        ++own;
        running += row.running, failed += row.failed, timed += row.timed;
        if (row.replayed == 0) untimed += row.calls - row.timed - row.running - row.failed;
        names.insert(row.kernel->name);
    }
    for (const auto& e : slice.events)
        cached += e.kind == Event::Kind::compile && e.compile_source != "compiled";
    const Replays graphs = replays(slice);
    json out = object({{"kernels", names.size()},
                       {"launches", cell.launches},
                       {"running", running},
                       {"failed", failed},
                       {"device_time", device_time(cell, graphs, own, timed, running)},
                       {"compiled", cell.compiled},
                       {"compile_time", figure(cell.compile_seconds, "s", From::measured)},
                       {"from_cache", cached},
                       {"copy_bytes", figure(cell.copy_bytes, "B", From::measured)},
                       {"copy_time", figure(cell.copy_seconds, "s", From::measured)},
                       {"memory_efficiency", efficiency(rows, false)},
                       {"compute_efficiency", efficiency(rows, true)}});
    if (timed > 0 && untimed > 0) out["timed"] = timed;
    if (graphs.all > 0) out["graph_time"] = graph_time(graphs);
    if (foreign) {
        out["foreign_launches"] = foreign;
        out["foreign_time"] = figure(foreign_seconds, "s", From::measured);
    }
    return out;
}

}  // namespace

std::optional<json> report(const launch::Slice& slice, const std::vector<DeviceState>& devices,
                           const Scope& scope) {
    if (slice.events.empty() && slice.sums.empty()) return std::nullopt;
    const auto rows = kernel_rows(slice, devices);
    const auto cell = surroundings(slice.events, rows, scope.begin);
    json kernels = json::array(), advice = json::array();
    for (const auto& row : rows) kernels.push_back(to_json(row));
    for (const auto& a : advise(rows, cell)) {
        advice.push_back(object(
            {{"rule", a.rule}, {"text", a.text}, {"kernel", a.kernel}, {"place", place_json(a.place)}}));
    }
    return object({{"schema", schema_name},
                   {"scope", object({{"kind", scope.kind},
                                     {"label", scope.label},
                                     {"failed", scope.failed},
                                     {"time", figure(scope.end - scope.begin, "s", From::measured)}})},
                   {"totals", totals(slice, rows, cell)},
                   {"devices", devices_json(slice.events, devices)},
                   {"kernels", std::move(kernels)},
                   {"compiles", compiles(slice.events)},
                   {"copies", copies(slice.events)},
                   {"advice", std::move(advice)},
                   {"lost_events", slice.lost}});
}

}  // namespace xcuda::profile
