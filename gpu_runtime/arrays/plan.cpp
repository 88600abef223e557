#include "arrays/plan.hpp"

#include <algorithm>

#include "arrays/fold.hpp"
#include "arrays/fuse.hpp"
#include "arrays/rows.hpp"
#include "arrays/small.hpp"

namespace xcuda::arrays {
namespace {

constexpr int cheap = 12;  // weight that is computed again rather than kept in memory
constexpr std::size_t most_steps = 48, most_outputs = 12;  // of one kernel

struct Item {
    ValueP value;
    int stage = 0;        // kernels of a stage read only memory of earlier ones
    bool memory = false;  // has memory of its own afterwards
    int weight = 0;       // of an element, producers that are computed on the way included
    std::vector<std::size_t> users;
};

bool aligned(const Operand& o) { return o.view == o.value->layout; }
bool single(const Value& v) { return v.size() == 1; }

struct Plan {
    std::vector<Item> items;  // producers before their users

    // One plan is made at a time: what a value says of its place holds where the value is there.
    bool contains(const Value& v) const { return v.item < items.size() && items[v.item].value.get() == &v; }

    void collect(const ValueP& root) {
        struct Open {
            ValueP value;
            std::size_t next;
        };
        std::vector<Open> open;
        open.reserve(16);
        open.push_back({root, 0});
        while (!open.empty()) {
            auto& [value, next] = open.back();
            if (next == 0 && (!value->pending() || contains(*value))) {
                open.pop_back();
                continue;
            }
            if (next < value->operands.size()) {
                const ValueP& under = value->operands[next++].value;
                if (under && under->pending() && !contains(*under)) open.push_back({under, 0});
                continue;
            }
            if (!contains(*value)) {
                value->item = items.size();
                items.push_back({value, 0, false, 0, {}});
            }
            open.pop_back();
        }
    }

    Item* item(const Operand& o) { return o.value && o.value->pending() ? &items[o.value->item] : nullptr; }

    // Computed inside the kernel of whoever reads it so.
    bool inlined(const Operand& o, const Item& producer) const {
        if (producer.memory || producer.value->reduction) return false;
        return aligned(o) || (producer.weight <= cheap && (single(*o.value) || is_broadcast(o)));
    }

    void link() {
        for (std::size_t i = 0; i < items.size(); ++i) {
            Item& user = items[i];
            user.weight = user.value->loop ? user.value->loop->weight : 0;
            for (const Operand& o : user.value->operands) {
                Item* p = item(o);
                if (!p) continue;
                p->users.push_back(i);
                if (p->value->reduction || !inlined(o, *p)) p->memory = true;
                if (!p->memory) user.weight += p->weight;
            }
        }
    }

    void stages() {
        for (Item& user : items) {
            user.stage = 0;
            for (const Operand& o : user.value->operands) {
                Item* p = item(o);
                if (!p) continue;
                const bool later = p->memory && (p->value->reduction || user.value->reduction || !aligned(o));
                user.stage = std::max(user.stage, p->stage + (later ? 1 : 0));
            }
        }
    }

    // Work that two kernels would do, and that is dear, is kept in memory. True where something changed.
    bool keep_shared() {
        bool changed = false;
        for (Item& p : items) {
            if (p.memory || p.weight <= cheap || p.users.size() < 2) continue;
            std::size_t folds = 0, others = 0;
            for (const std::size_t u : p.users) {
                folds += items[u].value->reduction.has_value();
                others += !items[u].value->reduction;
            }
            bool apart = folds > 1 || (folds == 1 && others > 0);
            for (const std::size_t u : p.users) apart |= items[u].stage != items[p.users[0]].stage;
            if (!apart) continue;
            p.memory = changed = true;
        }
        return changed;
    }

    void arrange() {
        link();
        do stages();
        while (keep_shared());
    }
};

struct Runner {
    Plan& plan;
    const Queue& queue;

    void elementwise(std::span<const ValueP> values) {
        if (values[0]->size() == 0) {
            for (const ValueP& v : values) v->settle(*memory_for(*v));
            return;
        }
        std::size_t done = 0;
        while (done < values.size()) {
            Fuser fuser(values[done]->layout.shape());
            std::vector<std::pair<ValueP, ValueP>> made;  // value and memory
            do {
                const ValueP& v = values[done++];
                const int from = fuser.value(*v);
                const ValueP memory = memory_for(*v);
                fuser.output(from, v->dtype, memory->address, v->layout);
                made.emplace_back(v, memory);
            } while (done < values.size() && fuser.structure.steps.size() < most_steps &&
                     made.size() < most_outputs);
            use(fuser, queue);
            start_elementwise(std::move(fuser), made.front().first->site, queue);
            for (auto& [v, memory] : made) v->settle(*memory);
        }
    }

    ValueP memory_for(const Value& v) const {
        return allocated(queue.device, v.dtype, v.layout, queue.stream);
    }

    void fold(const ValueP& v) {
        const ValueP memory = memory_for(*v);
        if (v->size() > 0) run_fold(*v, memory->address, queue);
        v->settle(*memory);
    }

    void run() {
        int last = 0;
        for (const Item& i : plan.items) last = std::max(last, i.stage);
        for (int stage = 0; stage <= last; ++stage) {
            std::vector<std::vector<ValueP>> groups;  // of one shape
            for (const Item& i : plan.items) {
                if (i.stage != stage || !i.memory || !i.value->loop) continue;
                const auto fits = [&](const std::vector<ValueP>& g) {
                    return std::ranges::equal(g[0]->layout.shape(), i.value->layout.shape());
                };
                const auto found = std::find_if(groups.begin(), groups.end(), fits);
                if (found == groups.end())
                    groups.push_back({i.value});
                else
                    found->push_back(i.value);
            }
            for (const auto& group : groups) elementwise(group);
            for (const Item& i : plan.items)
                if (i.stage == stage && i.value->reduction) fold(i.value);
        }
    }
};

// Whether computing the value reads the target's memory elsewhere than at the element that is written.
bool reads_elsewhere(const Operand& o, const Value& target, const View& view, bool through_view) {
    if (!o.value) return false;
    if (o.value.get() == &target) return through_view || !(o.view == view);
    if (!o.value->pending() || o.value->reduction) return o.value->buffer && o.value->buffer == target.buffer;
    const bool moved = through_view || !aligned(o);
    return std::any_of(o.value->operands.begin(), o.value->operands.end(),
                       [&](const Operand& under) { return reads_elsewhere(under, target, view, moved); });
}

}  // namespace

namespace {

std::optional<RowWork> rows_of(const Plan& plan, std::span<const ValueP> wanted,
                               std::span<const ValueP> refused, const Queue& queue) {
    if (std::ranges::none_of(plan.items, [](const Item& i) { return i.value->reduction.has_value(); }))
        return std::nullopt;
    std::vector<ValueP> order;
    order.reserve(plan.items.size());
    for (const Item& i : plan.items) order.push_back(i.value);
    return find_rows(order, wanted, refused, queue.device->info());
}

}  // namespace

void compute(std::span<const ValueP> wanted, const Queue& queue) {
    std::vector<ValueP> refused;  // folds that are better done each by itself
    for (;;) {
        Plan plan;
        for (const ValueP& v : wanted)
            if (v->pending() && !compute_small(v, queue)) plan.collect(v);
        if (plan.items.empty()) return;
        if (const auto work = rows_of(plan, wanted, refused, queue)) {
            if (!work->before.empty()) {
                compute(work->before, queue);  // which may compute some of the work as well: found anew
                continue;
            }
            if (!run_rows(*work, queue))
                for (const ValueP& m : work->members)
                    if (m->reduction) refused.push_back(m);
            continue;
        }
        for (const ValueP& v : wanted)
            if (plan.contains(*v)) plan.items[v->item].memory = true;
        plan.arrange();
        Runner{plan, queue}.run();
        return;
    }
}

void store(Value& target, const View& view, const Operand& from, const Site& site, const Queue& queue,
           bool dies) {
    if (view.size() == 0) return;
    Operand source = from;
    if (source.value && source.value->pending()) {
        // What is folded or seen through a view on the way is computed first; the rest fuses with the write.
        Plan plan;
        plan.collect(source.value);
        Item& root = plan.items.back();
        root.memory = true;
        plan.link();
        std::vector<ValueP> first;
        for (const Item& i : plan.items)
            if (i.memory && i.value != source.value) first.push_back(i.value);
        const bool whole = source.value->reduction || !aligned(source) ||
                           source.value->arrays > (dies ? 1 : 0) ||
                           reads_elsewhere(source, target, view, false);
        if (whole) first.push_back(source.value);
        compute(first, queue);
    } else if (source.value && source.value->buffer == target.buffer &&
               !(source.view == view && source.value->address == target.address &&
                 source.value->dtype == target.dtype)) {
        const Loop& copy = cast_loop(source.value->dtype, source.value->dtype);
        const ValueP apart = apply(target.device, copy, {source}, source.view.shape(), nullptr, site);
        compute(std::span(&apart, 1), queue);
        source = {apart, apart->layout, apart->dtype};
    }
    if (store_small(target, view, source, queue)) return;
    Fuser fuser(view.shape());
    const int at = fuser.cast(fuser.operand(source), target.dtype);
    fuser.output(at, target.dtype, target.address, view);
    use(fuser, queue);
    if (queue.stream) target.buffer->used_on(queue.stream);
    start_elementwise(std::move(fuser), site, queue);
}

namespace {

bool folds(const ValueP& value) {
    Plan plan;
    plan.collect(value);
    return std::ranges::any_of(plan.items, [](const Item& i) { return i.value->reduction.has_value(); });
}

// What of the sources, and of what they are made of, is in memory before the kernels that write them.
std::vector<ValueP> before_joining(std::span<const Part> parts) {
    std::vector<ValueP> first, others;
    for (const Part& part : parts) {
        const ValueP& v = part.from.value;
        if (v && v->pending()) (!aligned(part.from) || folds(v) ? first : others).push_back(v);
    }
    Plan together;
    for (const ValueP& v : others) together.collect(v);
    together.link();
    for (const Item& i : together.items)
        if (i.memory) first.push_back(i.value);
    return first;
}

}  // namespace

void join(Value& target, std::span<const Part> parts, const Site& site, const Queue& queue) {
    if (!queue.stream && target.size() <= small_limit()) {
        for (const Part& part : parts) store(target, part.view, part.from, site, queue);
        return;
    }
    compute(before_joining(parts), queue);
    std::vector<bool> done(parts.size());
    for (std::size_t begin = 0; begin < parts.size(); ++begin) {
        if (done[begin] || parts[begin].view.size() == 0) continue;
        Fuser fuser(parts[begin].view.shape());
        std::vector<std::pair<ValueP, ValueP>> made;  // value and memory
        for (std::size_t i = begin; i < parts.size(); ++i) {
            const auto& [view, from] = parts[i];
            if (done[i] || !std::ranges::equal(view.shape(), parts[begin].view.shape())) continue;
            if (fuser.structure.steps.size() >= most_steps || fuser.outputs.size() + 2 > most_outputs) break;
            const int source = fuser.operand(from);
            fuser.output(fuser.cast(source, target.dtype), target.dtype, target.address, view);
            done[i] = true;
            // Who holds it may ask for it: not computed a second time, where that is dear.
            const ValueP& v = from.value;
            Plan plan;
            if (v && v->pending() && v->arrays > 0) plan.collect(v);
            plan.link();
            if (plan.items.empty() || plan.items.back().weight <= cheap ||
                std::ranges::any_of(made, [&](const auto& m) { return m.first == v; }))
                continue;
            made.emplace_back(v, allocated(queue.device, v->dtype, v->layout, queue.stream));
            fuser.output(source, v->dtype, made.back().second->address, v->layout);
        }
        use(fuser, queue);
        if (queue.stream) target.buffer->used_on(queue.stream);
        start_elementwise(std::move(fuser), site, queue);
        for (auto& [v, memory] : made) v->settle(*memory);
    }
}

}  // namespace xcuda::arrays
