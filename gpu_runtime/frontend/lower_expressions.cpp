// Expressions, in Python's order of evaluation: what has an effect becomes a statement before the rest goes on.
#include <array>
#include <fmt/format.h>

#include "frontend/lowering.hpp"

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

int size_of(const ir::Expr& e) {
    int n = 1;
    for (const ExprP& a : e.args) n += size_of(*a);
    return n;
}

bool holds_call(const ir::Expr& e) {
    if (e.op == Op::call || e.op == Op::pow || e.op == Op::truediv || e.op == Op::floordiv || e.op == Op::mod) return true;
    for (const ExprP& a : e.args)
        if (holds_call(*a)) return true;
    return false;
}

std::string dotted(const ast::Node& node) {
    if (node.kind == "Name") return node.text("id");
    if (node.kind != "Attribute") return {};
    const std::string base = dotted(node.one("value"));
    return base.empty() ? base : base + "." + node.text("attr");
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
        Row{"Name", &Lowering::name},         Row{"Constant", &Lowering::literal},
        Row{"BinOp", &Lowering::binary},      Row{"Subscript", &Lowering::subscript},
        Row{"Attribute", &Lowering::attribute}, Row{"Call", &Lowering::call},
        Row{"Compare", &Lowering::compare},   Row{"UnaryOp", &Lowering::unary},
        Row{"IfExp", &Lowering::conditional}, Row{"Tuple", &Lowering::tuple},
    };
    Value v;
    if (node.kind == "BoolOp") {
        v = boolean(node, false);
    } else {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return node.kind == r.kind; });
        if (row == rows.end()) refuse_node(node);
        v = (this->*row->method)(node);
    }
    v.place = node.place;
    return v;
}

ExprP Lowering::number(const Node& node) { return number(value(node), node.place); }

ExprP Lowering::number(const Value& v, const Place& place) {
    if (v.is_scalar()) return v.expr;
    if (v.kind == Value::Kind::meaning) refuse_meaning(*v.meaning, v.text, place);
    if (v.kind == Value::Kind::array)
        throw refused(place, "a whole array where a number is needed",
                      v.expr->type.ndim == 1 ? "index it: A[i]" : "index it: A[i, j]");
    if (v.kind == Value::Kind::row)
        throw refused(place,
                      fmt::format("found {} of {} indices", v.indices.size(), v.expr->type.ndim),
                      "index every axis: A[i, j]");
    throw refused(place, "expected a number, found " + spoken(v));
}

ExprP Lowering::condition(const Node& node) {
    if (node.kind == "BoolOp") return number(boolean(node, true), node.place);
    if (node.kind == "UnaryOp" && node.text("op") == "Not")
        return negate(Op::logic_not, condition(node.one("operand")), node.place);
    const Value v = value(node);
    if (v.kind == Value::Kind::none) return ir::constant(false, ir::scalar(DType::b1, true), node.place);
    if (v.is_array() || v.kind == Value::Kind::row)
        throw refused(node.place, "the truth of an array is not defined", "test one element: A[i]");
    return truth(number(v, node.place));
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
    for (Value* v : earlier) {
        if (v->is_tuple()) {
            std::vector<Value*> items;
            for (Value& item : v->items) items.push_back(&item);
            const std::size_t before = out->size();
            settle(items, mark);
            mark += out->size() - before;
        } else if (v->is_scalar() && holds_load(*v->expr)) {
            const ir::Type type = v->expr->type;
            if (type.is_none()) continue;
            const ir::VarId id = hidden(type, v->expr->place);
            out->insert(out->begin() + static_cast<std::ptrdiff_t>(mark++), ir::assign(id, v->expr, v->expr->place));
            v->expr = ir::var(id, type, v->expr->place);
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
    const auto weak = [&](DType d) { return scalar_value(ir::constant(node.number, ir::scalar(d, true), node.place)); };
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
        case Constant::imaginary:
            throw refused(node.place, "complex numbers are not part of the kernel language yet",
                          "keep real and imaginary parts in two arrays");
        case Constant::ellipsis:
            throw refused(node.place, "... is not part of the kernel language", "write the indices out: A[i, j]");
        case Constant::other: break;
    }
    throw refused(node.place, "a " + node.string + " literal can't live in a kernel");
}

Value Lowering::name(const Node& node) {
    const std::string& id = node.text("id");
    if (const auto loop = loop_variables.find(id); loop != loop_variables.end()) return loop->second;
    if (assigned.count(id)) return read(node);
    if (const auto known = parameters.find(id); known != parameters.end()) return known->second;
    if (const auto known = source.names.find(id); known != source.names.end())
        return from_meaning(known->second, id, node.place);
    throw refused(node.place, "name '" + id + "' is not defined");
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
            return literal(node);
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
        case Meaning::Kind::tuple:
            v.kind = Value::Kind::tuple;
            for (std::size_t i = 0; i < meaning.items.size(); ++i)
                v.items.push_back(from_meaning(meaning.items[i], fmt::format("{}[{}]", written, i), place));
            return v;
        case Meaning::Kind::undefined:
        case Meaning::Kind::missing: refuse_meaning(meaning, written, place);
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
    const auto known = source.names.find(path);
    if (known == source.names.end()) return nullptr;
    *written = path;
    return &known->second;
}

Value Lowering::attribute(const Node& node) {
    std::string written;
    if (const Meaning* m = meaning_of(node, &written)) return from_meaning(*m, written, node.place);
    const Value base = value(node.one("value"));
    const std::string& attr = node.text("attr");
    if (base.is_array() || base.kind == Value::Kind::row) {
        const int ndim = base.expr->type.ndim;
        const int first = static_cast<int>(base.indices.size());
        std::vector<Value> shape;
        for (int axis = first; axis < ndim; ++axis) shape.push_back(scalar_value(ir::dim(base.expr, axis, node.place)));
        if (attr == "shape") return tuple_value(std::move(shape));
        if (attr == "ndim") return scalar_value(ir::int_constant(ndim - first, node.place));
        if (attr == "size") {
            ExprP size = ir::int_constant(1, node.place);
            for (std::size_t i = 0; i < shape.size(); ++i)
                size = i ? arithmetic(Op::mul, size, shape[i].expr, node.place) : shape[i].expr;
            return scalar_value(size);
        }
        if (attr == "dtype") {
            Value v;
            v.kind = Value::Kind::dtype;
            v.dtype = base.expr->type.dtype;
            return v;
        }
        throw refused(node.place, "an array in a kernel has no '" + attr + "'",
                      "it has shape, size, ndim and dtype; index its elements");
    }
    if (base.kind == Value::Kind::meaning) {
        if (base.meaning->kind == Meaning::Kind::intrinsic) return coordinates(base.meaning->text, attr, node.place);
        refuse_meaning(*base.meaning, base.text, node.one("value").place);
    }
    throw refused(node.place, spoken(base) + " has no '" + attr + "' in a kernel");
}

Value Lowering::tuple(const Node& node) {
    std::vector<const Node*> nodes;
    for (const ast::NodeP& e : node.list("elts")) nodes.push_back(e.get());
    return tuple_value(operands(nodes));
}

Value Lowering::binary(const Node& node) {
    const auto op = operator_named(node.text("op"));
    if (!op) throw refused(node.place, "the operator @ is not part of the kernel language", "write the sum in a for loop");
    const std::vector<Value> sides = operands({&node.one("left"), &node.one("right")});
    if (sides[0].is_tuple() || sides[1].is_tuple()) return tuple_arithmetic(*op, sides[0], sides[1], node.place);
    const ExprP a = number(sides[0], node.one("left").place), b = number(sides[1], node.one("right").place);
    return scalar_value(arithmetic(*op, a, b, node.place));
}

Value Lowering::unary(const Node& node) {
    const std::string& op = node.text("op");
    if (op == "Not") return scalar_value(negate(Op::logic_not, condition(node.one("operand")), node.place));
    ExprP a = number(node.one("operand"));
    if (op == "UAdd") {
        if (a->type.is_scalar() && a->type.dtype == DType::b1 && a->type.weak) a = convert(a, ir::scalar(DType::i64, true));
        return scalar_value(a);
    }
    return scalar_value(negate(op == "USub" ? Op::neg : Op::bit_not, std::move(a), node.place));
}

// `a and b` is b where a is true and a elsewhere; b is touched only then.
Value Lowering::boolean(const Node& node, bool truth_only) {
    const bool is_and = node.text("op") == "And";
    const ir::Type weak_bool = ir::scalar(DType::b1, true);
    const auto part = [&](const Node& n) { return truth_only ? scalar_value(condition(n)) : value(n); };
    const std::vector<ast::NodeP>& nodes = node.list("values");
    Value left = part(*nodes[0]);
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        ExprP a = left.kind == Value::Kind::none ? ir::constant(false, weak_bool, node.place)
                                                 : number(left, nodes[i - 1]->place);
        if (is_constant(*a)) {
            if (truthy(ir::number_of(*a)) != is_and) return left;
            left = part(*nodes[i]);
            continue;
        }
        auto [right, body] = aside([&] { return part(*nodes[i]); });
        ExprP b = number(right, nodes[i]->place);
        if (a->type.is_none() || b->type.is_none()) {
            left = scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));
            continue;
        }
        const ir::Type type = ir::join(a->type, b->type);
        if (type.dtype == DType::b1 && body.empty()) {
            left = scalar_value(ir::make(is_and ? Op::logic_and : Op::logic_or, type, {a, b}, node.place));
            continue;
        }
        if (!repeatable(*a) || a->op != Op::var) a = spill(a);
        ExprP test = truth(a);
        if (!is_and) test = negate(Op::logic_not, test, node.place);
        left = choose(test, scalar_value(b), std::move(body), scalar_value(a), {}, node.place);
    }
    return left;
}

Value Lowering::compare(const Node& node) {
    const std::vector<ast::NodeP>& ops = node.list("ops");
    const std::vector<ast::NodeP>& rights = node.list("comparators");
    std::vector<Value> first = operands({&node.one("left"), rights[0].get()});
    Value left = std::move(first[0]), right = std::move(first[1]);
    const auto keep = [&](Value& v) {  // the middle of a chain is evaluated once
        if (v.is_scalar() && !repeatable(*v.expr)) v.expr = spill(v.expr);
    };
    if (ops.size() > 1) keep(right);
    Value result = compare_pair(ops[0]->string, left, right, node.place);
    for (std::size_t i = 1; i < ops.size(); ++i) {
        if (is_constant(*result.expr) && !truthy(ir::number_of(*result.expr))) return result;
        left = right;
        Value next_right;
        auto [pair, body] = aside([&] {
            next_right = value(*rights[i]);
            if (i + 1 < ops.size()) keep(next_right);
            return compare_pair(ops[i]->string, left, next_right, node.place);
        });
        right = next_right;
        if (result.expr->type.is_none() || pair.expr->type.is_none()) {
            result = scalar_value(ir::make(Op::constant, ir::Type{}, {}, node.place));
        } else if (is_constant(*result.expr)) {
            for (ir::Stmt& s : body) emit(std::move(s));
            result = pair;
        } else if (body.empty()) {
            result = scalar_value(ir::make(Op::logic_and, ir::join(result.expr->type, pair.expr->type),
                                           {result.expr, pair.expr}, node.place));
        } else {
            const ExprP test = spill(result.expr);
            result = choose(test, pair, std::move(body), scalar_value(test), {}, node.place);
        }
    }
    return result;
}

Value Lowering::compare_pair(const std::string& op, const Value& a, const Value& b, const Place& place) {
    const auto constant = [&](bool value) {
        return scalar_value(ir::constant(value, ir::scalar(DType::b1, true), place));
    };
    if (op == "Is" || op == "IsNot") {
        const bool none_a = a.kind == Value::Kind::none, none_b = b.kind == Value::Kind::none;
        if (!none_a && !none_b)
            throw refused(place, "'is' compares identities, which numbers in a kernel don't have", "write == or !=");
        return constant((none_a == none_b) == (op == "Is"));
    }
    if (op == "In" || op == "NotIn") {
        if (!b.is_tuple()) throw refused(place, "'in' needs a tuple on its right, found " + spoken(b), "write x in (a, b)");
        const ExprP x = number(a, place);
        ExprP found = ir::constant(false, ir::scalar(DType::b1, true), place);
        for (const Value& item : b.items) {
            const ExprP equal = comparison(Op::eq, x, number(item, place), place);
            if (equal->type.is_none()) return scalar_value(equal);
            const bool first = is_constant(*found) && !truthy(ir::number_of(*found));
            found = first ? equal : ir::make(Op::logic_or, ir::join(found->type, equal->type), {found, equal}, place);
        }
        return scalar_value(op == "In" ? found : negate(Op::logic_not, found, place));
    }
    const auto order = operator_named(op);
    if (!order) throw bug("a comparison " + op);
    const bool equality = *order == Op::eq || *order == Op::ne;
    if (equality && (a.kind == Value::Kind::none || b.kind == Value::Kind::none))
        return constant((a.kind == b.kind) == (*order == Op::eq));
    if (equality && a.kind == Value::Kind::dtype && b.kind == Value::Kind::dtype)
        return constant((a.dtype == b.dtype) == (*order == Op::eq));
    if (equality && a.kind == Value::Kind::string && b.kind == Value::Kind::string)
        return constant((a.text == b.text) == (*order == Op::eq));
    return scalar_value(comparison(*order, number(a, place), number(b, place), place));
}

Value Lowering::conditional(const Node& node) {
    const ExprP test = condition(node.one("test"));
    if (is_constant(*test)) return value(node.one(truthy(ir::number_of(*test)) ? "body" : "orelse"));
    auto [yes, yes_body] = aside([&] { return value(node.one("body")); });
    auto [no, no_body] = aside([&] { return value(node.one("orelse")); });
    return choose(test, std::move(yes), std::move(yes_body), std::move(no), std::move(no_body), node.place);
}

Value Lowering::choose(ExprP test, Value yes, ir::Body yes_body, Value no, ir::Body no_body, const Place& place) {
    if (yes.is_tuple() && no.is_tuple() && yes.items.size() == no.items.size() && yes_body.empty() && no_body.empty()) {
        if (!repeatable(*test)) test = spill(test);
        std::vector<Value> items;
        for (std::size_t i = 0; i < yes.items.size(); ++i)
            items.push_back(choose(test, yes.items[i], {}, no.items[i], {}, place));
        return tuple_value(std::move(items));
    }
    if (!yes.is_scalar() && same_fixed(yes, no)) return yes;
    const ExprP a = number(yes, yes.place.known() ? yes.place : place);
    const ExprP b = number(no, no.place.known() ? no.place : place);
    const ir::Type type = ir::join(a->type, b->type);
    if (type.is_none() || test->type.is_none()) return scalar_value(ir::make(Op::constant, ir::Type{}, {}, place));
    if (yes_body.empty() && no_body.empty())
        return scalar_value(ir::make(Op::select, type, {test, convert(a, type), convert(b, type)}, place));
    const ir::VarId id = hidden(type, place);
    yes_body.push_back(ir::assign(id, convert(a, type), place));
    no_body.push_back(ir::assign(id, convert(b, type), place));
    emit(ir::branch(std::move(test), std::move(yes_body), std::move(no_body), place));
    return scalar_value(ir::var(id, type, place));
}

Value Lowering::subscript(const Node& node) {
    const Value base = value(node.one("value"));
    if (base.is_array() || base.kind == Value::Kind::row) return element_or_row(base, node);
    if (!base.is_tuple()) {
        if (base.kind == Value::Kind::meaning) refuse_meaning(*base.meaning, base.text, node.one("value").place);
        throw refused(node.place, spoken(base) + " can't be indexed");
    }
    if (node.one("slice").kind == "Slice") refuse_node(node.one("slice"));
    const Value at = value(node.one("slice"));
    const auto constant = constant_int(at);
    if (!constant)
        throw refused(node.one("slice").place, "a tuple's index must be a constant, found " + spoken(at),
                      "write t[0], or put the values in cuda.local.array(n, dtype)");
    const auto count = static_cast<std::int64_t>(base.items.size());
    const std::int64_t i = *constant < 0 ? *constant + count : *constant;
    if (i < 0 || i >= count)
        throw refused(node.place, fmt::format("index {} is out of range for a tuple of {}", *constant, count));
    return base.items[i];
}

}  // namespace xcuda::frontend
