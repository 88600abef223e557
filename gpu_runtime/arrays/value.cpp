#include "arrays/value.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace xcuda::arrays {

namespace {

std::vector<Value*>& held() {
    static auto* all = new std::vector<Value*>;
    return *all;
}

std::int64_t& walk() {
    static std::int64_t number = 0;
    return number;
}

void forget(Value& value) {
    if (value.place < 0) return;
    held()[static_cast<std::size_t>(value.place)] = held().back();
    held().back()->place = value.place;
    held().pop_back();
    value.place = -1;
}

bool reads(Value& from, const Value& memory, std::int64_t mark) {
    std::vector<Value*> open{&from};
    while (!open.empty()) {
        Value& v = *open.back();
        open.pop_back();
        if (v.mark == mark) continue;
        v.mark = mark;
        for (const Operand& o : v.operands) {
            if (!o.value) continue;
            if (o.value.get() == &memory || (memory.family && o.value->family == memory.family)) return true;
            if (o.value->pending()) open.push_back(o.value.get());
        }
    }
    return false;
}

int depth_over(const std::vector<Operand>& operands) {
    int depth = 0;
    for (const Operand& o : operands)
        if (o.value && o.value->pending()) depth = std::max(depth, o.value->depth);
    return depth + 1;
}

}  // namespace

Value::Value() {
    static std::uint64_t made = 0;
    number = ++made;
}

// A long chain of values that nobody needs any more is taken apart one by one, not by recursion.
Value::~Value() {
    forget(*this);
    std::vector<ValueP> going;
    const auto take = [&going](Value& v) {
        for (Operand& o : v.operands)
            if (o.value && o.value.use_count() == 1) going.push_back(std::move(o.value));
    };
    take(*this);
    while (!going.empty()) {
        const ValueP next = std::move(going.back());
        going.pop_back();
        take(*next);
    }
}

void Value::settle(const Value& computed) {
    buffer = computed.buffer;
    address = computed.address;
    loop = nullptr;
    reduction.reset();
    operands.clear();
    depth = 0;
}

ValueP in_memory(std::shared_ptr<launch::Buffer> buffer, char* address, DType dtype, const View& layout) {
    auto made = std::make_shared<Value>();
    made->dtype = dtype;
    made->layout = layout;
    made->device = buffer->device();
    made->buffer = std::move(buffer);
    made->address = address;
    return made;
}

ValueP seen_as(Value& value, char* address, DType dtype, const View& layout) {
    if (!value.family) value.family = std::make_shared<Family>();
    auto made = in_memory(value.buffer, address, dtype, layout);
    made->family = value.family;
    made->seen = true;
    made->readonly = value.readonly;
    made->exposed = value.exposed;
    return made;
}

ValueP allocated(const std::shared_ptr<device::Device>& device, DType dtype, const View& layout,
                 const std::shared_ptr<device::Stream>& stream) {
    if (!is_packed(layout)) throw bug("memory was asked for with gaps between an array's elements");
    auto made = std::make_shared<Value>();
    made->dtype = dtype;
    made->layout = layout;
    made->device = device;
    made->buffer = std::make_shared<launch::Buffer>(device, static_cast<std::size_t>(made->bytes()), stream);
    made->address = static_cast<char*>(made->buffer->address());
    return made;
}

View layout_of_result(const Loop& loop, std::span<const Operand> operands, Shape shape, const View* like) {
    if (like && is_packed(*like)) return *like;
    const auto all = [&](auto lies) {
        return std::all_of(operands.begin(), operands.end(),
                           [&](const Operand& o) { return !o.value || lies(o.view); });
    };
    if (shape.size() < 2 || all(is_c_contiguous)) return dense(shape);
    if (loop.copies) return as_copied(operands[0].view);
    std::array<int, max_axes> order;
    const std::span axes(order.data(), shape.size());
    if (all(is_f_contiguous)) {
        for (std::size_t i = 0; i < shape.size(); ++i) order[i] = static_cast<int>(shape.size() - 1 - i);
        return dense_in_order(shape, axes);
    }
    std::vector<const View*> views;
    for (const Operand& o : operands)
        if (o.value) views.push_back(&o.view);
    memory_order(shape, views, axes);
    return dense_in_order(shape, axes);
}

View layout_of_fold(const View& operand, std::uint64_t axes, bool keepdims) {
    const auto ndim = static_cast<std::size_t>(operand.ndim);
    std::array<std::int64_t, max_axes> shape;
    std::array<int, max_axes> place, order;  // of the operand's axes; of the result's
    int kept = 0;
    for (std::size_t i = 0; i < ndim; ++i) {
        const bool folded = axes >> i & 1;
        place[i] = folded && !keepdims ? -1 : kept;
        if (place[i] >= 0) shape[static_cast<std::size_t>(kept++)] = folded ? 1 : operand.lengths[i];
    }
    const Shape result{shape.data(), static_cast<std::size_t>(kept)};
    if (kept < 2 || is_c_contiguous(operand)) return dense(result);
    const View* const one = &operand;
    memory_order(operand.shape(), {&one, 1}, std::span(order.data(), ndim));
    std::size_t next = 0;
    for (std::size_t k = 0; k < ndim; ++k)
        if (const int axis = place[static_cast<std::size_t>(order[k])]; axis >= 0) order[next++] = axis;
    return dense_in_order(result, std::span(order.data(), next));
}

ValueP apply(const std::shared_ptr<device::Device>& device, const Loop& loop, std::vector<Operand> operands,
             Shape shape, const View* like, Site site) {
    auto made = std::make_shared<Value>();
    made->dtype = loop.out;
    made->device = device;
    made->loop = &loop;
    made->site = std::move(site);
    made->depth = depth_over(operands);
    made->layout = layout_of_result(loop, operands, shape, like);
    made->operands = std::move(operands);
    return made;
}

ValueP fold(const std::shared_ptr<device::Device>& device, const Operand& operand, const Reduction& reduction,
            DType out, bool keepdims, Site site) {
    auto made = std::make_shared<Value>();
    made->dtype = out;
    made->device = device;
    made->reduction = reduction;
    made->site = std::move(site);
    made->layout = layout_of_fold(operand.view, reduction.axes, keepdims);
    made->operands.push_back(operand);
    made->depth = depth_over(made->operands);
    return made;
}

void hold(const ValueP& value) {
    if (value->arrays++ > 0 || !value->pending()) return;
    value->place = static_cast<int>(held().size());
    held().push_back(value.get());
}

void let_go(Value& value) {
    if (--value.arrays == 0) forget(value);
}

std::vector<ValueP> held_pending() {
    // What has been computed since is forgotten here, not where it was computed.
    for (std::size_t i = held().size(); i-- > 0;)
        if (!held()[i]->pending()) forget(*held()[i]);
    std::vector<ValueP> out;
    out.reserve(held().size());
    for (Value* v : held()) out.push_back(v->shared_from_this());
    std::sort(out.begin(), out.end(), [](const ValueP& a, const ValueP& b) { return a->number < b->number; });
    return out;
}

std::vector<ValueP> pending_readers(const Value& value) {
    std::vector<ValueP> out = held_pending();
    std::erase_if(out, [&](const ValueP& v) { return !reads(*v, value, ++walk()); });
    return out;
}

std::size_t pending_count() { return held().size(); }

}  // namespace xcuda::arrays
