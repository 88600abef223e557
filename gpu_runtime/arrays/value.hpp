// The lazy graph: what an array's elements are, in memory or still to be computed. All of it is guarded by one lock, the
// caller's (Python's GIL).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays/loops.hpp"
#include "arrays/view.hpp"
#include "device/device.hpp"
#include "launch/buffer.hpp"

namespace xcuda::arrays {

struct Value;
using ValueP = std::shared_ptr<Value>;

/// Where in the user's program a value was asked for. Opaque here; see set_site_hooks.
struct Site {
    std::shared_ptr<void> code;
    int instruction = 0;
};

/// What a function reads: a view of a value, or a number.
struct Operand {
    ValueP value;  // null: a number
    View view;     // of the value's memory
    DType dtype = DType::f64;
    std::uint64_t bits = 0, more_bits = 0;  // the number
};

/// How axes of an operand are folded.
struct Reduction {
    const Loop* fold = nullptr;  // (accumulator, element) -> accumulator, all of one dtype
    std::uint64_t axes = 0;      // bit per axis of the operand
    std::uint64_t identity = 0, more_identity = 0;
};

/// What values over one memory know of each other: views of it as other dtypes.
struct Family {
    bool exposed = false;  // others may write to the memory at any time
};

/// Elements in an order of their own, without gaps: pending until somebody needs them, then in memory for good. Writes
/// go to memory only (store), never to the graph.
struct Value : std::enable_shared_from_this<Value> {
    DType dtype = DType::f64;
    View layout;  // offset 0
    std::shared_ptr<device::Device> device;

    // In memory.
    std::shared_ptr<launch::Buffer> buffer;
    char* address = nullptr;  // of element 0
    bool readonly = false;
    bool exposed = false;            // others may write to the memory at any time
    std::shared_ptr<Family> family;  // null: no other value has the memory
    bool ramp = false;  // its elements are 0, 1, 2... and nobody writes them: known without being read
    bool seen = false;  // it was made of another value's memory

    // Pending: a function of operands, or a fold of one.
    const Loop* loop = nullptr;
    std::vector<Operand> operands;
    std::optional<Reduction> reduction;
    int depth = 0;  // of pending values under it

    Site site;  // that asked for it

    int arrays = 0;         // that the user holds over it
    int place = -1;         // among the pending values with arrays
    std::uint64_t number;   // in the order of making
    std::int64_t mark = 0;  // of a walk over the graph
    std::size_t item = 0;   // its place in the plan that is being made, if it is there

    XCUDA_API Value();
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    XCUDA_API ~Value();

    /// From here on it has the memory of `computed`.
    void settle(const Value& computed);

    bool pending() const { return loop != nullptr || reduction.has_value(); }
    std::int64_t size() const { return layout.size(); }
    std::int64_t bytes() const { return size() * static_cast<std::int64_t>(info(dtype).size); }
    /// Someone beside the graph has the memory.
    bool shared() const {
        return exposed || (family && family->exposed) || (buffer && buffer.use_count() > relatives());
    }
    /// Values that have the memory, this one among them.
    long relatives() const { return family ? family.use_count() : 1; }
};

/// A value in memory. `address` is its element 0.
XCUDA_API ValueP in_memory(std::shared_ptr<launch::Buffer> buffer, char* address, DType dtype,
                           const View& layout);
/// The memory of a value that has some, as elements of another dtype: `address` is that of the layout's element 0.
XCUDA_API ValueP seen_as(Value& value, char* address, DType dtype, const View& layout);
/// Memory for a value, whatever it holds; the layout is a packed one.
XCUDA_API ValueP allocated(const std::shared_ptr<device::Device>& device, DType dtype, const View& layout,
                           const std::shared_ptr<device::Stream>& stream);

/// A pending value of the operands, which are broadcast to its shape already. Operands of other dtypes than the loop's
/// are cast. `like`: its layout where that is a packed one; else as the operands lie (NumPy's order='K').
XCUDA_API ValueP apply(const std::shared_ptr<device::Device>& device, const Loop& loop,
                       std::vector<Operand> operands, Shape shape, const View* like, Site site);
/// The layout that `apply` gives its value.
View layout_of_result(const Loop& loop, std::span<const Operand> operands, Shape shape, const View* like);
/// The layout of a fold's result: its axes lie as the operand's do.
XCUDA_API View layout_of_fold(const View& operand, std::uint64_t axes, bool keepdims);
/// A pending fold; `keepdims` keeps axes of length 1. `out`: the result's dtype.
XCUDA_API ValueP fold(const std::shared_ptr<device::Device>& device, const Operand& operand,
                      const Reduction& reduction, DType out, bool keepdims, Site site);

/// An array of the user's holds the value, or does no longer.
XCUDA_API void hold(const ValueP& value);
XCUDA_API void let_go(Value& value);

/// The pending values that arrays hold, oldest first.
XCUDA_API std::vector<ValueP> held_pending();
/// Of these, those that read the value's memory, directly or not.
XCUDA_API std::vector<ValueP> pending_readers(const Value& value);
XCUDA_API std::size_t pending_count();  // of values that arrays hold

}  // namespace xcuda::arrays
