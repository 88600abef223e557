// Kernels whose source is not of threads: who makes threads of it, for a device and a size of problem. gpu_runtime/tiles
// does; this floor only asks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "frontend/lower.hpp"
#include "launch/signature.hpp"

namespace xcuda::launch {

/// What a version was made for, beside its types.
struct PlanKey {
    std::string target;  // "cpu", "sm_90"
    int size = 0;        // a class of problem sizes
    bool few = false;    // the result is so small that its tiles may be fewer than a GPU runs at once
    bool acted = false;  // the CPU device acts the target's plan
    bool operator==(const PlanKey&) const = default;
};

struct Prepared {
    ir::Module module;   // of threads
    device::Dim3 block;  // of a program
    std::vector<ir::ExprP>
        programs;             // along x, y, z, over the kernel's parameters; empty: the kernel does not tell
    bool persistent = false;  // its blocks take programs in turn: no more are launched than run at once
    std::string text;         // the module before, for people
    std::string plan;         // in words: "128x128x32 tiles, 256 threads"
};

class FrontDoor {
public:
    virtual ~FrontDoor() = default;
    /// The parameter that takes the result, as far as the source alone tells.
    virtual std::optional<std::size_t> result(const frontend::Source& source) const = 0;
    virtual PlanKey key(const std::string& target, std::span<const Argument> arguments,
                        std::optional<std::size_t> result) const = 0;
    virtual Prepared prepare(const frontend::Source& source, const std::vector<ir::Type>& types, bool checked,
                             const PlanKey& key) const = 0;
};

inline std::string target_of(const device::Info& info) {
    return info.kind == "cpu" ? info.kind : info.architecture;
}

}  // namespace xcuda::launch
