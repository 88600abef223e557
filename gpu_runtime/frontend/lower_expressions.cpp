// Expressions, in Python's order of evaluation: what has an effect becomes a statement before the rest goes on.
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "frontend/lowering.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

bool holds_load(const ir::Expr& e) {
    if (e.op == Op::load) return true;
    for (const ExprP& a : e.args)
        if (holds_load(*a)) return true;
    return false;
}

// Another array than one of the compiler's own may be changed.
bool writes_memory(const ir::Body& body) {
    bool found = false;
    ir::each_stmt(body, [&](const ir::Stmt& s) { found |= s.kind == ir::Stmt::Kind::store; });
    ir::each_expr(body, [&](const ir::Expr& e) {
        const bool given =
            e.op == Op::invoke &&
            std::any_of(e.args.begin(), e.args.end(), [](const ExprP& a) { return a->type.is_array(); });
        found |= given || e.op == Op::atomic;
    });
    return found;
}

int size_of(const ir::Expr& e) {
    int n = 1;
    for (const ExprP& a : e.args) n += size_of(*a);
    return n;
}

bool holds_call(const ir::Expr& e) {
    if (e.op == Op::call || e.op == Op::pow || e.op == Op::truediv || e.op == Op::floordiv || e.op == Op::mod)
        return true;
    for (const ExprP& a : e.args)
        if (holds_call(*a)) return true;
    return false;
}

bool one_type(const std::vector<Value>& items) {
    return std::all_of(items.begin(), items.end(), [&](const Value& v) {
        return v.is_scalar() && items[0].is_scalar() && v.expr->type.is_scalar() &&
               items[0].expr->type.is_scalar() && v.expr->type.dtype == items[0].expr->type.dtype;
    });
}

std::string_view head(const std::string& path) { return std::string_view(path).substr(0, path.find('.')); }

}  // namespace

bool repeatable(const ir::Expr& e) { return !ir::has_effect(e) && !holds_call(e) && size_of(e) <= 12; }

Value Lowering::value(const Node& node) {
    using Method = Value (Lowering::*)(const Node&);
    struct Row {
        const char* kind;
        Method method;
    };
    static constexpr std::array rows{
        Row{"Name", &Lowering::name},           Row{"Constant", &Lowering::literal},
        Row{"BinOp", &Lowering::binary},        Row{"Subscript", &Lowering::subscript},
        Row{"Attribute", &Lowering::attribute}, Row{"Call", &Lowering::call},
        Row{"Compare", &Lowering::compare},     Row{"UnaryOp", &Lowering::unary},
        Row{"IfExp", &Lowering::conditional},   Row{"Tuple", &Lowering::tuple},
        Row{"Slice", &Lowering::slice},         Row{"GeneratorExp", &Lowering::generator},
        Row{"NamedExpr", &Lowering::walrus},    Row{"Lambda", &Lowering::closure},
        Row{"Given", &Lowering::given_value},   Row{"ListComp", &Lowering::list_comprehension},
    };
    Value v;
    if (node.kind == "BoolOp") {
        v = boolean(node, false);
    } else {
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return node.kind == r.kind; });
        if (row == rows.end()) refuse_node(node);
        v = (this->*row->method)(node);
    }
    v.place = node.place;
    if (v.is_tuple()) v.written = ast::dotted(node);
    return v;
}

namespace {

// An item of a tuple, as its name has it.
std::string item_of(const Value& tuple) {
    const bool grid =
        tuple.items.size() > 1 && tuple.items[0].is_scalar() && tuple.items[0].expr->op == Op::coord;
    if (grid)
        return fmt::format("give each axis a name: {} = cuda.grid({})",
                           tuple.items.size() == 2 ? "i, j" : "i, j, k", tuple.items.size());
    return fmt::format("take an item of it: {}[0]", tuple.written.empty() ? "t" : tuple.written);
}

// What to write where a number is wanted and something else was found.
std::string where_number_is_wanted(const Value& v) {
    switch (v.kind) {
        case Value::Kind::records: return "name its field: " + v.text + "[i]." + v.fields[0];
        case Value::Kind::tuple: return item_of(v);
        case Value::Kind::string:
            return "a string in a kernel is printed, compared, or names a dtype or a field";
        case Value::Kind::none: return "test for it before: if x is None";
        case Value::Kind::closure: return "call it";
        case Value::Kind::dtype: return "call it with a number";
        case Value::Kind::range:
        case Value::Kind::lazy: return "loop over it: for x in ...";
        default: return "";
    }
}

}  // namespace

ExprP Lowering::number(const Node& node) { return number(value(node), node.place); }

ExprP Lowering::number(const Value& v, const Place& place) {
    if (v.is_scalar()) return v.expr;
    if (v.kind == Value::Kind::seen) return seen_here(v, place);
    if (v.kind == Value::Kind::meaning) refuse_meaning(*v.meaning, v.text, place);
    if (v.kind == Value::Kind::array)
        throw refused(place, "a whole array where a number is needed",
                      v.expr->type.ndim == 1 ? "index it: A[i]" : "index it: A[i, j]");
    if (v.kind == Value::Kind::view && v.axes.empty())  // a[..., i] of one dimension: NumPy's array of none
        return load(element(v, {}, place), place);
    if (v.kind == Value::Kind::view) {
        const std::size_t ndim = v.indices.size(), given = ndim - std::min(ndim, v.axes.size());
        const bool row = std::none_of(v.axes.begin(), v.axes.end(),
                                      [](const ViewAxis& a) { return a.start || a.base < 0; });
        throw refused(
            place,
            row ? fmt::format("found {} of {} indices", given, ndim) : "a slice where a number is needed",
            row ? "index every axis: A[i, j]" : "index it");
    }
    if (v.kind == Value::Kind::expression)
        throw refused(place, "a whole array where a number is needed",
                      "reduce it with np.sum, np.any or np.all, or write it into an array: out[:] = ...");
    throw refused(place, "expected a number, found " + spoken(v), where_number_is_wanted(v));
}

std::vector<Value> Lowering::operands(const std::vector<const Node*>& nodes) {
    std::vector<Value> values(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::size_t mark = out->size();
        values[i] = value(*nodes[i]);
        std::vector<Value*> earlier;
        for (std::size_t k = 0; k < i; ++k) earlier.push_back(&values[k]);
        settle(earlier, mark);
    }
    return values;
}

// Statements that follow `mark` came from a later operand: what earlier ones read from memory is read before them.
void Lowering::settle(std::vector<Value*> earlier, std::size_t mark) {
    if (out->size() == mark) return;
    std::set<ir::VarId> changed;  // by a walrus in a later operand
    const ir::Body later(out->begin() + static_cast<std::ptrdiff_t>(mark), out->end());
    ir::each_stmt(later, [&](const ir::Stmt& s) {
        if (s.kind != ir::Stmt::Kind::assign) return;
        const bool which = std::any_of(choice_ids.begin(), choice_ids.end(), [&](const auto& choice) {
            return array_choices.at(choice.second).which == s.var;
        });
        if (which || fn.vars[s.var].role == ir::Var::Role::local) changed.insert(s.var);
    });
    settle_values(earlier, mark, changed);
}

void Lowering::settle_values(const std::vector<Value*>& earlier, std::size_t& mark,
                             const std::set<ir::VarId>& changed) {
    const auto needs = [&](const ExprP& e) {
        bool reads = holds_load(*e) || ir::may_fault(*e);  // of two faults the first one is met
        if (!changed.empty())
            ir::each_expr(
                e, [&](const ir::Expr& n) { reads |= n.op == Op::var && changed.count(ir::var_of(n)) > 0; });
        return reads;
    };
    for (Value* v : earlier) {
        if (v->kind == Value::Kind::expression) {  // NumPy computes it before what follows
            const ir::Body later(out->begin() + static_cast<std::ptrdiff_t>(mark), out->end());
            if (!changed.empty() || writes_memory(later))
                throw refused(
                    v->place.known() ? v->place : out->back().place,
                    "this array is computed where it is used, and what stands beside it changes memory",
                    "write it into an array first, in a statement of its own");
        } else if (!v->items.empty()) {  // a tuple, a slice, a range
            std::vector<Value*> items;
            for (Value& item : v->items) items.push_back(&item);
            settle_values(items, mark, changed);
        } else {
            std::vector<ExprP*> parts;
            if (const Choice* choice = choice_of(*v); choice && changed.count(choice->which)) {
                ir::Body now, *outside = out;
                out = &now;
                *v = chosen_now(std::move(*v));
                out = outside;
                out->insert(out->begin() + static_cast<std::ptrdiff_t>(mark++), now.front());
            }
            if (v->is_scalar()) parts = {&v->expr};
            if (v->kind == Value::Kind::view) parts = view_parts(*v);
            for (ExprP* part : parts) {
                const ir::Type type = (*part)->type;
                if (type.is_none() || !needs(*part)) continue;
                const Place place = (*part)->place;
                const ir::Type stored = stored_type(**part);
                const ir::VarId id = hidden(stored, place);
                out->insert(out->begin() + static_cast<std::ptrdiff_t>(mark++), ir::assign(id, *part, place));
                *part = stored.is_tile() ? ir::element(id, stored, place) : ir::var(id, stored, place);
            }
        }
    }
}

std::pair<Value, ir::Body> Lowering::aside(const std::function<Value()>& lower) {
    ir::Body body, *outside = out;
    const Flow before = flow;
    out = &body;
    Value v = lower();
    out = outside;
    flow = before;
    return {std::move(v), std::move(body)};
}

Value Lowering::literal(const Node& node) {
    using Constant = Node::Constant;
    const auto weak = [&](DType d) {
        return scalar_value(ir::constant(node.number, ir::scalar(d, true), node.place));
    };
    switch (node.constant_kind) {
        case Constant::boolean: return weak(DType::b1);
        case Constant::integer: return weak(DType::i64);
        case Constant::real: return weak(DType::f64);
        case Constant::none: return {};
        case Constant::string: {
            Value v;
            v.kind = Value::Kind::string;
            v.text = node.string;
            return v;
        }
        case Constant::big_integer:
            throw refused(node.place, "this integer does not fit 64 bits", "write a float, as 1e20");
        case Constant::imaginary: return weak(DType::c128);
        case Constant::ellipsis: {
            Value v;
            v.kind = Value::Kind::ellipsis;
            return v;
        }
        case Constant::other: break;
    }
    throw refused(node.place, "a " + node.string + " literal can't live in a kernel");
}

Value Lowering::name(const Node& node) {
    const std::string& id = node.text("id");
    if (const auto loop = loop_variables.find(id); loop != loop_variables.end()) return loop->second;
    if (assigned.count(id)) return read(node);
    if (const auto known = parameters.find(id); known != parameters.end())
        return as_viewed(known->second, node.place);
    if (const Meaning* known = meaning_named(id)) return from_meaning(*known, unmarked(id), node.place);
    throw refused(node.place, "name '" + unmarked(id) + "' is not defined");
}

Value Lowering::from_meaning(const Meaning& meaning, const std::string& written, const Place& place) {
    Value v;
    switch (meaning.kind) {
        case Meaning::Kind::constant: {
            Node node;
            node.kind = "Constant";
            node.place = place;
            node.constant_kind = meaning.constant;
            node.number = meaning.number;
            node.string = meaning.text;
            v = literal(node);
            if (!meaning.fields.empty()) v.meaning = &meaning;  // a member of an Enum
            return v;
        }
        case Meaning::Kind::scalar:
            return scalar_value(
                ir::constant(to_dtype(meaning.number, meaning.dtype), ir::scalar(meaning.dtype), place));
        case Meaning::Kind::dtype:
            v.kind = Value::Kind::dtype;
            v.dtype = meaning.dtype;
            v.meaning = &meaning;
            v.text = written;
            return v;
        case Meaning::Kind::array: return constant_array(meaning, written, place);
        case Meaning::Kind::record_dtype:
            v.kind = Value::Kind::dtype;
            v.meaning = &meaning;
            v.text = meaning.text;
            return v;
        case Meaning::Kind::tuple:
            v.kind = Value::Kind::tuple;
            v.fields = meaning.fields;
            for (std::size_t i = 0; i < meaning.items.size(); ++i)
                v.items.push_back(from_meaning(meaning.items[i], fmt::format("{}[{}]", written, i), place));
            return v;
        case Meaning::Kind::captured:
            for (const auto& [parameter, array] : parameters)
                if (parameter.starts_with(captured_name(meaning.helper))) return array;
            refuse_meaning(meaning, written, place);
        case Meaning::Kind::undefined:
        case Meaning::Kind::missing: refuse_meaning(meaning, written, place);
        case Meaning::Kind::intrinsic:
            if (meaning.text == "laneid") return lane(meaning.text, place);
            [[fallthrough]];
        default:
            v.kind = Value::Kind::meaning;
            v.meaning = &meaning;
            v.text = written;
            return v;
    }
}

const Meaning* Lowering::meaning_of(const Node& node, std::string* written) {
    const std::string path = dotted(node);
    if (path.empty()) return nullptr;
    const std::string first(head(path));
    if (assigned.count(first) || parameters.count(first)) return nullptr;
    const Meaning* known = meaning_named(path);
    if (known) *written = unmarked(first) + path.substr(first.size());
    return known;
}

Value Lowering::attribute(const Node& node) {
    std::string written;
    if (const Meaning* m = meaning_of(node, &written)) return from_meaning(*m, written, node.place);
    const std::string& attr = node.text("attr");
    const Node& holder = node.one("value");
    if (attr == "data" && holder.kind == "Attribute" && holder.text("attr") == "ctypes")  // A.ctypes.data
        if (const Value array = value(holder.one("value")); array.is_indexed())
            return address_of(array, node.place);
    const Value base = value(holder);
    if (base.kind == Value::Kind::seen || (base.is_scalar() && ir::is_tile(*base.expr)))
        return tile_member(base, attr, node.place);
    if (base.has_elements()) return array_attribute(base, attr, node.place);
    if (base.kind == Value::Kind::records) return record_attribute(base, attr, node.place);
    if (base.is_tuple() && !base.fields.empty()) {
        for (std::size_t i = 0; i < base.fields.size(); ++i)
            if (base.fields[i] == attr) return base.items[i];
        if (auto made = struct_member(base, attr, node)) return *made;
        if (method_named(base, "method", attr) || method_named(base, "static", attr))
            throw refused(node.place, fmt::format("{}.{} is a method, not a number", base.text, attr),
                          fmt::format("call it: {}(...)", attr));
        const std::string close = nearest(attr, {base.fields.begin(), base.fields.end()});
        throw refused(node.place,
                      fmt::format("{} has no '{}'", base.text.empty() ? "this tuple" : base.text, attr),
                      close.empty() ? fmt::format("it has {}", fmt::join(base.fields, ", "))
                                    : "did you mean '" + close + "'?");
    }
    if (base.kind == Value::Kind::meaning) {
        if (base.meaning->kind == Meaning::Kind::intrinsic && base.meaning->text == "cg.grid_group")
            return grid_group(attr, node.place);
        if (base.meaning->kind == Meaning::Kind::intrinsic)
            return coordinates(base.meaning->text, attr, node.place);
        refuse_meaning(*base.meaning, base.text, node.one("value").place);
    }
    if (base.is_scalar() && (attr == "real" || attr == "imag")) return part(attr, base.expr, node.place);
    if (const auto found = member_attribute(base, attr, node.place)) return *found;
    if (const auto found = dtype_attribute(base, attr, node.place)) return *found;
    throw refused(node.place, spoken(base) + " has no '" + attr + "' in a kernel",
                  base.is_scalar() && attr == "conjugate" ? "call it: z.conjugate()"
                  : base.is_tuple()                       ? item_of(base)
                  : is_array_attribute(attr) && parameters.contains(ast::dotted(node.one("value")))
                      ? "pass an array as " + ast::dotted(node.one("value"))
                      : "");
}

// z.real, z.imag and z.conjugate(), of real numbers too.
Value Lowering::part(const std::string& name, ExprP z, const Place& place) {
    const std::string spelling = "numpy." + name;
    return scalar_value(table_apply(*find_function(spelling), spelling, {std::move(z)}, place));
}

Value Lowering::walrus(const Node& node) {
    const Value v = value(node.one("value"));
    assign_target(node.one("target"), v);
    return read(node.one("target"));
}

Value Lowering::tuple(const Node& node) {
    std::vector<ast::NodeP> nodes;
    return evaluated(tuple_value(spread_items(node.list("elts"), nodes)));
}

Value Lowering::binary(const Node& node) {
    const auto op = operator_named(node.text("op"));
    const std::vector<Value> sides = operands({&node.one("left"), &node.one("right")});
    if (!op && unit.names.tile_kernel) return tile_matmul(sides[0], sides[1], node.place);
    if (!op) {
        for (const Value& v : sides)
            if (!many(v))
                throw refused(node.place, "@ is the product of arrays, found " + spoken(v), "write *");
        return product(sides[0], sides[1], node.place);
    }
    if (const auto made = string_operation(*op, sides[0], sides[1], node.place)) return *made;
    if (sides[0].is_tuple() || sides[1].is_tuple())
        return tuple_arithmetic(*op, sides[0], sides[1], node.place);
    std::vector<Value> placed = sides;
    placed[0].place = node.one("left").place, placed[1].place = node.one("right").place;
    return array_arithmetic(*op, placed[0], placed[1], node.place);
}

Value Lowering::unary(const Node& node) {
    const std::string& op = node.text("op");
    if (op == "Not") return scalar_value(negate(Op::logic_not, condition(node.one("operand")), node.place));
    Value operand = value(node.one("operand"));
    operand.place = node.one("operand").place;
    if (many(operand) || operand.kind == Value::Kind::seen)
        return mapped({operand}, node.place, [this, op, place = node.place](const Items& x) {
            return op == "UAdd" ? x[0] : negate(op == "USub" ? Op::neg : Op::bit_not, x[0], place);
        });
    ExprP a = number(operand, operand.place);
    if (op == "UAdd") {
        if (a->type.is_scalar() && a->type.dtype == DType::b1 && a->type.weak)
            a = convert(a, ir::scalar(DType::i64, true));
        return scalar_value(a);
    }
    return scalar_value(negate(op == "USub" ? Op::neg : Op::bit_not, std::move(a), node.place));
}

Value Lowering::tuple_slice(const Value& base, const Value& slice, const Place& place) const {
    std::optional<std::int64_t> given[3];
    for (int i = 0; i < 3; ++i) {
        if (slice.items[i].kind == Value::Kind::none) continue;
        given[i] = constant_int(slice.items[i]);
        if (!given[i])
            throw refused(place, "a tuple's slice must be of constants, found " + spoken(slice.items[i]));
    }
    const auto count = static_cast<std::int64_t>(base.items.size()), step = given[2].value_or(1);
    if (step == 0)
        throw Error(Fault::user, "ValueError", "slice step cannot be zero", place, "write 1 or -1");
    const auto end = [&](const std::optional<std::int64_t>& e, std::int64_t otherwise) {
        if (!e) return otherwise;
        const std::int64_t at = *e < 0 ? *e + count : *e;
        return std::clamp<std::int64_t>(at, step > 0 ? 0 : -1, step > 0 ? count : count - 1);
    };
    const std::int64_t start = end(given[0], step > 0 ? 0 : count - 1),
                       stop = end(given[1], step > 0 ? count : -1);
    std::vector<Value> items;
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) items.push_back(base.items[i]);
    return tuple_value(std::move(items));
}

// t[i] where only the run tells i: the items are of one type, and one of them is chosen.
Value Lowering::tuple_item(const Value& base, const Value& at, const Node& node) {
    const Place& place = node.one("slice").place;
    const ExprP given = index(number(at, place), place);
    if (given->type.is_none()) return scalar_value(given);
    const ExprP count = ir::int_constant(static_cast<std::int64_t>(base.items.size()), place);
    const ExprP k = spill(within("a tuple", given, count, 0, place));
    ir::Type type = base.items[0].expr->type;
    for (const Value& item : base.items) type = ir::join(type, item.expr->type);
    ExprP chosen = convert(base.items.back().expr, type);
    for (std::size_t i = base.items.size() - 1; i-- > 0;) {
        const ExprP here =
            comparison(Op::eq, k, ir::int_constant(static_cast<std::int64_t>(i), place), place);
        chosen = ir::make(Op::select, type, {here, convert(base.items[i].expr, type), chosen}, place);
    }
    return scalar_value(chosen);
}

// Color["red"]: a member of an Enum by its name.
Value Lowering::enum_member(const Value& base, const Node& node) {
    const Node& slice = node.one("slice");
    const Value at = value(slice);
    if (at.kind != Value::Kind::string)
        throw refused(slice.place, "a member of " + base.text + " is named by a string, found " + spoken(at),
                      "write " + base.text + "[\"" + base.meaning->fields[0] + "\"]");
    const std::vector<std::string>& names = base.meaning->fields;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == at.text) return from_meaning(base.meaning->items[i], base.text, node.place);
    const std::string close = nearest(at.text, {names.begin(), names.end()});
    throw refused(
        slice.place, base.text + " has no member '" + at.text + "'",
        close.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : "did you mean '" + close + "'?");
}

Value Lowering::subscript(const Node& node) {
    const Value base = value(node.one("value"));
    if (base.only_fields)
        throw refused(node.place, base.text + " is no sequence: it has fields", "write its field's name");
    if (base.is_scalar() && ir::is_tile(*base.expr)) return tile_subscript(base, node);
    if (base.is_indexed()) return element_or_row(base, node);
    if (base.kind == Value::Kind::expression) return expression_subscript(base, node);
    if (base.kind == Value::Kind::records) return record_subscript(base, node);
    if (base.kind == Value::Kind::meaning && base.meaning->kind == Meaning::Kind::class_ &&
        !base.meaning->fields.empty())
        return enum_member(base, node);
    if (base.kind == Value::Kind::string) return string_item(base, node);
    if (!base.is_tuple()) {
        if (base.kind == Value::Kind::meaning)
            refuse_meaning(*base.meaning, base.text, node.one("value").place);
        throw refused(node.place, spoken(base) + " can't be indexed");
    }
    const Value at = value(node.one("slice"));
    if (at.kind == Value::Kind::slice) return tuple_slice(base, at, node.one("slice").place);
    const auto constant = constant_int(at);
    if (!constant && at.is_scalar() && !base.items.empty() && one_type(base.items))
        return tuple_item(base, at, node);
    if (!constant)
        throw refused(node.one("slice").place, "a tuple's index must be a constant, found " + spoken(at),
                      "write t[0], or put the values in cuda.local.array(n, dtype)");
    const auto count = static_cast<std::int64_t>(base.items.size());
    const std::int64_t i = *constant < 0 ? *constant + count : *constant;
    if (i < 0 || i >= count)
        throw refused(node.place,
                      fmt::format("index {} is out of range for a tuple of {}", *constant, count));
    return base.items[i];
}

}  // namespace xcuda::frontend
