// Kernels made on threads of their own before anyone calls them, where the types of their arguments are known already.
#pragma once

#include <memory>

#include "base/export.hpp"
#include "launch/program.hpp"

namespace xcuda::launch {

/// What is still to be made of one compile_ahead; whoever wants to know keeps it.
struct Ahead {
    int left = 0;        // tasks queued or at work
    int parked = 0;      // tasks that wait for devices to be looked for
    unsigned epoch = 0;  // forks of this process before it: after one more, nobody works on it
};

/// Makes the program's kernel for the signature, for launches of both kinds at the same time: those with a shape, and
/// those whose shape is ours. What nobody has asked for, which is the latter and all of a `guess`, is made only until a
/// call comes: that one compiles what it needs, and shares the processor with nothing else. A null device: the default
/// one, as soon as devices are looked for by someone else, since that starts CUDA and a process that has started it can't
/// be forked. Errors are left to the first launch, which meets them itself. A program that nobody keeps is forgotten.
XCUDA_API std::shared_ptr<Ahead> compile_ahead(const std::shared_ptr<Program>& program, Signature signature,
                                               std::shared_ptr<device::Device> device, bool guess);
/// Returns when all of it that can be made now is made, or failed; whether that was all of it.
XCUDA_API bool wait_for(const Ahead& ahead);
/// Before the process ends: what is queued is forgotten, what is at work is waited for. Nothing is made ahead then.
XCUDA_API void end_ahead();

}  // namespace xcuda::launch
