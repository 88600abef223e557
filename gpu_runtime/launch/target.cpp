#include "launch/target.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/ptx.hpp"

namespace xcuda::launch {

namespace {

emit::Text text_for(const Program& program, const Lowered& lowered, bool automatic,
                    const std::optional<device::Dim3>& block = std::nullopt) {
    const ir::Module module =
        cuda_module(lowered, program.options(), automatic, lowered.known_block ? block : std::nullopt, false);
    return emit::emit(module, emit::Target::cuda);
}

}  // namespace

std::string ptx_for(const Program& program, const Lowered& lowered, const std::string& architecture) {
    const emit::Text text = text_for(program, lowered, false);
    return device::ptx_for(architecture, {text.source, text.entry, program.options().words()});
}

Targeted compile_for(const Program& program, const Lowered& lowered, const std::string& architecture,
                     bool automatic, const std::optional<device::Dim3>& block) {
    const double begin = now();
    Targeted made;
    made.architecture = architecture;
    made.text = text_for(program, lowered, automatic, block);
    const std::int64_t moved = made.text.moved_shared_bytes;
    if (const auto info = device::describe_target(architecture);
        info && lowered.shared_bytes > info->limits.shared_bytes_per_block_optin)
        throw Error(
            Fault::user, "ValueError",
            fmt::format("{}: a block takes {} bytes of shared memory from shared.array; {} has at most {}",
                        program.name(), lowered.shared_bytes, architecture,
                        info->limits.shared_bytes_per_block_optin),
            std::nullopt, "use smaller shared arrays");
    made.source = {made.text.source, made.text.entry, program.options().words()};
    made.image = device::compile_for(architecture, made.source);
    if (moved > 0)
        made.image.attributes.shared_bytes = made.image.attributes.shared_bytes.value_or(0) + moved;
    made.seconds = now() - begin;
    return made;
}

}  // namespace xcuda::launch
