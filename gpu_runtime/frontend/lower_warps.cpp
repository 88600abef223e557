// Calls of the table's functions that have an effect: warp operations, barriers with a value, fences, clocks.
#include <fmt/format.h>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

// An argument whose type is the same in every overload says nothing about which one is meant.
bool fixed_type(const KernelFunction& f, std::size_t argument) {
    const DType first = all_overloads()[f.first_overload].in[argument];
    for (int i = 1; i < f.overloads; ++i)
        if (all_overloads()[f.first_overload + i].in[argument] != first) return false;
    return true;
}

}  // namespace

int Lowering::meeting(const std::string& name, const Place& place) {
    return unit.site({ir::Site::Kind::meeting, place, "cuda." + name + "()", "", 0, -1, {}});
}

// The call as a statement of its own, and its value; the overload is the first that holds the arguments of varying type.
ExprP Lowering::effect_apply(const KernelFunction& function, const std::string& name, std::vector<ExprP> args,
                             const std::vector<Place>& places, const Place& place) {
    for (const ExprP& a : args)
        if (a->type.is_none()) return ir::make(Op::constant, ir::Type{}, {}, place);
    for (int i = 0; i < function.overloads; ++i) {
        const int id = function.first_overload + i;
        const Overload& o = all_overloads()[id];
        bool holds = true;
        for (std::size_t k = 0; k < args.size() && holds; ++k) {
            const DType given = args[k]->type.dtype;
            if (!fixed_type(function, k)) {
                holds = promote(given, o.in[k]) == o.in[k];
            } else if (o.in[k] != DType::b1 && !is_integer(given)) {
                throw refused(places[k],
                              fmt::format("{}() takes an int as its argument '{}', found {}", name,
                                          function.parameters[k], spoken(args[k]->type)),
                              "convert it with int(x)");
            }
        }
        if (!holds) continue;
        for (std::size_t k = 0; k < args.size(); ++k)
            args[k] = o.in[k] == DType::b1 ? truth(args[k]) : convert(args[k], ir::scalar(o.in[k]));
        if (function.sited)
            args.push_back(ir::constant(std::int64_t{unit.checked ? meeting(name, place) : -1},
                                        ir::scalar(DType::i64), place));
        const ir::Type type = function.gives ? ir::scalar(o.out) : ir::Type{};
        ir::Expr node = *ir::make(Op::call, type, std::move(args), place);
        node.payload = ir::OverloadId{id};
        ExprP call = std::make_shared<const ir::Expr>(std::move(node));
        if (!function.gives) {
            emit(ir::evaluate(std::move(call), place));
            return nullptr;
        }
        const ir::VarId result = hidden(type, place);
        emit(ir::assign(result, std::move(call), place));
        return ir::var(result, type, place);
    }
    std::string found;
    for (std::size_t k = 0; k < args.size(); ++k)
        if (!fixed_type(function, k)) found += (found.empty() ? "" : " and ") + spoken(args[k]->type);
    throw refused(place, fmt::format("{}() does not take {}", name, found),
                  "use int32, uint32, int64, uint64, float32 or float64");
}

Value Lowering::effect_call(const KernelFunction& function, const std::string& name, const Node& node) {
    const std::vector<std::string> parameters(function.parameters.begin(), function.parameters.end());
    const bool whole_warp = name == "syncwarp";  // its mask may be left out
    const auto nodes = bind(node, name, parameters, whole_warp ? 0 : parameters.size());
    std::vector<ExprP> args;
    std::vector<Place> places;
    if (whole_warp && !nodes[0]) {
        args.push_back(ir::int_constant(0xffffffff, node.place));
        places.push_back(node.place);
    } else {
        const std::vector<Value> values = operands(nodes);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            args.push_back(number(values[i], nodes[i]->place));
            places.push_back(nodes[i]->place);
        }
    }
    const ExprP result = effect_apply(function, name, std::move(args), places, node.place);
    if (!result) return {};
    if (name != "match_all_sync" || result->type.is_none()) return scalar_value(result);
    return tuple_value(
        {scalar_value(convert(result, ir::scalar(DType::i32))),  // its lower half
         scalar_value(comparison(Op::ne, result, ir::int_constant(0, node.place), node.place))});
}

// shfl_sync_intrinsic(mask, mode, value, mode_offset, clamp) and vote_sync_intrinsic(mask, mode, predicate), as numba has them:
// the value, and whether its lane lay within the segment; the ballot, and the vote.
Value Lowering::warp_intrinsic(const std::string& name, const Node& node) {
    const bool vote = name == "vote_sync_intrinsic";
    const auto nodes = vote ? bind(node, name, {"mask", "mode", "predicate"}, 3)
                            : bind(node, name, {"mask", "mode", "value", "mode_offset", "clamp"}, 5);
    const std::vector<Value> values = operands(nodes);
    const auto mode = constant_int(values[1]);
    if (!mode || *mode < 0 || *mode > 3)
        throw refused(nodes[1]->place, "the mode of cuda." + name + " is 0, 1, 2 or 3, written out",
                      vote ? "0 is all, 1 any, 2 eq, 3 ballot" : "0 is idx, 1 up, 2 down, 3 xor");
    std::vector<ExprP> args;
    std::vector<Place> places;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i == 1) continue;
        args.push_back(number(values[i], nodes[i]->place));
        places.push_back(nodes[i]->place);
    }
    const auto which = static_cast<std::size_t>(*mode);
    if (vote) {
        static constexpr const char* votes[] = {"all_sync", "any_sync", "eq_sync", "ballot_sync"};
        const ExprP told =
            effect_apply(internal_function(votes[which]), votes[which], args, places, node.place);
        const ExprP zero = ir::constant(std::int64_t{0}, ir::scalar(DType::i32), node.place);
        const ExprP no = ir::constant(false, ir::scalar(DType::b1), node.place);
        return which == 3 ? tuple_value({scalar_value(told), scalar_value(no)})
                          : tuple_value({scalar_value(zero), scalar_value(told)});
    }
    static constexpr const char* shuffles[] = {"shfl_idx", "shfl_up", "shfl_down", "shfl_xor"};
    for (std::size_t i : {std::size_t{2}, std::size_t{3}})
        if (!args[i]->type.is_none()) args[i] = spill(convert(args[i], ir::scalar(DType::i64)));
    const ExprP got = effect_apply(internal_function(shuffles[which]), name, args, places, node.place);
    const ExprP within =
        table_apply(internal_function("shfl_within"), "shfl_within",
                    {ir::int_constant(*mode),
                     convert(lane("laneid", node.place).expr, ir::scalar(DType::i64)), args[2], args[3]},
                    node.place);
    return tuple_value({scalar_value(got), scalar_value(within)});
}

// What cuda.cg.this_grid() gives, and its sync.
Value Lowering::grid_group(const std::string& member, const Place& place) const {
    const auto made = [](const char* text) {
        Meaning m;
        m.kind = Meaning::Kind::intrinsic;
        m.text = text;
        return m;
    };
    static const Meaning group = made("cg.grid_group"), sync = made("cg.grid_group.sync");
    if (!member.empty() && member != "sync")
        throw refused(place, "the grid in a kernel has no '" + member + "'", "it has sync()");
    Value v;
    v.kind = Value::Kind::meaning;
    v.meaning = member.empty() ? &group : &sync;
    v.text = member.empty() ? "this_grid()" : "this_grid().sync";
    return v;
}

// laneid and lanemask_lt(): of the block's coordinates, so that the passes see what they depend on.
Value Lowering::lane(const std::string& name, const Place& place) {
    using Kind = ir::Coord::Kind;
    ir::Expr node = *ir::make(Op::call, ir::scalar(DType::i32),
                              {ir::coord(Kind::thread, 0, place), ir::coord(Kind::thread, 1, place),
                               ir::coord(Kind::thread, 2, place), ir::coord(Kind::block_dim, 0, place),
                               ir::coord(Kind::block_dim, 1, place)},
                              place);
    node.payload = ir::OverloadId{internal_function(name).first_overload};
    return scalar_value(std::make_shared<const ir::Expr>(std::move(node)));
}

}  // namespace xcuda::frontend
