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
