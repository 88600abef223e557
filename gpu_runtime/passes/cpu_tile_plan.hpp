// Whether a body can run as tiles of vector registers, along which axis, how large, and under which test of its box.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>

#include "passes/linear.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

struct TilePlan {
    int vector_axis = 0;        // neighbours along it share a vector register
    int row_axis = 1;           // `rows` neighbours along it share loads
    int lanes = 1;              // of one vector register
    int rows = 1, columns = 1;  // threads a tile: rows x (columns * lanes)
    bool loops = false;         // the body holds loops: much work a thread
    bool calls = false;         // the body calls functions
    Varying vary;
    std::vector<bool> assigned;
    std::vector<int> counts;  // assignments by variable
    // Loads, divisions and indices into views that are one for all lanes and that perhaps no lane asks for: a tile computes
    // them all the same, so that the box is tested for them.
    std::set<const ir::Expr*> unasked;
};

/// The axis along which most accesses of a body are contiguous.
int best_vector_axis(const ir::Function& function, const ir::Body& body);

/// None: the body must run thread by thread.
std::optional<TilePlan> plan_tiles(const ir::Function& function, const ir::Body& body, int vector_axis,
                                   int vector_bytes,
                                   const std::array<std::optional<std::int64_t>, 3>& extents);

/// What must hold for a box of threads so that no access of the body can be out of range or wrap; null: nothing.
/// Only for a body that plan_tiles accepted.
ir::ExprP box_test(const ir::Function& function, const ir::Body& body, const TilePlan& plan, const Box& box);

/// The range of one index of an access, where box_test tests it in place of the access itself.
std::optional<Range> tested_range(const ir::ExprP& index, bool moves_along_vector, const Box& box,
                                  const LinearScope& scope);

/// Visits each access of a body (loads, stores, atomics) with the loops open around it.
struct AccessSeen {
    const ir::Expr* load;  // null: a store
    const ir::ExprP& array;
    std::span<const ir::ExprP> indices;
    const ir::Access& access;
    const LinearScope& scope;
    int depth;  // loops around it
    bool writes;
    bool perhaps;  // a load that not every thread asks for, but every lane of a vector does
};
void each_access(const ir::Function& function, const ir::Body& body, const std::vector<bool>& assigned,
                 const std::vector<int>& counts, const std::function<void(const AccessSeen&)>& visit);

/// Visits each index into a view (Op::bound), its scope made to take such indices as they are.
void each_bound(const ir::Function& function, const ir::Body& body, const std::vector<bool>& assigned,
                const std::vector<int>& counts,
                const std::function<void(const ir::Expr&, const LinearScope&)>& visit);

/// The range of an index into a view, where a test of the box (or of a loop) stands in for its own.
std::optional<Range> bound_range(const ir::Expr& bound, const Box& box, LinearScope scope);
/// What that test requires, one condition after the other.
void require_bound(const ir::Expr& bound, const Range& range, const std::function<void(ir::ExprP)>& require);

}  // namespace xcuda::passes
