// What the kernels of rows share: the thread's row, what a row has once, and one turn of a pass over its elements.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays/lowerer.hpp"
#include "arrays/passes_of_rows.hpp"

namespace xcuda::arrays {

struct RowLowerer {
    Lowerer& l;
    const Structure& s = l.s;
    const Rows& rows = s.rows[0];
    const Passes passes{s};
    const int kept_axes = s.axes - rows.axes;
    std::vector<ir::ExprP> once = std::vector<ir::ExprP>(s.steps.size());       // what a row has one of
    std::vector<ir::ExprP> once_read = std::vector<ir::ExprP>(s.slots.size());  // and reads once
    std::map<std::tuple<DType, int, int>, ir::VarId> shared{};
    ir::VarId lane = -1, line = -1;  // the thread's places in its row and its row's in the block
    std::vector<ir::ExprP> lengths{};
    ir::ExprP whole{};  // elements of a row
    ir::ExprP stop{};   // those that are there

    explicit RowLowerer(Lowerer& lowerer) : l(lowerer) {}
    virtual ~RowLowerer() = default;

    void lower();

protected:
    /// One turn of a pass: one element of each row's.
    struct Turn {
        std::vector<int> uses, reads;
        std::vector<ir::ExprP> known, loaded;
    };

    virtual void pass_over(ir::Body& body, const PassOver& pass);
    virtual ir::ExprP load_kept(const Rows::Kept& kept) const;
    virtual ir::ExprP element_of_slot(int slot) const { return l.slot(slot); }
    /// The value that a fold takes of each element.
    virtual int folded(int step) const { return s.steps[static_cast<std::size_t>(step)].args[0]; }

    bool alone() const { return rows.threads == 1; }
    ir::ExprP variable(ir::Body& body, const char* name, ir::ExprP e);
    ir::ExprP value_once(int from) const {
        return from < 0 ? once_read[static_cast<std::size_t>(~from)] : once[static_cast<std::size_t>(from)];
    }
    ir::ExprP value(ir::Body& body, Turn& turn, int from);
    /// What the turn reads and computes; its folds and results are then had by value().
    Turn begin_turn(ir::Body& body, const PassOver& pass);
    Turn counted(const PassOver& pass) const;
    std::vector<ir::VarId> accumulators_of(ir::Body& body, const PassOver& pass);
    void split(ir::Body& body, const ir::ExprP& index, int first, std::span<const ir::ExprP> along);

    ir::VarId shared_array(DType dtype, int pass, int which, int length);
    std::vector<ir::ExprP> place(const ir::ExprP& i) const;
    ir::ExprP shared_load(ir::VarId array, const ir::ExprP& i, DType dtype) const;
    /// The folds of all of the row's threads, by way of shared memory.
    void combine(ir::Body& body, const PassOver& pass, std::span<const ir::VarId> accumulators);

private:
    void begin(ir::Body& body);
    ir::ExprP slot_once(ir::Body& body, int from);
    void compute_once(ir::Body& body, int pass);
    void count(Turn& turn, int from, int pass) const;
    void turn(ir::Body& body, const PassOver& pass, std::span<const ir::VarId> accumulators);
    void fold_shared(ir::Body& body, const Loop& loop, ir::VarId array, const ir::ExprP& first, int count,
                     int stride, ir::VarId total);
};

/// The body of a kernel whose rows stay in registers; see Rows::vector.
void lower_held_rows(Lowerer& lowerer);

}  // namespace xcuda::arrays
