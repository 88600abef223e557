// Helpers of tile kernels are written in where they are called: a tile, a constant and a shape are in them what they are
// outside.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

// Reads the same wherever it stands in the helper.
bool steady(const ir::Expr& e) {
    return is_constant(e) || e.op == Op::dim || e.op == Op::position ||
           (e.op == Op::element && e.args.size() == 1) || (e.op == Op::var && e.type.is_scalar()) ||
           (e.op == Op::spread && steady(*e.args[0]));
}

}  // namespace

Value Lowering::kept_in_helper(Value v) {
    if (v.is_scalar() && !steady(*v.expr)) v.expr = spill(v.expr);
    for (Value& item : v.items) item = kept_in_helper(std::move(item));
    return v;
}

// `values`: one a parameter. `names`: what the function's free names mean; null: what they mean here.
Value Lowering::write_in(const Node& function, const std::string& name, const NameTable* names,
                         std::vector<Value> values, const Node& call) {
    if (std::find(unit.active.begin(), unit.active.end(), &function) != unit.active.end())
        throw refused(call.place, fmt::format("{}() calls itself: recursion can't run in a kernel", name),
                      "write it as a loop");
    auto& known = unit.written[{&call, &function}];
    if (!known) {
        const std::string mark = fmt::format("{} {}", name, unit.written.size());
        known = std::make_unique<Written>(written(function, name, mark, names != nullptr));
        if (names) unit.marked_names.emplace(mark, names);
    }
    const Written& w = *known;
    assigned.insert(w.assigned.begin(), w.assigned.end());
    for (const std::string& n : w.loop_only) assigned.erase(n);
    loop_only.insert(w.loop_only.begin(), w.loop_only.end());
    changing.insert(w.changing.begin(), w.changing.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& parameter = w.parameters[i];
        if (assigned.count(parameter))
            assign(parameter, values[i], call.place);
        else
            parameters[parameter] = kept_in_helper(std::move(values[i]));
    }
    unit.active.push_back(&function);
    Value result;
    try {
        if (w.value)
            result = value(*w.value);
        else {
            statements(w.body);
            if (!w.result.empty()) result = *local_named(w.result, call.place);
        }
    } catch (...) {
        unit.active.pop_back();
        throw;
    }
    unit.active.pop_back();
    return result;
}

// What a name means outside; of a helper's marked name: in the helper's module.
const Meaning* Lowering::meaning_named(const std::string& path) const {
    const auto at = path.find('#');
    if (at == std::string::npos) {
        const auto known = source.names.find(path);
        return known == source.names.end() ? nullptr : &known->second;
    }
    const auto end = std::min(path.find('.', at), path.size());
    const auto table = unit.marked_names.find(path.substr(at + 1, end - at - 1));
    if (table == unit.marked_names.end()) return nullptr;
    const auto known = table->second->find(path.substr(0, at) + path.substr(end));
    return known == table->second->end() ? nullptr : &known->second;
}

}  // namespace xcuda::frontend
