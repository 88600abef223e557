#include "launch/trace.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "emit/emit.hpp"
#include "launch/cache.hpp"
#include "launch/launch.hpp"
#include "passes/traced.hpp"

namespace xcuda::launch {
namespace {

/// What emit/prelude_trace.hpp calls.
struct Sink {
    bool (*begin)(Sink*, std::int64_t block);
    void (*tell)(Sink*, std::int64_t block, std::uint32_t thread, std::int32_t what, std::int32_t where,
                 std::uint64_t value);
};

class Recorder : public Sink {
public:
    /// `all_run`: also the blocks that are not wanted, since the wanted ones wait for them.
    Recorder(const TraceOptions& options, bool all_run)
        : Sink{&Recorder::begins, &Recorder::tells},
          options_(options),
          all_run_(all_run),
          wanted_(options.blocks) {
        std::sort(wanted_.begin(), wanted_.end());
    }

    std::vector<BlockTrace> take() {
        std::vector<BlockTrace> all;
        for (auto& [number, block] : blocks_) all.push_back(std::move(*block));
        return all;
    }

private:
    bool wants(std::int64_t block) const {
        return wanted_.empty() || std::binary_search(wanted_.begin(), wanted_.end(), block);
    }

    static bool begins(Sink* self, std::int64_t block) {
        const auto& recorder = *static_cast<Recorder*>(self);
        return recorder.all_run_ || recorder.wants(block);
    }

    // A block runs on one worker from its first record to its last, so its list needs no lock; the map does.
    static void tells(Sink* self, std::int64_t block, std::uint32_t thread, std::int32_t what,
                      std::int32_t where, std::uint64_t value) {
        auto& recorder = *static_cast<Recorder*>(self);
        if (recorder.all_run_ && !recorder.wants(block)) return;
        thread_local std::uint64_t last_recorder = 0;
        thread_local BlockTrace* last = nullptr;
        if (last_recorder != recorder.number_ || last->block != block) {
            const std::lock_guard lock(recorder.mutex_);
            auto& found = recorder.blocks_[block];
            if (!found) found = std::make_unique<BlockTrace>(BlockTrace{block, {}, false});
            last = found.get();
            last_recorder = recorder.number_;
        }
        if (last->records.size() < recorder.options_.most_records)
            last->records.push_back({value, thread, where, static_cast<TraceRecord::What>(what)});
        else
            last->cut = true;
    }

    static std::uint64_t next_number() {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }

    const std::uint64_t number_ = next_number();  // an address may come back, this does not
    const TraceOptions& options_;
    const bool all_run_;
    std::vector<std::int64_t> wanted_;
    std::mutex mutex_;
    std::map<std::int64_t, std::unique_ptr<BlockTrace>> blocks_;
};

std::shared_ptr<device::Device> cpu_device() {
    for (const auto& d : device::devices())
        if (d->info().kind == "cpu") return d;
    throw Error(Fault::machine, "RuntimeError", "this build has no CPU device, where kernels are traced",
                std::nullopt, "build xcuda with XCUDA_CPU_DEVICE=ON");
}

ArgumentShapes shapes_of(std::span<const Argument> arguments) {
    ArgumentShapes shapes;
    for (const Argument& a : arguments) {
        shapes.emplace_back();
        if (a.is_array) shapes.back().assign(a.lengths.begin(), a.lengths.begin() + a.ndim);
    }
    return shapes;
}

}  // namespace

Trace trace(const Program& program, const Lowered& lowered, const device::Shape& asked,
            std::span<const Argument> arguments, const TraceOptions& options) {
    const device::Shape shape = whole_shape(lowered, asked);
    const auto device = cpu_device();
    passes::CpuOptions cpu;
    cpu.checked = program.options().checked;
    Trace made;
    made.module = passes::traced(lowered.module, cpu);
    made.shape = shape;
    if (shape.grid.count() == 0) return made;

    const emit::Text text = emit::emit(made.module, emit::Target::cpu);
    const auto function = get_or_compile(*device, {text.source, text.entry, "trace"});
    Recorder recorder(options, shape.whole_grid);
    std::vector<Argument> all(arguments.begin(), arguments.end());
    Argument sink;
    sink.dtype = DType::u64;
    sink.bits = reinterpret_cast<std::uint64_t>(static_cast<Sink*>(&recorder));
    all.push_back(sink);
    const emit::ArgumentLayout layout = emit::argument_layout(made.module.kernel());
    std::vector<std::byte> packed(layout.bytes);
    pack(layout, all, packed.data());

    static std::mutex& one_at_a_time = *new std::mutex;  // a traced kernel's text has one sink
    const std::lock_guard lock(one_at_a_time);
    const auto launched = device->launch(function, shape, packed, nullptr);
    device->synchronize(nullptr);
    made.blocks = recorder.take();
    if (launched->fault.kind != 0)
        made.fault = fault_error(launched->fault, made.module.sites, shapes_of(arguments));
    return made;
}

}  // namespace xcuda::launch
