// A kernel's source with everything made from it: one lowering a signature, one compiled kernel a device and block.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "emit/arguments.hpp"
#include "emit/emit.hpp"
#include "frontend/lower.hpp"
#include "launch/event.hpp"
#include "launch/front_door.hpp"
#include "launch/signature.hpp"
#include "launch/tuning.hpp"
#include "passes/cpu.hpp"
#include "passes/cuda.hpp"
#include "passes/domain.hpp"

namespace xcuda::launch {

struct Options {
    bool checked = true;    // bounds, division by zero, assert
    bool fastmath = false;  // contraction and reassociation of floating arithmetic
    bool fma = true;        // a * b + c may be rounded once; false: twice, bit by bit as NumPy
    bool optimise = true;   // false: the compilers take short cuts
    int max_registers = 0;  // of a CUDA thread; 0: the compiler's choice
    int most_threads = 0;   // of a block; 0: the device's own bound
    int least_blocks = 0;   // resident on a multiprocessor, for blocks of most_threads; 0: any number
    int most_cluster = 0;   // blocks of a cluster; 0: the device's own bound
    Tuning tuning;
    std::shared_ptr<const FrontDoor> door;  // null: the source is of threads
    bool operator==(const Options&) const = default;
    /// For device::Source.
    std::string words() const;
};

/// The typed IR for one signature and what the launch needs to know of it; the same for every device.
struct Lowered {
    Signature signature;
    ir::Module module;
    std::vector<passes::ParameterUse> uses;  // one a parameter
    std::vector<ir::ExprP> domain;           // passes::launch_domain
    emit::ArgumentLayout layout;
    std::int64_t shared_bytes = 0;            // of its shared.array's
    bool fixed_block = false;                 // passes::wants_fixed_block, of the CPU device
    bool known_block = false;                 // passes::wants_known_block, of a GPU
    bool prints = false, whole_grid = false;  // holds a print(); its whole grid meets
    bool unguarded = false;  // the user's own accesses, which nothing checks, or foreign code
    passes::AutomaticLaunch automatic;
    std::optional<device::Dim3> block;  // of launches whose shape is ours; absent: by the number of axes
    std::optional<PlanKey> key;         // of a kernel through a front door of its own, with what it prepared
    device::Dim3 program_block;
    std::vector<ir::ExprP> programs;
    bool persistent = false;  // of its blocks no more are launched than run at once
    std::string text, plan;
    std::vector<Fixed> asked, fixed;  // what may be taken to be constant; what of it the kernel reads
    double seconds = 0;

    bool writes(std::size_t parameter) const { return parameter < uses.size() && uses[parameter].written; }
    /// The first statement that writes the parameter; unknown where none does.
    XCUDA_API Place first_write(std::size_t parameter) const;
};

/// A loaded kernel for one device and, where the lowering wants it there, one block shape.
struct Specialisation {
    std::shared_ptr<const Lowered> lowered;
    std::shared_ptr<device::Device> device;
    std::optional<device::Dim3> block;
    bool automatic = false;       // made for launches whose shape is ours
    bool long_grid = false;       // on a GPU: made for launches of 2^31 threads and more along an axis
    std::vector<ir::Site> sites;  // of the module as compiled: what a FaultRecord points into
    emit::Text text;
    std::string options;  // of the device's compiler
    std::shared_ptr<device::Function> function;
    std::shared_ptr<const KernelFacts> facts;
    std::string source;  // "compiled", "disk", "memory"
    double seconds = 0;  // from typed IR to loaded kernel
};

/// Makes the typed IR for argument types, where it does not come from Python's source.
using Lowering = std::function<ir::Module(const std::vector<ir::Type>&)>;

/// Who wants a kernel: a call, a signature that it was declared with, nobody yet.
enum class For { call, signature, nobody };

class XCUDA_API Program {
public:
    Program(frontend::Source source, Options options);
    Program(std::string name, Lowering lowering, Options options);

    const std::string& name() const { return source_.name; }
    const frontend::Source& source() const { return source_; }
    const Options& options() const { return options_; }

    /// Throws refused() for what the kernel language does not have. With `fixed`, a version for arguments that have
    /// these figures; the result names those that it reads.
    std::shared_ptr<const Lowered> lower(const Signature& signature, const std::vector<Fixed>& fixed = {},
                                         const PlanKey& key = {"cpu"});
    /// The key that a call has; the default one's where the source is of threads.
    PlanKey key(const std::string& target, std::span<const Argument> arguments) const;
    /// Compiles where there is none yet. `block` counts only where the lowering wants it: none then gives a GPU's text for
    /// any block, which launches only get that come with a file or are of too many shapes. `automatic`: the launch shape is
    /// shape_for's.
    std::shared_ptr<const Specialisation> specialise(const std::shared_ptr<const Lowered>& lowered,
                                                     const std::shared_ptr<device::Device>& device,
                                                     const std::optional<device::Dim3>& block,
                                                     bool automatic = false, bool long_grid = false,
                                                     For whom = For::call);
    /// Those that somebody asked for.
    std::vector<std::shared_ptr<const Specialisation>> specialisations() const;
    /// Whether a call has wanted a kernel: what it wanted is known since.
    bool called() const { return called_; }
    /// What the device's compiler makes of one of them, as text for people.
    std::string assembly(const Specialisation& kernel) const;

private:
    struct Made {
        std::shared_ptr<const Specialisation> kernel;
        bool asked_for;  // false: a guess (see launch/ahead.hpp) that no launch has wanted yet
    };
    std::shared_ptr<const Specialisation> found(Made& made, For whom);

    frontend::Source source_;  // of a program with a lowering: only its name
    Lowering lowering_;
    Options options_;
    std::optional<std::size_t> result_;  // FrontDoor::result
    mutable std::mutex mutex_;  // of the two lists; held while lowering, so that one signature is lowered once
    std::vector<std::shared_ptr<const Lowered>> lowered_;
    std::vector<Made> specialised_;
    std::atomic<bool> called_{false};
};

/// The launch's threads along some axis need more than 32 bits: see Specialisation::long_grid.
inline bool is_long(const device::Shape& shape) {
    const auto along = [](std::int64_t grid, std::int64_t block) { return grid * block >= narrow_end; };
    return along(shape.grid.x, shape.block.x) || along(shape.grid.y, shape.block.y) ||
           along(shape.grid.z, shape.block.z);
}

/// What a GPU's compiler is given of a kernel, at a launch as for a named target. `block`: a part of the text.
ir::Module cuda_module(const Lowered& lowered, const Options& asked, bool automatic,
                       const std::optional<device::Dim3>& block, bool long_grid);

/// "cpu", "cuda:0".
XCUDA_API std::string device_label(const device::Info& info);

}  // namespace xcuda::launch
