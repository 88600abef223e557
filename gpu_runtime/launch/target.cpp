#include "launch/target.hpp"

#include "base/clock.hpp"
#include "passes/cuda.hpp"

namespace xcuda::launch {

Targeted compile_for(const Program& program, const Lowered& lowered, const std::string& architecture) {
    const double begin = now();
    Targeted made;
    made.architecture = architecture;
    ir::Module module = passes::for_cuda(lowered.module, {});
    module.most_threads = program.options().most_threads;
    module.least_blocks = program.options().least_blocks;
    made.text = emit::emit(module, emit::Target::cuda);
    made.image =
        device::compile_for(architecture, {made.text.source, made.text.entry, program.options().words()});
    made.seconds = now() - begin;
    return made;
}

}  // namespace xcuda::launch
