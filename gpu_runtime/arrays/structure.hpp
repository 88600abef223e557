// The shape of a fused kernel without its figures: what is loaded, computed and stored along which axes. Kernels of one
// structure are one program, whatever the lengths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrays/few_ints.hpp"
#include "arrays/loops.hpp"
#include "ir/module.hpp"

namespace xcuda::arrays {

/// Axes of a kernel, sixteen at most, as an array lies along them: slowest in memory first.
struct Axes {
    int count = 0;
    std::uint64_t list = 0;  // four bits each

    int operator[](int i) const { return static_cast<int>(list >> (4 * i) & 15); }
    void add(int axis) { list |= static_cast<std::uint64_t>(axis) << (4 * count++); }
};

/// Something a kernel reads: an array along those of its axes where elements differ, or a number.
struct Slot {
    DType dtype;
    bool number = false;
    Axes axes{};
    bool ramp = false;  // the element is how far it lies from the first one: computed, not read
};

/// A computed value: of slots (below 0: ~slot) and earlier steps.
struct Step {
    int loop;
    FewInts args;
    bool fold = false;  // of its first argument along each row, from the second one, a number; see Rows
};

struct Output {
    int from;  // as in Step::args
    DType dtype;
    Axes axes{};
};

/// A fold of the one output over the last axes of the kernel.
struct Folding {
    int loop;              // (accumulator, element) -> accumulator
    int axes = 0;          // how many: loops of each thread, outermost first
    bool chunked = false;  // the last axis but the loops' is a chunk of the first loop's turns
};

/// Of a kernel that keeps each row with one block, or one thread: the last axes of the kernel are a row's.
struct Rows {
    int axes = 0;
    int threads = 1;  // of a row
    int rows = 1;     // of a block; more than 1 only where a row has several threads
    // Rows are shares of longer ones, along the axis before the row's; the last share may be shorter than the others.
    bool shares = false;
    // A row read once, its elements in registers from pass to pass: each thread has `turns` times `vector` neighbours, and
    // those of all threads are the row (exact) or more. 0: every pass reads the row again.
    int vector = 0, turns = 0;
    bool exact = false;
    int blocks =
        0;  // that a multiprocessor is to have room for: bounds the registers of a thread; 0: as they come
    // Held, but piece by piece: sums of exp(x - the row's maximum) are taken in the pass that finds the maximum, and are
    // rescaled where it grows.
    bool streamed = false;
    // Steps that are kept in an output's memory (-1: in registers), at the same places, until the row's last pass.
    struct Kept {
        int step, output;
    };
    std::vector<Kept> kept{};
};

struct Structure {
    int axes = 0;  // of threads and, after them, of loops
    std::vector<Slot> slots;
    std::vector<Step> steps;
    std::vector<Output> outputs;
    std::vector<Folding> folding;  // none or one
    std::vector<Rows> rows;        // none or one; then no folding

    /// The same for kernels of the same structure.
    std::string key() const;
    /// As the user would write it: "sqrt(a * a + b)".
    std::string text(std::size_t longest = 72) const;
    int weight(int step) const;
};

/// The order of the kernel's parameters: outputs, slots, then integers: of a folding the length of each loop, the
/// identity, and the turns of a chunk; of more than three thread axes the length of each. Of rows: how many there are,
/// and the length of each axis; where a row has one thread, only those of the row's axes before; of shares, how many
/// elements they are of.
XCUDA_API ir::Module lowered(const Structure& structure, const std::vector<ir::Type>& parameters);

constexpr int thread_axes = 3;
/// Thread axes of a kernel of so many: the first ones are folded into one.
inline bool folds_axes(int threads) { return threads > thread_axes; }

}  // namespace xcuda::arrays
