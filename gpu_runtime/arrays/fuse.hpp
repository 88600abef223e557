// Builds one kernel from a part of the graph: what it reads, computes and leaves in memory.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arrays/kernel.hpp"

namespace xcuda::arrays {

class Fuser {
public:
    /// All views are over this shape.
    explicit Fuser(Shape shape) : shape_(shape.begin(), shape.end()) {}

    /// The operand's elements along the shape: a slot or a step. Pending values are computed on the way.
    int operand(const Operand& operand, bool single = false);
    /// A pending value of the fuser's shape, as a step; `single`: of one element, for every element of the shape.
    int value(const Value& value, bool single = false);
    int cast(int from, DType to);
    DType dtype_of(int at) const;

    void output(int from, DType dtype, char* address, const View& view);

    Structure structure;
    std::vector<Memory> slots, outputs;
    std::vector<std::shared_ptr<launch::Buffer>> buffers;  // that it reads

private:
    int slot(const Slot& slot, const Memory& memory);
    int step(const Loop& loop, std::vector<int> args);

    std::vector<std::int64_t> shape_;
    std::unordered_map<const Value*, int> known_, known_single_;
};

/// What the fuser reads is used by the queue's stream from now on.
void use(const Fuser& fuser, const Queue& queue);

/// The kernel of an element-wise fuser, its axes in the order of the first output's memory and as few as can be.
Kernel elementwise_kernel(Fuser fuser);

}  // namespace xcuda::arrays
