#include "profile/kernel_row.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "profile/occupancy.hpp"

namespace xcuda::profile {
namespace {

using nlohmann::json;

void add_counters(KernelRow& row, const device::CounterValues& read) {
    row.counters = read.of;
    row.counter_sums.resize(read.values.size());
    for (std::size_t i = 0; i < read.values.size(); ++i) row.counter_sums[i] += read.values[i];
    ++row.counted;
}

void add_sum(KernelRow& row, const launch::LaunchSum& sum) {
    row.calls += sum.calls;
    row.shared += sum.shared;
    row.workers += sum.workers;
    row.busy += sum.busy;
    row.busiest += sum.busiest;
    if (sum.timed == 0) return;
    row.timed += sum.timed;
    row.total += sum.total;
    row.shortest = std::min(row.shortest, sum.shortest);
    row.longest = std::max(row.longest, sum.longest);
    const launch::Event& event = *sum.what;
    if (event.flops < 0 || event.bytes_read < 0 || event.bytes_written < 0) return;
    row.modelled += sum.timed;
    row.modelled_seconds += sum.total;
    row.flops += event.flops * sum.timed;
    row.bytes_read += event.bytes_read * sum.timed;
    row.bytes_written += event.bytes_written * sum.timed;
}

void add_call(KernelRow& row, const launch::Event& event) {
    const device::Device::Launch* const timing = event.timing.get();  // null: a grid of no blocks
    const bool done = timing && timing->done.load(std::memory_order_acquire);
    const bool failed = done && timing->fault.kind != 0;
    row.running += timing && !done;
    row.failed += failed;  // stopped half-way: neither its time nor its work tells anything
    launch::LaunchSum one{{std::shared_ptr<void>(), &event}};
    if (done && !failed)
        one.add(*timing);
    else
        one.calls = 1;
    add_sum(row, one);
    if (event.counters && one.timed) add_counters(row, *event.counters);
}

std::string why_untimed(const KernelRow& row) {
    if (row.running) return "still running when the report was made";
    if (row.failed) return "stopped by an error";
    if (row.replayed && row.timed == 0 && row.foreign)
        return "not timed singly: the graph was measured as one, and its time is among the totals; "
               "run the cell again, which times its kernels";
    if (row.replayed && row.timed == 0)
        return row.watched
                   ? "not timed singly: the GPU's profiling library does not tell which of its records are "
                     "this kernel's; the graph's whole time is among the totals"
                   : "not measured: a GPU times a graph's launches only where its profiling library watches "
                     "(%%cuda_profile, %cuda_report full); the graph's whole time is among the totals";
    return row.calls > row.timed ? "not measured: only some of many launches in a row are"
                                 : "no block was launched";
}

}  // namespace

std::string why_unmodelled(const KernelRow& row) {
    return row.kernel && row.kernel->programs
               ? "the model does not know the work of tile programs yet"
               : "depends on data: a loop or branch that the model cannot follow";
}

namespace {

json seconds(const KernelRow& row, double value) {
    return row.timed ? figure(value, "s", From::measured) : absent(why_untimed(row));
}

json modelled(const KernelRow& row, double value, std::string_view unit) {
    if (!row.timed) return absent(why_untimed(row));
    if (row.foreign) return absent("another library's kernel: nothing is known of its program");
    if (!row.modelled) return absent(why_unmodelled(row));
    return figure(value, unit, From::modelled);
}

json rate(const KernelRow& row, double amount, std::string_view unit) {
    if (row.modelled && row.modelled_seconds <= 0) return absent("too short for the clock");
    return modelled(row, amount / row.modelled_seconds, unit);
}

json occupancy_json(const KernelRow& row) {
    if (!row.device) return object({{"share", absent("the device's limits are not known")}});
    if (!row.has_warps()) return object({{"share", absent("no occupancy on the CPU device")}});
    const auto found = occupancy(row.device->info, row.kernel->attributes, row.shape);
    if (!found) return object({{"share", absent("the device's limits are not known")}});
    return object({{"share", figure(found->share, "share", From::computed)},
                   {"blocks", figure(static_cast<double>(found->blocks), "1", From::computed)},
                   {"limit", found->limit}});
}

json roofline_json(const KernelRow& row) {
    if (!row.modelled) return object({{"share", modelled(row, 0, "share")}});
    if (!row.device) return object({{"share", absent("the device's limits are not known")}});
    if (!row.device->ceilings) return object({{"share", absent(row.device->no_ceilings)}});
    const auto found =
        roofline(*row.device->ceilings, row.float64(), row.flops, row.bytes(), row.modelled_seconds);
    if (!found) return object({{"share", absent("no floating-point work and no bytes of global memory")}});
    return object({{"share", figure(found->share, "share", From::modelled)}, {"bound", found->bound}});
}

template <class T>
json computed(const std::optional<T>& value, std::string_view unit, std::string_view why_not) {
    return value ? figure(static_cast<double>(*value), unit, From::computed) : absent(why_not);
}

json counters_json(const KernelRow& row) {
    json values = json::object();
    for (std::size_t i = 0; i < row.counter_sums.size(); ++i) {
        const auto& counter = (*row.counters)[i];
        const double mean = row.counter_sums[i] / row.counted;
        values[counter.key] = std::isnan(mean) ? absent("this GPU has no such counter")
                                               : figure(mean, counter.unit, From::measured);
    }
    return object({{"calls", row.counted}, {"values", std::move(values)}});
}

// A call's, of those that were shared.
json workers_json(const KernelRow& row) {
    return object({{"calls", row.shared},
                   {"count", figure(static_cast<double>(row.workers) / row.shared, "1", From::measured)},
                   {"mean", figure(row.busy / static_cast<double>(row.workers), "s", From::measured)},
                   {"longest", figure(row.busiest / row.shared, "s", From::measured)}});
}

json place_json(const Place& place) { return object({{"file", place.file}, {"line", place.line}}); }
json dim_json(const device::Dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

std::vector<KernelRow> kernel_rows(const launch::Slice& slice, const std::vector<DeviceState>& devices) {
    std::vector<KernelRow> rows;
    const auto row_of = [&](const launch::Event& event) -> KernelRow& {
        // From the back: a loop's launches find their row at once.
        auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const KernelRow& row) {
            return row.kernel == event.kernel && row.shape.grid == event.shape.grid &&
                   row.shape.block == event.shape.block &&
                   row.shape.dynamic_shared_bytes == event.shape.dynamic_shared_bytes;
        });
        if (found == rows.rend()) {
            KernelRow row;
            row.kernel = event.kernel;
            row.shape = event.shape;
            row.automatic_shape = event.automatic_shape;
            row.foreign = event.foreign;
            row.watched = slice.watched;
            const auto device = std::find_if(devices.begin(), devices.end(),
                                             [&](const DeviceState& d) { return d.label == event.device; });
            row.device = device == devices.end() ? nullptr : &*device;
            rows.push_back(std::move(row));
            found = rows.rbegin();
        }
        return *found;
    };
    for (const auto& event : slice.events) {
        if (event.kind != launch::Event::Kind::launch || !event.kernel) continue;
        KernelRow& row = row_of(event);
        add_call(row, event);
        row.replayed += event.replayed;
    }
    for (const auto& sum : slice.sums) {
        if (!sum.what->kernel) continue;
        KernelRow& row = row_of(*sum.what);
        add_sum(row, sum);
        if (sum.what->replayed) row.replayed += sum.calls;
    }
    return rows;
}

json to_json(const KernelRow& row) {
    const auto& kernel = *row.kernel;
    const auto& attributes = kernel.attributes;
    const double calls = row.modelled ? row.modelled : 1;
    const std::string_view no_registers = row.device && !row.has_warps()
                                              ? "the CPU device's compiler does not count them"
                                              : "the compiled kernel does not tell";
    json warnings = json::array();
    for (const auto& w : kernel.warnings) warnings.push_back(w);
    json out = object({{"name", kernel.name},
                       {"signature", kernel.signature},
                       {"place", place_json(kernel.place)},
                       {"device", kernel.device},
                       {"how", kernel.how.empty() ? json(nullptr) : json(kernel.how)},
                       {"calls", row.calls},
                       {"running", row.running},
                       {"failed", row.failed},
                       {"grid", dim_json(row.shape.grid)},
                       {"block", dim_json(row.shape.block)},
                       {"automatic_shape", row.automatic_shape},
                       {"time", object({{"total", seconds(row, row.total)},
                                        {"mean", seconds(row, row.timed ? row.total / row.timed : 0)},
                                        {"min", seconds(row, row.shortest)},
                                        {"max", seconds(row, row.longest)}})},
                       {"occupancy", occupancy_json(row)},
                       {"registers", computed(attributes.registers, "1", no_registers)},
                       {"local_bytes", computed(attributes.local_bytes, "B", no_registers)},
                       {"shared_bytes", figure(static_cast<double>(attributes.shared_bytes.value_or(0) +
                                                                   row.shape.dynamic_shared_bytes),
                                               "B", From::computed)},
                       {"bytes_read", modelled(row, row.bytes_read / calls, "B")},
                       {"bytes_written", modelled(row, row.bytes_written / calls, "B")},
                       {"flops", modelled(row, row.flops / calls, "FLOP")},
                       {"bandwidth", rate(row, row.bytes(), "B/s")},
                       {"flop_rate", rate(row, row.flops, "FLOP/s")},
                       {"roofline", roofline_json(row)},
                       {"warnings", std::move(warnings)}});
    if (row.foreign) out["foreign"] = true;
    if (row.timed > 0 && row.timed < row.calls) out["timed"] = row.timed;
    if (row.shared) out["workers"] = workers_json(row);
    if (row.counted) out["counters"] = counters_json(row);
    return out;
}

}  // namespace xcuda::profile
