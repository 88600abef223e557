#include "launch/target.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "passes/cuda.hpp"

namespace xcuda::launch {

Targeted compile_for(const Program& program, const Lowered& lowered, const std::string& architecture,
                     bool automatic, const std::optional<device::Dim3>& block) {
    const double begin = now();
    const Tuning& tuning = program.options().tuning;
    Targeted made;
    made.architecture = architecture;
    passes::CudaOptions options{automatic, tuning.order, tuning.elements, tuning.rows, {}, true};
    if (block && lowered.known_block) options.block = {block->x, block->y, block->z};
    ir::Module module = passes::for_cuda(lowered.module, options);
    module.most_threads = program.options().most_threads;
    module.least_blocks = program.options().least_blocks;
    made.text = emit::emit(module, emit::Target::cuda);
    const std::int64_t moved = made.text.moved_shared_bytes;
    if (const auto info = device::describe_target(architecture);
        info && lowered.shared_bytes > info->limits.shared_bytes_per_block_optin)
        throw Error(
            Fault::user, "ValueError",
            fmt::format("{}: a block takes {} bytes of shared memory from shared.array; {} has at most {}",
                        program.name(), lowered.shared_bytes, architecture,
                        info->limits.shared_bytes_per_block_optin),
            std::nullopt, "use smaller shared arrays");
    made.source = {made.text.source, made.text.entry, program.options().words() + " verbose"};
    made.image = device::compile_for(architecture, made.source);
    if (moved > 0)
        made.image.attributes.shared_bytes = made.image.attributes.shared_bytes.value_or(0) + moved;
    made.seconds = now() - begin;
    return made;
}

}  // namespace xcuda::launch
