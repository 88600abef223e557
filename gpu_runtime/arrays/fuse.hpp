// Builds one kernel from a part of the graph: what it reads, computes and leaves in memory.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "arrays/kernel.hpp"

namespace xcuda::arrays {

/// How a value's elements lie to those of a kernel: one for one, repeated along axes that it lacks, or one for all.
enum class Seen { aligned, broadcast, single };

/// The operand is its value, broadcast.
bool is_broadcast(const Operand& operand);

class Fuser {
public:
    /// All views are over this shape.
    explicit Fuser(Shape shape);

    /// The operand's elements along the shape: a slot or a step. Pending values are computed on the way.
    int operand(const Operand& operand, Seen seen = Seen::aligned);
    /// A pending value as a step.
    int value(const Value& value, Seen seen = Seen::aligned);
    int cast(int from, DType to);
    DType dtype_of(int at) const;

    void output(int from, DType dtype, char* address, const View& view);

    int slot(const Slot& slot, const Memory& memory);
    int step(const Loop& loop, const FewInts& args, bool fold = false);

    Structure structure;
    std::vector<Memory> slots, outputs;
    std::vector<std::shared_ptr<launch::Buffer>> buffers;  // that it reads

private:
    std::vector<std::int64_t> shape_;
    std::array<std::vector<std::pair<const Value*, int>>, 3> known_;  // by Seen; few: the last one is met again
};

/// What the fuser reads is used by the queue's stream from now on.
void use(const Fuser& fuser, const Queue& queue);

/// Starts the kernel of an element-wise fuser, its axes in the order of the first output's memory and as few as can be;
/// where kernels can't have so many, one for each place along the outermost ones.
void start_elementwise(Fuser fuser, const Site& site, const Queue& queue);

}  // namespace xcuda::arrays
