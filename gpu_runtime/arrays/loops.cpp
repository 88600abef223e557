#include "arrays/loops.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "arrays/loop_rules.hpp"
#include "base/error.hpp"
#include "frontend/functions.hpp"

namespace xcuda::arrays {
namespace {

using ir::ExprP;

// Half precision is computed in float32 and rounded once, as NumPy does.
DType computed(DType d) { return is_half(d) ? DType::f32 : d; }

ExprP as(const ExprP& e, DType d) { return cast_as_numpy(e, d); }

// A function of the kernel language whose overload takes just these types.
int overload_for(std::string_view name, std::span<const DType> in, DType out) {
    const frontend::KernelFunction* f = frontend::find_function("numpy." + std::string(name));
    if (!f) f = frontend::find_function("scipy.special." + std::string(name));
    if (!f || f->effect != ir::Effect::none) return -1;
    for (int i = 0; i < f->overloads; ++i) {
        const frontend::Overload& o = frontend::overload({f->first_overload + i});
        if (o.out == out && std::equal(o.in.begin(), o.in.end(), in.begin(), in.end()))
            return f->first_overload + i;
    }
    return -1;
}

ExprP build_call(const Loop& loop, std::span<const ExprP> args) {
    std::vector<DType> in;
    std::vector<ExprP> given;
    for (std::size_t i = 0; i < args.size(); ++i) {
        in.push_back(computed(loop.in[i]));
        given.push_back(as(args[i], in.back()));
    }
    const DType out = computed(loop.out);
    auto node = std::make_shared<ir::Expr>(*ir::make(ir::Op::call, ir::scalar(out), std::move(given)));
    node->payload = ir::OverloadId{overload_for(loop.name, in, out)};
    return as(node, loop.out);
}

ExprP build_cast(const Loop& loop, std::span<const ExprP> args) { return cast_as_numpy(args[0], loop.out); }

constexpr int call_weight = 12;
constexpr std::array instructions = {"sqrt", "absolute", "square",   "rint", "floor",
                                     "ceil", "trunc",    "copysign", "sign"};

int weight_of_call(std::string_view name) {
    return std::find(instructions.begin(), instructions.end(), name) == instructions.end() ? call_weight : 4;
}

struct Loops {
    std::deque<Loop> all;
    std::map<std::string, const Loop*, std::less<>> by_key;  // null: looked for, and there is none
};

Loops& loops() {
    static auto* made = new Loops;  // pending values may outlive everything
    return *made;
}

std::string key_of(std::string_view name, std::span<const DType> in, DType out) {
    std::string key(name);
    key += ':';
    for (const DType d : in) key += static_cast<char>('a' + static_cast<int>(d));
    key += '>';
    key += static_cast<char>('a' + static_cast<int>(out));
    return key;
}

const Loop* make_loop(std::string_view name, std::span<const DType> in, DType out) {
    Loop loop;
    loop.name = name;
    loop.in.assign(in.begin(), in.end());
    loop.out = out;
    if (name == "astype" || name == "copy") {
        loop.build = build_cast;
        loop.copies = true;
        loop.weight = 0;
    } else if (const Rule* rule = rule_for(name, in, out)) {
        loop.build = rule->build;
        loop.weight = rule->weight;
        loop.infix = rule->infix;
    } else if ((name == "nextafter" || name == "spacing") && std::ranges::any_of(in, is_half)) {
        return nullptr;  // the neighbours of float32 are others
    } else {
        std::vector<DType> inner;
        for (const DType d : in) inner.push_back(computed(d));
        if (overload_for(name, inner, computed(out)) < 0) return nullptr;
        loop.build = build_call;
        loop.weight = weight_of_call(name);
    }
    loop.id = static_cast<int>(loops().all.size());
    loops().all.push_back(std::move(loop));
    return &loops().all.back();
}

}  // namespace

const Loop* find_loop(std::string_view name, std::span<const DType> in, DType out) {
    const std::string key = key_of(name, in, out);
    const auto found = loops().by_key.find(key);
    if (found != loops().by_key.end()) return found->second;
    const Loop* made = make_loop(name, in, out);
    loops().by_key.emplace(key, made);
    return made;
}

const Loop& loop_of(int id) { return loops().all[static_cast<std::size_t>(id)]; }

const Loop& cast_loop(DType from, DType to) {
    constexpr std::size_t most = 16;
    static std::array<const Loop*, most * most> known{};
    const Loop*& slot = known[static_cast<std::size_t>(from) * most + static_cast<std::size_t>(to)];
    if (!slot) slot = find_loop(from == to ? "copy" : "astype", std::span(&from, 1), to);
    return *slot;
}

std::vector<std::string> loop_names() {
    std::vector<std::string> names = rule_names();
    for (const frontend::KernelFunction& f : frontend::all_functions())
        for (const std::string_view s : f.spellings)
            if (s.starts_with("numpy.") && f.effect == ir::Effect::none) names.emplace_back(s.substr(6));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace xcuda::arrays
