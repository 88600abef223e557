// Variables: one type a name for the whole function, found by joining all that is assigned to it.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

// "x" of "x.0", an item, and of "x@(16, 16)", what x holds where it is a tile of that shape.
std::string root_of(const std::string& path) { return path.substr(0, path.find_first_of(".@")); }

std::string kind_name(const Slot& slot) {
    if (slot.kind == Slot::Kind::scalar) return slot.type.is_tile() ? "a tile" : "a number";
    if (slot.kind == Slot::Kind::tuple) return "a tuple";
    return slot.fixed.is_indexed() || slot.fixed.kind == Value::Kind::records ? "an array"
                                                                              : spoken(slot.fixed);
}

}  // namespace

const Slot* Lowering::slot_of(const std::string& path) const {
    if (const auto known = current.find(path); known != current.end()) return &known->second;
    if (const auto known = next.find(path); known != next.end()) return &known->second;
    return nullptr;
}

ir::VarId Lowering::variable(const std::string& path, const ir::Type& type, const Place& place) {
    if (const auto known = ids.find(path); known != ids.end()) return known->second;
    std::string name = path.substr(0, path.find_first_of("@#"));
    for (char& c : name)
        if (c == '.') c = '_';
    const ir::VarId id = fn.add({name, type, ir::Var::Role::local, place, false});
    ids.emplace(path, id);
    const auto slot = current.find(path);
    const bool known = slot != current.end();
    nonnegative_vars.resize(id + 1, false);
    nonnegative_vars[id] = !known || slot->second.nonnegative;
    coord_vars.resize(id + 1);
    if (known && slot->second.one_coord) coord_vars[id] = slot->second.coord;
    return id;
}

ir::VarId Lowering::hidden(const ir::Type& type, const Place& place) {
    return fn.add({"t", type, ir::Var::Role::hidden, place, false});
}

ExprP Lowering::spill(ExprP value) {
    if (value->type.is_none() || is_constant(*value)) return value;
    const ir::Type type = stored_type(*value);
    const Place place = value->place;
    const ir::VarId id = hidden(type, place);
    nonnegative_vars.resize(id + 1, false);
    nonnegative_vars[id] = nonnegative(*value);
    emit(ir::assign(id, std::move(value), place));
    return type.is_tile() ? ir::element(id, type, place) : ir::var(id, type, place);
}

// Python computes this here, whether or not something takes it: a fault in it must not be lost with it.
Value Lowering::evaluated(Value v) {
    for (Value& item : v.items) item = evaluated(std::move(item));
    if (v.is_scalar() && ir::may_fault(*v.expr)) v.expr = spill(v.expr);
    return v;
}

Value Lowering::read(const Node& node) {
    const std::string& name = node.text("id");
    if (flow.mixed.count(name))
        throw refused(node.place,
                      "'" + unmarked(name) + "' is a tile of one shape or another here, by the path taken",
                      "use two names, or give both one shape");
    const auto shape = flow.shapes.find(name);
    const std::string& path = shape == flow.shapes.end() ? name : shape->second;
    const Slot* slot = slot_of(path);
    // What is fixed is known from this pass alone: its variable numbers are the pass's own.
    if (slot && slot->kind == Slot::Kind::fixed) {
        const auto fresh = next.find(path);
        slot = fresh == next.end() ? nullptr : &fresh->second;
    }
    if (!slot || slot->kind == Slot::Kind::unknown) {
        if (!untyped) untyped = {node.place, name};
        return scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));
    }
    Value fixed = slot->fixed;
    const bool numbers =
        slot->kind != Slot::Kind::fixed || !view_parts(fixed).empty() || several.count(path) > 0;
    if (!flow.bound.count(name) && numbers) check_bound(name, nullptr, node.place);
    return read_slot(path, *slot, node.place);
}

Value Lowering::read_slot(const std::string& path, const Slot& slot, const Place& place) {
    if (slot.kind == Slot::Kind::fixed) {
        if (const auto torn = flow.torn.find(path); torn != flow.torn.end() && !flow.unlike.count(path))
            torn_arrays.insert(path);  // the next pass has a number for which one it is
        else if (torn != flow.torn.end())
            throw refused(place,
                          fmt::format("'{}' names one thing or another here, by the path taken: {}",
                                      unmarked(root_of(path)), torn->second),
                          "use two names: what is no number is fixed while the kernel is compiled");
        const auto here = flow.fixed.find(path);
        Value fixed = here == flow.fixed.end() ? slot.fixed : here->second;
        std::size_t i = 0;
        for (ExprP* part : view_parts(fixed)) {
            const std::string item = path + "." + std::to_string(i++);
            if (const Slot* known = slot_of(item)) *part = read_slot(item, *known, place).expr;
        }
        return as_viewed(std::move(fixed), place);
    }
    if (slot.kind == Slot::Kind::tuple) {
        std::vector<Value> items;
        for (std::size_t i = 0; i < slot.arity; ++i) {
            const std::string item = path + "." + std::to_string(i);
            const Slot* part = slot_of(item);
            items.push_back(part ? read_slot(item, *part, place)
                                 : scalar_value(ir::make(Op::constant, ir::Type{}, {}, place)));
        }
        Value v = tuple_value(std::move(items));
        v.fields = slot.fixed.fields;
        v.text = slot.fixed.text;
        v.only_fields = slot.fixed.only_fields;
        return v;
    }
    if (slot.type.is_none()) {
        if (!untyped) untyped = {place, unmarked(root_of(path))};
        return scalar_value(ir::make(Op::constant, ir::Type{}, {}, place));
    }
    if (slot.one_constant && slot.constant && flow.bound.count(root_of(path))) {
        taken_for_constant.insert(path);
        return scalar_value(ir::constant(to_dtype(*slot.constant, slot.type.dtype), slot.type, place));
    }
    const ir::VarId id = variable(path, slot.type, slot.place);
    if (!flow.bound.count(root_of(path))) fn.vars[id].maybe_unbound = true;
    return scalar_value(slot.type.is_tile() ? ir::element(id, slot.type, place)
                                            : ir::var(id, slot.type, place));
}

// A loop's body is compiled once: what a name means at its start must hold in every round.
void Lowering::expect_same_rounds(const Flow& before, const Flow& end) {
    if (!end.live) return;
    for (const std::string& name : before.bound) {
        const auto was = before.shapes.find(name), now = end.shapes.find(name);
        const bool same = was == before.shapes.end() ? now == end.shapes.end()
                                                     : now != end.shapes.end() && was->second == now->second;
        if (same && !end.mixed.count(name)) continue;
        const auto spoken_shape = [&](const Flow& flow, auto at) {
            return at == flow.shapes.end() ? std::string("a number")
                                           : "a tile of " + at->second.substr(name.size() + 1);
        };
        const auto slot = now == end.shapes.end() ? next.find(name) : next.find(now->second);
        throw refused(
            slot == next.end() ? source.function.place : slot->second.place,
            fmt::format("'{}' is {} before the loop and {} after a round", name, spoken_shape(before, was),
                        end.mixed.count(name) ? "of another shape" : spoken_shape(end, now)),
            "use two names, or start it in the shape it is to have");
    }
    for (const auto& [name, value] : before.fixed) {
        const auto now = end.fixed.find(name);
        if (now == end.fixed.end() || (same_fixed(value, now->second) && !end.torn.count(name))) continue;
        if (alike(value, now->second) && !end.unlike.count(name)) {
            torn_arrays.insert(name);
            continue;
        }
        throw refused(now->second.place,
                      fmt::format("'{}' names {} before the loop and another thing after a round",
                                  unmarked(root_of(name)), spoken(value)),
                      value.is_indexed() && now->second.is_indexed()
                          ? "use two names: what one name may hold in turn are arrays of one dtype and rank, "
                            "or parts of "
                            "such arrays taken alike"
                          : "use two names: what is no number is fixed while the kernel is compiled");
    }
}

ExprP Lowering::check_bound(const std::string& name, ExprP value, const Place& place) {
    warn(place, "'" + unmarked(name) + "' may have no value here: not every path to this line assigns it");
    if (!unit.checked) return value;
    next_flagged.insert(name);
    const auto flag = flags.find(name);
    if (flag == flags.end()) return value;  // found in this pass: the next one has the flag
    const ir::Type boolean = ir::scalar(DType::b1, true);
    ExprP missing = ir::make(Op::logic_not, boolean, {ir::var(flag->second, boolean, place)}, place);
    ir::Body body, *outside = out;
    out = &body;
    fault({ir::Site::Kind::unbound, place, name, "", 0, -1, {}});
    out = outside;
    emit(ir::branch(std::move(missing), std::move(body), {}, place));
    return value;
}

// A name may hold tiles of one shape after the other: a variable each.
std::string Lowering::path_of(const std::string& name, const Value& value) {
    if (!unit.names.tile_kernel || name.find('.') != std::string::npos || name == "return") return name;
    if (value.is_scalar() && value.expr->type.is_none()) {
        const auto known = flow.shapes.find(name);
        return known == flow.shapes.end() ? name : known->second;
    }
    flow.mixed.erase(name);
    if (!value.is_scalar() || !ir::is_tile(*value.expr)) {
        flow.shapes.erase(name);
        return name;
    }
    return flow.shapes[name] = name + "@" + ir::to_string(ir::extents_of(*value.expr));
}

void Lowering::assign(const std::string& given, const Value& named, const Place& place) {
    const std::string path = path_of(given, named);
    const Value value = named.is_indexed() ? as_one_of(path, named, place) : named;
    for (const Value::Kind passing :
         {Value::Kind::range, Value::Kind::lazy, Value::Kind::slice, Value::Kind::ellipsis})
        if (value.kind == passing)
            throw refused(place, spoken(value) + " can't be kept in a variable", "write it where it is used");
    Slot& slot = next[path];
    Slot::Kind kind = Slot::Kind::fixed;
    if (value.is_scalar()) kind = Slot::Kind::scalar;
    if (value.is_tuple()) kind = Slot::Kind::tuple;
    if (slot.kind != Slot::Kind::unknown && slot.kind != kind) {
        Slot now;
        now.kind = kind;
        now.fixed = value;
        if (path == "return" || path.starts_with("return."))
            throw refused(place,
                          fmt::format("{}() returns {} in line {} and {} here", source.name, kind_name(slot),
                                      slot.place.line, kind_name(now)),
                          "return the same kind of value on every path");
        const std::string name = unmarked(root_of(path));
        const bool indexed = slot.fixed.is_indexed();
        throw refused(place,
                      fmt::format("'{0}' is {1} in line {2} and {3} here", name, kind_name(slot),
                                  slot.place.line, kind_name(now)),
                      indexed && kind == Slot::Kind::scalar
                          ? fmt::format("write {0}[i] = ... to store into it, or use two names", name)
                          : "use two names");
    }
    const bool first = slot.kind == Slot::Kind::unknown;
    slot.kind = kind;
    if (first) slot.place = place;
    if (kind == Slot::Kind::scalar) {
        assign_scalar(path, value, place);
    } else if (kind == Slot::Kind::tuple) {
        if (!first && slot.arity != value.items.size() && path == "return")
            throw refused(place,
                          fmt::format("{}() returns a tuple of {} in line {} and of {} here", source.name,
                                      slot.arity, slot.place.line, value.items.size()),
                          "return tuples of one length");
        if (!first && slot.arity != value.items.size())
            throw refused(
                place,
                fmt::format("'{}' is a tuple of {} in line {} and of {} here", unmarked(root_of(path)),
                            slot.arity, slot.place.line, value.items.size()),
                "use two names");
        slot.arity = value.items.size();
        slot.fixed.fields = value.fields;
        slot.fixed.text = value.text;
        slot.fixed.only_fields = value.only_fields;
        for (std::size_t i = 0; i < value.items.size(); ++i)
            assign(path + "." + std::to_string(i), materialised(value.items[i], place), place);
    } else {
        if (path == "return" && !first && !same_fixed(slot.fixed, value))
            throw refused(place,
                          fmt::format("{}() returns one array in line {} and another here", source.name,
                                      slot.place.line),
                          "return parts of one array, in one shape");
        slot.fixed = value;
        if (path == "return") slot.arity = view_parts(slot.fixed).size();
        flow.fixed[path] = value;
        flow.torn.erase(path);
        flow.unlike.erase(path);
        assign_view(path, slot.fixed, place);
    }
    if (path.find('.') != std::string::npos) return;
    flow.bound.insert(given);
    if (const auto flag = flags.find(given); flag != flags.end())
        emit(ir::assign(flag->second, ir::constant(true, ir::scalar(DType::b1, true), place), place));
}

// The numbers of a view are variables: `row = A[i]` in a loop is another row each time.
void Lowering::assign_view(const std::string& path, Value view, const Place& place) {
    const std::vector<ExprP*> parts = view_parts(view);
    for (ExprP* part : parts)  // all are read before the first is written
        if (!(*part)->type.is_none())
            *part = (*part)->op == Op::dim ? *part : spill(convert(*part, ir::scalar(DType::i64, true)));
    for (std::size_t i = 0; i < parts.size(); ++i)
        assign(path + "." + std::to_string(i), scalar_value(*parts[i]), place);
}

void Lowering::assign_scalar(const std::string& path, const Value& value, const Place& place) {
    Slot& slot = next[path];
    const ir::Type type = stored_type(*value.expr);
    if (type.is_none()) return;  // not known yet: another pass will
    if (slot.type.is_none()) {
        slot.type = type;
    } else {
        const ir::Type joined = ir::join(slot.type, type);
        if (joined.is_none())
            throw refused(
                place,
                fmt::format("'{}' is {} in line {} and {} here: a variable keeps its tile's shape",
                            unmarked(root_of(path)), spoken(slot.type), slot.place.line, spoken(type)),
                "use two names, or tiles.broadcast_to or reshape");
        const bool lossy = is_floating(joined.dtype) && is_integer(slot.type.dtype) && is_integer(type.dtype);
        if (lossy)
            throw refused(
                place,
                fmt::format("'{}' is {} in line {} and {} here: no integer type holds both",
                            unmarked(root_of(path)), spoken(slot.type), slot.place.line, spoken(type)),
                "convert one of them, as np.uint64(x)");
        if (joined != slot.type) slot.place = place;
        slot.type = joined;
    }
    slot.nonnegative = slot.nonnegative && nonnegative(*value.expr);
    const auto same_or_first = [](auto& known, bool& one, auto found, auto same) {
        if (!found || (known && !same(*known, *found))) one = false;
        known = found;
        if (!one) known.reset();
    };
    same_or_first(slot.coord, slot.one_coord, coord_of(*value.expr), std::equal_to<ir::Coord>());
    std::optional<ir::Number> number;
    if (is_constant(*value.expr) && !changing.count(path) && !changing.count(root_of(path)))
        number = ir::number_of(*value.expr);
    same_or_first(slot.constant, slot.one_constant, number, ir::same_number);

    if (root_of(path) == "return") return;  // a helper's result has a type and no variable
    const Slot* known = slot_of(path);
    const ir::Type stored = known->type.is_none() ? slot.type : known->type;
    const ir::VarId id = variable(path, stored, place);
    emit(ir::assign(id, convert(value.expr, stored.is_tile() ? ir::scalar(stored.dtype) : stored), place));
}

bool Lowering::nonnegative(const ir::Expr& e) const {
    if (!e.type.is_scalar()) return false;
    if (e.op == Op::position) return true;
    const DTypeInfo& d = info(e.type.dtype);
    if (d.kind == DKind::unsigned_int || d.kind == DKind::boolean) return true;
    if (d.kind != DKind::signed_int) return false;
    const bool wide = d.size == 8;  // narrower ones wrap around in practice
    const auto arg = [&](std::size_t i) { return nonnegative(*e.args[i]); };
    switch (e.op) {
        case Op::constant: return is_constant(e) && as_double(ir::number_of(e)) >= 0;
        case Op::dim: return std::get<ir::Axis>(e.payload).value < e.args[0]->type.ndim;
        case Op::coord: return true;
        case Op::var: {
            const auto id = static_cast<std::size_t>(ir::var_of(e));
            return id < nonnegative_vars.size() && nonnegative_vars[id];
        }
        case Op::add:
        case Op::mul: return wide && arg(0) && arg(1);
        case Op::floordiv:
        case Op::shr: return arg(0) && (e.op == Op::shr || arg(1));
        case Op::mod: return arg(1);
        case Op::bit_and: return arg(0) || arg(1);
        case Op::bit_or:
        case Op::bit_xor: return arg(0) && arg(1);
        case Op::select: return arg(1) && arg(2);
        case Op::cast: {
            const DTypeInfo& from = info(e.args[0]->type.dtype);
            return is_integer(from.dtype) && arg(0) && (from.size < d.size || from.dtype == d.dtype);
        }
        case Op::call: {
            const std::string_view name = function_of(std::get<ir::OverloadId>(e.payload)).name;
            if (name == "min" || name == "minimum") return arg(0) && arg(1);
            if (name == "max" || name == "maximum") return arg(0) || arg(1);
            return false;
        }
        default: return false;
    }
}

std::optional<ir::Coord> Lowering::coord_of(const ir::Expr& e) const {
    if (e.op == Op::coord) return ir::coord_of(e);
    if (e.op != Op::var) return std::nullopt;
    const auto id = static_cast<std::size_t>(ir::var_of(e));
    return id < coord_vars.size() ? coord_vars[id] : std::nullopt;
}

void Lowering::warn(const Place& place, const std::string& text) {
    const std::string line = fmt::format("{}, line {}: {}", shown_file(place.file), place.line, text);
    if (warned.insert(line).second) warnings.push_back(line);
}

}  // namespace xcuda::frontend
