#include "launch/shadow.hpp"

#include <algorithm>
#include <mutex>

#include "frontend/functions.hpp"
#include "ir/walk.hpp"
#include "launch/cache.hpp"
#include "launch/launch.hpp"
#include "passes/traced.hpp"

namespace xcuda::launch {
namespace {

constexpr std::int64_t reserved = 1024;  // of a GPU's shared memory, by the system, before a block's own

std::uint64_t low(std::uint64_t word, std::uint32_t bits) { return word & ((std::uint64_t{1} << bits) - 1); }

void look_for_meetings(const ir::Body& body, Shadowed& made) {
    ir::each_expr(body, [&](const ir::Expr& e) {
        const ir::Effect effect = ir::effect_of(e);
        made.warps |= effect == ir::Effect::warp;
        made.barriers |= effect > ir::Effect::warp;
        made.fences |= frontend::is_fence(e);
    });
    ir::each_stmt(body, [&](const ir::Stmt& s) { made.barriers |= s.kind == ir::Stmt::Kind::barrier; });
}

}  // namespace

ShadowAccess access_of(const ShadowHead& head, std::uint64_t word) {
    ShadowAccess a;
    word >>= 8;
    a.site = static_cast<std::int32_t>(low(word, head.site_bits)) - 1;
    word >>= head.site_bits;
    a.thread = static_cast<std::int64_t>(low(word, head.thread_bits));
    word >>= head.thread_bits;
    a.block = static_cast<std::int64_t>(low(word, head.block_bits));
    return a;
}

emit::Text shadow_text(const Lowered& lowered) {
    emit::WatchedPoints points;
    return emit::emit_shadow(passes::shadowed_for_cuda(lowered.module), emit::Target::cuda, points);
}

Shadowed shadowed(const Lowered& lowered, const device::Shape& asked,
                  const std::shared_ptr<device::Device>& device) {
    Shadowed made;
    made.device = device;
    made.shape = whole_shape(lowered, asked);
    const bool cpu = made.on_cpu();
    made.module = cpu ? passes::traced(lowered.module, {}) : passes::shadowed_for_cuda(lowered.module);
    for (const ir::Function& f : made.module.functions) look_for_meetings(f.body, made);
    if (made.module.fiber) look_for_meetings(made.module.fiber->body, made);
    const emit::Text text =
        emit::emit_shadow(made.module, cpu ? emit::Target::cpu : emit::Target::cuda, made.points);
    CompileInfo compile;
    made.function = get_or_compile(*device, {text.source, text.entry, cpu ? "trace" : ""}, &compile);
    made.shape.dynamic_shared_bytes += text.moved_shared_bytes;
    const std::int64_t fixed = std::max(compile.attributes.shared_bytes.value_or(0), lowered.shared_bytes);
    made.shared_bytes = fixed + made.shape.dynamic_shared_bytes;
    if (!cpu && made.shared_bytes > 0) made.shared_bytes += reserved;
    return made;
}

Listened run_shadowed(const Shadowed& kernel, std::span<const Argument> arguments, void* head,
                      const std::function<void(device::FaultRecord&)>& as_meant) {
    if (kernel.shape.grid.count() == 0) return {};
    static std::mutex& one_at_a_time = *new std::mutex;
    return run_listened(kernel, arguments, head, one_at_a_time, as_meant);
}

}  // namespace xcuda::launch
