#include "arrays/fuse.hpp"

#include <algorithm>
#include <cstdlib>

namespace xcuda::arrays {

namespace {

bool same_memory(const Memory& a, const Memory& b, bool number) {
    return number ? a.bits == b.bits && a.more_bits == b.more_bits
                  : a.address == b.address && a.view == b.view;
}

char* element(char* base, DType dtype, std::int64_t offset) {
    return base + offset * static_cast<std::int64_t>(info(dtype).size);
}

}  // namespace

Fuser::Fuser(Shape shape) : shape_(shape.begin(), shape.end()) {
    constexpr std::size_t usual = 8;  // of arrays, numbers and steps: no growing, which moves what is there
    structure.slots.reserve(usual);
    structure.steps.reserve(2 * usual);
    slots.reserve(usual);
    buffers.reserve(usual);
    known_[0].reserve(2 * usual);
}

int Fuser::slot(const Slot& slot, const Memory& memory) {
    for (std::size_t i = 0; i < structure.slots.size(); ++i)
        if (structure.slots[i].dtype == slot.dtype && structure.slots[i].number == slot.number &&
            structure.slots[i].ramp == slot.ramp && same_memory(slots[i], memory, slot.number))
            return ~static_cast<int>(i);
    structure.slots.push_back(slot);
    slots.push_back(memory);
    return ~static_cast<int>(slots.size() - 1);
}

int Fuser::step(const Loop& loop, const FewInts& args, bool fold) {
    for (std::size_t i = structure.steps.size(); i-- > 0;)
        if (structure.steps[i].loop == loop.id && structure.steps[i].args == args &&
            structure.steps[i].fold == fold)
            return static_cast<int>(i);
    structure.steps.push_back({loop.id, args, fold});
    return static_cast<int>(structure.steps.size()) - 1;
}

DType Fuser::dtype_of(int at) const {
    const int slot = ~at;  // where `at` is none of the steps
    return at < 0 ? structure.slots[static_cast<std::size_t>(slot)].dtype
                  : loop_of(structure.steps[static_cast<std::size_t>(at)].loop).out;
}

int Fuser::cast(int from, DType to) {
    const DType now = dtype_of(from);
    return now == to ? from : step(cast_loop(now, to), {from});
}

bool is_broadcast(const Operand& o) {
    const auto wide = broadcast_to(o.value->layout, o.view.shape());
    return wide && *wide == o.view;
}

int Fuser::operand(const Operand& o, Seen seen) {
    if (!o.value) {
        Memory number;
        number.bits = o.bits;
        number.more_bits = o.more_bits;
        return slot({o.dtype, true, {}}, number);
    }
    const Value& v = *o.value;
    if (v.pending()) {
        if (seen == Seen::aligned && !(o.view == v.layout))
            seen = v.size() == 1 ? Seen::single : Seen::broadcast;
        return value(v, seen);
    }
    Memory memory;
    memory.address = element(v.address, v.dtype, o.view.offset);
    if (seen == Seen::single) {
        memory.view.ndim = static_cast<int>(shape_.size());
        memory.view.lengths.reserve(memory.view.ndim);
        memory.view.strides.reserve(memory.view.ndim);
        std::copy(shape_.begin(), shape_.end(), memory.view.lengths.begin());
        std::fill_n(memory.view.strides.begin(), shape_.size(), 0);
    } else {
        memory.view = seen == Seen::broadcast ? *broadcast_to(o.view, shape_) : o.view;
    }
    memory.view.offset = 0;
    buffers.push_back(v.buffer);
    bool ramp = v.ramp && o.view.offset == 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(memory.view.ndim); ++d)
        ramp &= memory.view.strides[d] >= 0;
    return slot({v.dtype, false, {}, ramp}, memory);
}

int Fuser::value(const Value& v, Seen seen) {
    const auto& known = known_[static_cast<std::size_t>(seen)];
    for (std::size_t i = known.size(); i-- > 0;)
        if (known[i].first == &v) return known[i].second;
    FewInts args;
    for (std::size_t i = 0; i < v.operands.size(); ++i)
        args.push_back(cast(operand(v.operands[i], seen), v.loop->in[i]));
    const int at = v.loop->name == "copy" ? args[0] : step(*v.loop, args);
    known_[static_cast<std::size_t>(seen)].emplace_back(&v, at);
    return at;
}

void Fuser::output(int from, DType dtype, char* address, const View& view) {
    structure.outputs.push_back({from, dtype, {}});
    Memory memory;
    memory.address = element(address, dtype, view.offset);
    memory.view = view;
    memory.view.offset = 0;
    outputs.push_back(memory);
}

void use(const Fuser& fuser, const Queue& queue) {
    if (!queue.stream) return;
    for (const auto& buffer : fuser.buffers) buffer->used_on(queue.stream);
}

namespace {

// Every array of the kernel along one more index: of its first axis, which it loses.
void step_into(Kernel& k, std::int64_t index) {
    const auto step = [index](Memory& m, DType dtype) {
        m.address = element(m.address, dtype, index * m.view.strides[0]);
        drop_first(m.view);
    };
    for (std::size_t i = 0; i < k.outputs.size(); ++i) step(k.outputs[i], k.structure.outputs[i].dtype);
    for (std::size_t i = 0; i < k.slots.size(); ++i)
        if (!k.structure.slots[i].number) step(k.slots[i], k.structure.slots[i].dtype);
}

// Starts a kernel whose views have the same axes.
void start_over(Kernel k, const Site& site, const Queue& queue) {
    const View whole = k.outputs[0].view;
    if (whole.ndim > launch::max_ndim) {
        for (Slot& slot : k.structure.slots) slot.ramp = false;  // the parts begin elsewhere
        for (std::int64_t i = 0; i < whole.lengths[0]; ++i) {
            Kernel part = k;
            step_into(part, i);
            start_over(std::move(part), site, queue);
        }
        return;
    }
    Structure& s = k.structure;
    s.axes = std::max(whole.ndim, 1);
    const auto at_least_one = [](View& v) {
        if (v.ndim > 0) return;
        v.ndim = 1;
        v.lengths[0] = v.strides[0] = 1;
    };
    for (std::size_t i = 0; i < k.outputs.size(); ++i) {
        at_least_one(k.outputs[i].view);
        s.outputs[i].axes = axes_of(k.outputs[i].view, true);
    }
    for (std::size_t i = 0; i < k.slots.size(); ++i) {
        if (s.slots[i].number) continue;
        at_least_one(k.slots[i].view);
        if (whole.ndim > 0) s.slots[i].axes = axes_of(k.slots[i].view, false);
    }
    if (folds_axes(s.axes))
        for (int d = 0; d + thread_axes - 1 < s.axes; ++d)
            k.figures.push_back(whole.lengths[static_cast<std::size_t>(d)]);
    start(k, site, queue);
}

}  // namespace

void start_elementwise(Fuser fuser, const Site& site, const Queue& queue) {
    Kernel k;
    k.structure = std::move(fuser.structure);
    k.slots = std::move(fuser.slots);
    k.outputs = std::move(fuser.outputs);
    Structure& s = k.structure;

    std::vector<View> views;
    views.reserve(k.outputs.size() + k.slots.size());
    for (const Memory& m : k.outputs) views.push_back(m.view);
    for (std::size_t i = 0; i < k.slots.size(); ++i)
        if (!s.slots[i].number) views.push_back(k.slots[i].view);
    const int ndim = views[0].ndim;
    std::array<int, max_axes> order;
    for (int i = 0; i < ndim; ++i) order[static_cast<std::size_t>(i)] = i;
    const View first = views[0];
    sort_few(order.data(), order.data() + ndim, [&](int a, int b) {
        return std::abs(first.strides[static_cast<std::size_t>(a)]) >
               std::abs(first.strides[static_cast<std::size_t>(b)]);
    });
    for (View& v : views) {
        const View old = v;
        for (std::size_t i = 0; i < static_cast<std::size_t>(ndim); ++i) {
            v.lengths[i] = old.lengths[static_cast<std::size_t>(order[i])];
            v.strides[i] = old.strides[static_cast<std::size_t>(order[i])];
        }
    }
    collapse(views);
    std::size_t next = 0;
    for (Memory& m : k.outputs) m.view = views[next++];
    for (std::size_t i = 0; i < k.slots.size(); ++i)
        if (!s.slots[i].number) k.slots[i].view = views[next++];
    start_over(std::move(k), site, queue);
}

}  // namespace xcuda::arrays
