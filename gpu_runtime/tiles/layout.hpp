// How the elements of a tile lie over the threads of a block: which thread has which, in which of its registers.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "ir/tile.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

struct Layout {
    enum class Kind {
        whole,   // one element, which every thread has
        spread,  // row-major over the threads, `run` neighbours each
        blocks,  // of a product: each thread has rows x columns, in runs of 4
        matrix,  // of a product: accumulators of m16n8 matrix instructions, by warps
        rows,    // a number for each row of a matrix layout of one column of warps: four lanes have it
    };
    Kind kind = Kind::spread;
    ir::Extents extents;
    std::int64_t threads = 1, slots = 1;
    std::int64_t run = 1;                      // spread
    std::int64_t down = 1, across = 1;         // blocks: threads; matrix: warps
    std::int64_t rows = 1, columns = 1;        // of each thread, or of each warp
    std::int64_t row_run = 1, column_run = 1;  // blocks
    bool down_first = false;                   // matrix: the next warp lies below, not beside
    bool owns_all() const { return kind != Kind::spread || ir::elements(extents) >= threads; }
};

/// `product`: a product is summed in it; `matrix`: by matrix instructions.
Layout layout_of(const ir::Extents& extents, const Plan& plan, bool product, bool matrix);

/// Of a chain's plan (Plan::tall): of tiles with as many rows as its products have, and of numbers a row.
std::optional<Layout> chained_layout(const ir::Extents& extents, const Plan& plan);

/// Of a thread in a layout of blocks: which it is from above and from the left.
std::pair<ir::ExprP, ir::ExprP> block_place(const Layout& layout, const ir::ExprP& thread);

/// Of a thread's warp in a matrix layout: its first row and its first column.
XCUDA_API std::pair<ir::ExprP, ir::ExprP> warp_place(const Layout& layout, const ir::ExprP& thread);

/// A loop of n turns that is to be unrolled: `counter` gives its variable, `body` gets the turn's number.
ir::Body unrolled(std::int64_t n, const std::function<ir::VarId()>& counter,
                  const std::function<ir::ExprP(ir::VarId)>& read,
                  const std::function<ir::Body(const ir::ExprP&)>& body);

/// A loop nest over a thread's elements: `counter` gives a fresh loop variable, `body` gets the element's index along
/// each axis and its register. Loops are to be unrolled.
ir::Body each_slot(
    const Layout& layout, const ir::ExprP& thread, const std::function<ir::VarId()>& counter,
    const std::function<ir::ExprP(ir::VarId)>& read,
    const std::function<ir::Body(const std::vector<ir::ExprP>& at, const ir::ExprP& slot)>& body);

/// The same with the innermost runs of neighbours along the last axis left together: `at` is the first.
ir::Body each_run(
    const Layout& layout, const ir::ExprP& thread, const std::function<ir::VarId()>& counter,
    const std::function<ir::ExprP(ir::VarId)>& read,
    const std::function<ir::Body(const std::vector<ir::ExprP>& at, const ir::ExprP& slot)>& body);

/// Neighbours along the last axis that a thread has in registers one after the other.
std::int64_t run_of(const Layout& layout);

/// The row-major place as indices.
std::vector<ir::ExprP> indices_of(ir::ExprP linear, const ir::Extents& extents);

}  // namespace xcuda::tiles
