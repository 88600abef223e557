#include "arrays/passes_of_rows.hpp"

#include <algorithm>
#include <functional>

namespace xcuda::arrays {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Passes::Passes(const Structure& structure)
    : needed(structure.steps.size()),
      needed_slot(structure.slots.size()),
      s_(structure),
      level_(structure.steps.size()),
      once_(structure.steps.size()) {
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
        const Step& step = s_.steps[i];
        bool same = true;
        for (const int a : step.args) {
            level_[i] = std::max(level_[i], pass_of(a));
            same &= once(a);
        }
        once_[i] = step.fold || same;
        if (step.fold) ++level_[i];
    }
    const std::function<void(int)> need = [&](int from) {
        if (from < 0) {
            needed_slot[at(~from)] = true;
        } else if (!needed[at(from)]) {
            needed[at(from)] = true;
            for (const int a : s_.steps[at(from)].args) need(a);
        }
    };
    for (const Output& o : s_.outputs) need(o.from);
    int last = 0;
    for (std::size_t i = 0; i < s_.steps.size(); ++i)
        if (needed[i]) last = std::max(last, level_[i]);
    for (int p = 0; p <= last; ++p) {
        PassOver pass;
        pass.number = p;
        for (std::size_t i = 0; i < s_.steps.size(); ++i)
            if (needed[i] && s_.steps[i].fold && level_[i] == p + 1)
                pass.folds.push_back(static_cast<int>(i));
        for (const Rows::Kept& k : s_.rows[0].kept)
            if (level_[at(k.step)] == p) pass.keeps.push_back(k);
        for (int o = 0; o < static_cast<int>(s_.outputs.size()); ++o) {
            // An output that is there to keep a step is written when that is.
            const bool keeps =
                std::any_of(s_.rows[0].kept.begin(), s_.rows[0].kept.end(),
                            [&](const auto& k) { return k.output == o && k.step == s_.outputs[at(o)].from; });
            if (!of_rows(o) && !keeps && pass_of(s_.outputs[at(o)].from) == p) pass.outputs.push_back(o);
        }
        all.push_back(std::move(pass));
    }
}

bool Passes::once(int from) const {
    if (from >= 0) return once_[at(from)];
    const Slot& slot = s_.slots[at(~from)];
    if (slot.number) return true;
    const int kept = s_.axes - s_.rows[0].axes;
    for (int i = 0; i < slot.axes.count; ++i)
        if (slot.axes[i] >= kept) return false;
    return true;
}

bool Passes::of_rows(int output) const {
    const Axes& axes = s_.outputs[at(output)].axes;
    for (int i = 0; i < axes.count; ++i)
        if (axes[i] >= s_.axes - s_.rows[0].axes) return false;
    return true;
}

bool Passes::kept(int step, int pass) const {
    return step >= 0 && level_[at(step)] < pass &&
           std::any_of(
               s_.rows[0].kept.begin(), s_.rows[0].kept.end(),
               [&](const Rows::Kept& k) { return k.step == step; });
}

bool Passes::of_each_row(int slot) const {
    const Axes& axes = s_.slots[at(slot)].axes;
    for (int i = 0; i < axes.count; ++i)
        if (axes[i] < s_.axes - s_.rows[0].axes) return true;
    return false;
}

Passes::Seen Passes::seen(const PassOver& pass) const {
    Seen seen{std::vector<bool>(s_.steps.size()), std::vector<bool>(s_.slots.size())};
    const std::function<void(int)> visit = [&](int from) {
        if (once(from)) return;
        if (from < 0) {
            seen.slots[at(~from)] = true;
            return;
        }
        if (seen.steps[at(from)] || kept(from, pass.number)) return;
        seen.steps[at(from)] = true;
        for (const int a : s_.steps[at(from)].args) visit(a);
    };
    for (const int f : pass.folds) visit(s_.steps[at(f)].args[0]);
    for (const int o : pass.outputs) visit(s_.outputs[at(o)].from);
    for (const Rows::Kept& k : pass.keeps) visit(k.step);
    return seen;
}

std::vector<bool> Passes::computed(const PassOver& pass) const { return seen(pass).steps; }
std::vector<bool> Passes::reads(const PassOver& pass) const { return seen(pass).slots; }

std::size_t held_bytes(const Structure& s) {
    const Passes passes(s);
    std::vector<int> first(s.slots.size(), -1), last(s.slots.size(), -1);
    for (const PassOver& pass : passes.all) {
        const std::vector<bool> reads = passes.reads(pass);
        for (std::size_t i = 0; i < reads.size(); ++i) {
            if (!reads[i] || s.slots[i].ramp || !passes.of_each_row(static_cast<int>(i))) continue;
            if (first[i] < 0) first[i] = pass.number;
            last[i] = pass.number;
        }
    }
    std::size_t most = 0;
    for (const PassOver& pass : passes.all) {
        std::size_t now = 0, after = 0;  // what is kept takes the place of what it is made of
        for (std::size_t i = 0; i < s.slots.size(); ++i) {
            const std::size_t size = info(s.slots[i].dtype).size;
            if (first[i] >= 0 && first[i] <= pass.number && last[i] >= pass.number) now += size;
            if (first[i] >= 0 && first[i] <= pass.number && last[i] > pass.number) after += size;
        }
        for (const Rows::Kept& k : s.rows[0].kept) {
            const std::size_t size = info(loop_of(s.steps[at(k.step)].loop).out).size;
            if (passes.pass_of(k.step) < pass.number) now += size;
            if (passes.pass_of(k.step) <= pass.number) after += size;
        }
        most = std::max({most, now, after});
    }
    return most;
}

std::optional<RescaledSum> rescaled_sum(const Structure& s, int fold) {
    const auto named = [&](int step, std::string_view name) {
        return step >= 0 && loop_of(s.steps[at(step)].loop).name == name;
    };
    const Step& sum = s.steps[at(fold)];
    if (!sum.fold || loop_of(sum.loop).name != "add") return std::nullopt;
    int from = sum.args[0];
    if (named(from, "astype") && loop_of(s.steps[at(from)].loop).out == loop_of(sum.loop).out)
        from = s.steps[at(from)].args[0];
    if (!named(from, "exp")) return std::nullopt;
    const int minus = s.steps[at(from)].args[0];
    if (!named(minus, "subtract")) return std::nullopt;
    const int x = s.steps[at(minus)].args[0], top = s.steps[at(minus)].args[1];
    const bool maximum = named(top, "maximum") && s.steps[at(top)].fold;
    const DType dtype = loop_of(s.steps[at(from)].loop).out;
    if (!maximum || s.steps[at(top)].args[0] != x || loop_of(s.steps[at(top)].loop).out != dtype ||
        (dtype != DType::f32 && dtype != DType::f64))
        return std::nullopt;
    return RescaledSum{fold, from, minus, top};
}

bool can_stream(const Structure& s) {
    const Passes passes(s);
    for (int o = 0; o < static_cast<int>(s.outputs.size()); ++o)
        if (!passes.of_rows(o)) return false;
    for (const PassOver& pass : passes.all) {
        if (!pass.keeps.empty() && pass.number > 1) return false;
        for (const int f : pass.folds)
            if (pass.number > 1 || (pass.number == 1 && !rescaled_sum(s, f))) return false;
    }
    return passes.all.size() > 1 && !passes.all[1].folds.empty();
}

std::vector<int> weights_of(const Structure& s, const Passes& passes) {
    std::vector<int> weights;
    for (std::size_t i = 0; i < s.steps.size(); ++i) {
        int weight = 0;
        if (!passes.once(static_cast<int>(i))) {
            weight = loop_of(s.steps[i].loop).weight;
            for (const int a : s.steps[i].args) weight += a < 0 ? 0 : weights[at(a)];
        }
        weights.push_back(std::min(weight, 1000));
    }
    return weights;
}

}  // namespace xcuda::arrays
