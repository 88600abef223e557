// Which values differ from thread to thread, and along which axes of the block: the base of every CPU pass.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.hpp"

namespace xcuda::passes {

using AxisMask = std::uint8_t;  // bit a: the value may differ between threads that differ in axis a
inline constexpr AxisMask all_axes = 7;

struct Varying {
    std::vector<AxisMask> vars;  // by VarId
    AxisMask of(const ir::Expr& e) const;
};

/// Fixpoint over a body; variables it does not assign are taken as given in `live_in` (empty: uniform).
Varying varying(const ir::Function& function, const ir::Body& body, std::vector<AxisMask> live_in = {});

/// Variables that a body assigns (loops' variables too), by VarId.
std::vector<bool> assigned_vars(const ir::Function& function, const ir::Body& body);
/// How often each variable is assigned in a body.
std::vector<int> assignment_counts(const ir::Function& function, const ir::Body& body);
/// How often each variable is read in a body.
std::vector<int> read_counts(const ir::Function& function, const ir::Body& body);

}  // namespace xcuda::passes
