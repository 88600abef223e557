#include "launch/trace.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "emit/emit.hpp"
#include "launch/cache.hpp"
#include "launch/launch.hpp"
#include "launch/listened.hpp"
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
    /// `sizes`: of an element, by site.
    Recorder(const TraceOptions& options, bool all_run, std::vector<std::size_t> sizes)
        : Sink{&Recorder::begins, &Recorder::tells},
          options_(options),
          all_run_(all_run),
          sizes_(std::move(sizes)),
          wanted_(options.blocks) {
        std::sort(wanted_.begin(), wanted_.end());
    }

    std::vector<BlockTrace> take() {
        std::vector<BlockTrace> all;
        for (auto& [number, block] : blocks_) {
            settle(*block);
            all.push_back(std::move(block->trace));
        }
        return all;
    }

private:
    static constexpr std::size_t widest = 16;

    /// A block's records; a write is told of before it happens, so whether it changed anything is seen at the next record.
    struct Block {
        BlockTrace trace;
        std::size_t open = 0;  // the record of a write whose effect is not known yet, plus one; 0: none
        std::size_t bytes = 0;
        std::array<std::byte, widest> before{};
    };

    static void settle(Block& block) {
        if (block.open == 0) return;
        TraceRecord& r = block.trace.records[block.open - 1];
        r.silent = std::memcmp(reinterpret_cast<const void*>(r.value), block.before.data(), block.bytes) == 0;
        block.open = 0;
    }

    void watch(Block& block) const {
        const TraceRecord& r = block.trace.records.back();
        if (r.what != TraceRecord::What::write || r.where < 0) return;
        block.bytes = sizes_[static_cast<std::size_t>(r.where)];
        if (block.bytes == 0 || block.bytes > widest) return;
        std::memcpy(block.before.data(), reinterpret_cast<const void*>(r.value), block.bytes);
        block.open = block.trace.records.size();
    }

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
        thread_local Block* last = nullptr;
        if (last_recorder != recorder.number_ || last->trace.block != block) {
            const std::lock_guard lock(recorder.mutex_);
            auto& found = recorder.blocks_[block];
            if (!found) found = std::make_unique<Block>(Block{{block, {}, false}});
            last = found.get();
            last_recorder = recorder.number_;
        }
        settle(*last);
        if (last->trace.records.size() < recorder.options_.most_records) {
            last->trace.records.push_back({value, thread, where, static_cast<TraceRecord::What>(what)});
            recorder.watch(*last);
        } else {
            last->trace.cut = true;
        }
    }

    static std::uint64_t next_number() {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }

    const std::uint64_t number_ = next_number();  // an address may come back, this does not
    const TraceOptions& options_;
    const bool all_run_;
    std::vector<std::size_t> sizes_;
    std::vector<std::int64_t> wanted_;
    std::mutex mutex_;
    std::map<std::int64_t, std::unique_ptr<Block>> blocks_;
};

/// Bytes of an element at each site, 0 where it is not of global memory: a block's own goes when the block ends.
std::vector<std::size_t> element_sizes(const ir::Module& module) {
    std::vector<std::size_t> sizes(module.sites.size());
    const ir::Function& kernel = module.kernel();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const int parameter = module.sites[i].parameter;
        if (module.sites[i].kind != ir::Site::Kind::index || parameter < 0) continue;
        const ir::VarId id = kernel.params[static_cast<std::size_t>(parameter)];
        sizes[i] = info(kernel.vars[static_cast<std::size_t>(id)].type.dtype).size;
    }
    return sizes;
}

}  // namespace

Trace trace(const Program& program, const Lowered& lowered, const device::Shape& asked,
            std::span<const Argument> arguments, const TraceOptions& options) {
    const device::Shape shape = whole_shape(lowered, asked);
    const auto device = listening_device("traced");
    passes::CpuOptions cpu;
    cpu.checked = program.options().checked;
    Trace made;
    made.module = passes::traced(lowered.module, cpu);
    made.shape = shape;
    if (shape.grid.count() == 0) return made;

    const emit::Text text = emit::emit(made.module, emit::Target::cpu);
    Telling kernel{std::move(made.module),
                   {},
                   shape,
                   device,
                   get_or_compile(*device, {text.source, text.entry, "trace"})};
    Recorder recorder(options, shape.whole_grid, element_sizes(kernel.module));
    static std::mutex& one_at_a_time = *new std::mutex;
    const Listened run = run_listened(kernel, arguments, static_cast<Sink*>(&recorder), one_at_a_time);
    made.module = std::move(kernel.module);
    made.blocks = recorder.take();
    made.fault = run.fault;
    made.fault_kind = run.kind;
    return made;
}

}  // namespace xcuda::launch
