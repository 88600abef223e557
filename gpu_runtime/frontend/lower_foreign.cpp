// Functions in the user's CUDA C++, and the addresses that they take.
#include <fmt/format.h>
#include <algorithm>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

// Where an array begins, or a view of one. Through it anything may be read and written.
Value Lowering::address_of(const Value& base, const Place& place) {
    if (!base.is_indexed())
        throw refused(place, "expected an array to take the address of, found " + spoken(base));
    const ir::Space space = base.expr->type.space;
    if (space == ir::Space::constant)
        throw refused(place, "constant memory has no address to give away", "pass the array as an argument");
    if (base.expr->type.readonly)
        throw refused(place,
                      fmt::format("'{}' is read-only: its address can't be given away",
                                  fn.vars[ir::var_of(*base.expr)].name),
                      "pass a writable array, as A.copy()");
    std::vector<ExprP> first(rank(base), ir::int_constant(0, place));
    Element e = element(base, std::move(first), place);
    e.access.checked = 0;  // the address is no access
    std::vector<ExprP> args = {e.array};
    args.insert(args.end(), e.indices.begin(), e.indices.end());
    const ir::Type type = ir::scalar(DType::u64);
    ir::Expr address = *ir::make(Op::atomic, type, std::move(args), place);
    address.payload = ir::Atomic{ir::Atomic::Kind::address, e.access};
    const ir::VarId id = hidden(type, place);
    emit(ir::assign(id, std::make_shared<const ir::Expr>(std::move(address)), place));
    return scalar_value(ir::var(id, type, place));
}

Value Lowering::invoke_foreign(const Helper& helper, const Node& node) {
    const ForeignHelper& foreign = *helper.foreign;
    const Call c = call_of(node);
    if (!c.keywords.empty())
        throw refused(c.keywords[0].second->place, helper.name + "() takes its arguments by place",
                      "leave its name out");
    if (c.positional.size() != foreign.arguments.size())
        throw refused(node.place,
                      fmt::format("{}() takes {} argument{}, found {}", helper.name, foreign.arguments.size(),
                                  foreign.arguments.size() == 1 ? "" : "s", c.positional.size()));
    const std::vector<Value> values = operands(c.positional);
    std::vector<ExprP> passed;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ForeignHelper::Type& wanted = foreign.arguments[i];
        const Place& place = c.positional[i]->place;
        if (!wanted.pointer) {
            const ExprP x = number(values[i], place);
            passed.push_back(x->type.is_none() ? x : python_cast(wanted.dtype, false, x, place));
            continue;
        }
        Value address = values[i];
        if (address.is_indexed()) {
            const DType held = address.expr->type.dtype;
            if (held != wanted.dtype)
                throw refused(place,
                              fmt::format("{}() takes a pointer to {}, found an array of {}", helper.name,
                                          info(wanted.dtype).name, info(held).name),
                              "pass its address: A.ctypes.data");
            address = address_of(address, place);
        }
        const ExprP x = number(address, place);
        if (!x->type.is_none() && !is_integer(x->type.dtype))
            throw refused(place, fmt::format("{}() takes a pointer, found {}", helper.name, spoken(x->type)),
                          "pass an array, or its address: A.ctypes.data");
        passed.push_back(x->type.is_none() ? x : convert(x, ir::scalar(DType::u64)));
    }
    for (const ExprP& e : passed)
        if (e->type.is_none()) return scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));

    const ir::Type result = foreign.returns
                                ? ir::scalar(foreign.returns->pointer ? DType::u64 : foreign.returns->dtype)
                                : ir::Type{};
    const auto [known, fresh] =
        unit.helper_ids.emplace(fmt::format("foreign {}", static_cast<const void*>(&helper)), 0);
    if (fresh) {
        Lowered lowered;
        ir::Function& f = lowered.function;
        f.name = helper.name;
        f.place = node.place;
        f.is_kernel = false;
        f.result = result;
        f.foreign = ir::Foreign{foreign.symbol, foreign.gives_status, foreign.cooperative};
        for (std::size_t i = 0; i < passed.size(); ++i)
            f.params.push_back(
                f.add({fmt::format("a{}", i), passed[i]->type, ir::Var::Role::parameter, node.place, false}));
        unit.helpers.push_back(std::make_unique<Lowered>(std::move(lowered)));
        known->second = static_cast<int>(unit.helpers.size());
        for (const ir::CudaSource& s : foreign.sources)
            if (std::find(unit.sources.begin(), unit.sources.end(), s) == unit.sources.end())
                unit.sources.push_back(s);
        if (unit.sources.empty())
            throw refused(node.place, helper.name + "() has no source to compile",
                          "write cuda.declare_device(name, signature, link=cuda.CUSource(\"...\"))");
    }
    ir::Expr call = *ir::make(Op::invoke, result, std::move(passed), node.place);
    call.payload = ir::FunctionId{known->second};
    const ExprP invocation = std::make_shared<const ir::Expr>(std::move(call));
    if (result.is_none()) {
        emit(ir::evaluate(invocation, node.place));
        return {};
    }
    const ir::VarId id = hidden(result, node.place);
    nonnegative_vars.resize(id + 1, false);
    nonnegative_vars[id] = false;
    emit(ir::assign(id, invocation, node.place));
    return scalar_value(ir::var(id, result, node.place));
}

}  // namespace xcuda::frontend
