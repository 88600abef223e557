// Arrays of records and records: each field is an array over the same axes, so that a field of a record is an element.
// Arguments lie in memory as NumPy has them; local and shared ones keep each field in an array of its own.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;
using Kind = Value::Kind;

Value Lowering::records_of(const Meaning& dtype, std::size_t ndim, const std::string& path,
                           const std::function<Value(const Meaning& field, const std::string& path)>& leaf) {
    Value v;
    v.kind = Kind::records;
    v.meaning = &dtype;
    v.fields = dtype.fields;
    v.text = path;
    v.ndim = ndim;
    for (std::size_t i = 0; i < dtype.fields.size(); ++i) {
        const Meaning& field = dtype.items[i];
        const std::string name = path + "." + dtype.fields[i];
        if (field.kind == Meaning::Kind::record_dtype) {
            v.items.push_back(records_of(field, ndim + field.shape.size(), name, leaf));
        } else if (field.kind == Meaning::Kind::dtype) {
            v.items.push_back(leaf(field, name));
        } else {  // refused where it is used
            Value other;
            other.kind = Kind::meaning;
            other.meaning = &field;
            other.text = name;
            v.items.push_back(other);
        }
    }
    if (array_leaves(v).empty())
        throw refused(source.function.place, fmt::format("'{}' has no field that kernels take", path));
    return v;
}

// cuda.local.array(n, dtype) and shared.array of records.
Value Lowering::record_arrays(const Meaning& dtype, const std::vector<std::int64_t>& extents, ir::Space space,
                              const Place& place) {
    const auto role = space == ir::Space::shared ? ir::Var::Role::shared : ir::Var::Role::local_array;
    const std::function<void(Value&, std::vector<std::int64_t>)> make =
        [&](Value& v, std::vector<std::int64_t> lengths) {
            for (std::size_t i = 0; i < v.items.size(); ++i) {
                const Meaning& field = v.meaning->items[i];
                std::vector<std::int64_t> all = lengths;
                all.insert(all.end(), field.shape.begin(), field.shape.end());
                Value& item = v.items[i];
                if (item.kind == Kind::records) {
                    make(item, std::move(all));
                } else if (item.kind == Kind::array) {
                    const ir::Type type = ir::fixed_array(field.dtype, std::move(all), space);
                    item.expr = ir::var(fn.add({"", type, role, place, false}), type, place);
                }
            }
        };
    Value v = records_of(dtype, extents.size(), "", [](const Meaning&, const std::string&) {
        Value leaf;
        leaf.kind = Kind::array;
        return leaf;
    });
    make(v, extents);
    return v;
}

Value Lowering::sliced_any(const Value& base, const std::vector<Value>& items, const Place& place) {
    if (base.kind != Kind::records) return sliced(base, items, place);
    // What the index says of the record's own axes; those of array fields follow and stay whole.
    std::vector<Value> own;
    std::size_t taken = 0;
    for (const Value& item : items) taken += item.kind != Kind::none && item.kind != Kind::ellipsis;
    if (taken > base.ndim)
        throw refused(place, fmt::format("'{}' has {} dimension{}, found {} ind{}", base.text, base.ndim,
                                         base.ndim == 1 ? "" : "s", taken, taken == 1 ? "ex" : "ices"));
    Value whole;
    whole.kind = Kind::slice;
    whole.items.resize(3);
    std::size_t left = 0;
    bool dots = false;
    for (Value item : items) {
        if (item.kind == Kind::ellipsis) {
            if (dots) throw refused(place, "an index can only have a single ellipsis ('...')");
            own.insert(own.end(), base.ndim - taken, whole);
            left += base.ndim - taken;
            dots = true;
            continue;
        }
        std::vector<Value*> numbers = {&item};
        for (Value& part : item.items) numbers.push_back(&part);
        for (Value* n : numbers)  // written once, used for each field
            if (n->is_scalar()) n->expr = n->expr->op == Op::var ? n->expr : spill(n->expr);
        left += item.kind == Kind::none || item.kind == Kind::slice;
        own.push_back(item);
    }
    if (!dots) {
        own.insert(own.end(), base.ndim - taken, whole);
        left += base.ndim - taken;
    }
    Value v = base;
    for (std::size_t i = 0; i < v.items.size(); ++i) {
        Value& item = v.items[i];
        if (item.kind == Kind::records) {
            const std::size_t inner = item.ndim - base.ndim;
            std::vector<Value> all = own;
            all.insert(all.end(), inner, whole);
            item = sliced_any(item, all, place);
        } else if (item.is_indexed()) {
            item = sliced(item, own, place);
        }
    }
    v.ndim = left;
    return v;
}

Value Lowering::field(const Value& records, const std::string& name, const Place& place) const {
    for (std::size_t i = 0; i < records.fields.size(); ++i) {
        if (records.fields[i] != name) continue;
        if (records.items[i].kind == Kind::meaning)
            throw refused(place, fmt::format("the field '{}' is of {}, which kernels don't take", name,
                                             records.items[i].meaning->text));
        return records.items[i];
    }
    const std::string close = nearest(name, {records.fields.begin(), records.fields.end()});
    throw refused(place, fmt::format("a record of '{}' has no field '{}'", records.text, name),
                  close.empty() ? fmt::format("it has {}", fmt::join(records.fields, ", "))
                                : "did you mean '" + close + "'?");
}

// A number where nothing is left to index.
Value Lowering::read_value(const Value& v, const Place& place) {
    if (v.is_indexed() && rank(v) == 0) return scalar_value(load(element(v, {}, place), place));
    return v;
}

Value Lowering::record_attribute(const Value& base, const std::string& attr, const Place& place) {
    const bool named = std::find(base.fields.begin(), base.fields.end(), attr) != base.fields.end();
    for (const char* own : {"shape", "ndim", "size", "strides", "itemsize", "nbytes", "dtype", "T"})
        if (attr == own && (base.ndim > 0 || !named)) return array_attribute(base, attr, place);
    const Value v = field(base, attr, place);
    return base.ndim == 0 ? read_value(v, place) : v;
}

Value Lowering::record_subscript(const Value& base, const Node& node) {
    const Value at = value(node.one("slice"));
    if (at.kind == Kind::string) {
        const Value v = field(base, at.text, node.one("slice").place);
        return base.ndim == 0 ? read_value(v, node.place) : v;
    }
    const auto constant = constant_int(at);
    if (base.ndim == 0 && constant && at.is_scalar()) {  // NumPy counts a record's fields too
        const auto count = static_cast<std::int64_t>(base.fields.size());
        const std::int64_t i = *constant < 0 ? *constant + count : *constant;
        if (i < 0 || i >= count)
            throw refused(node.place, fmt::format("index {} is out of range for a record of {} fields",
                                                  *constant, count));
        return read_value(field(base, base.fields[static_cast<std::size_t>(i)], node.place), node.place);
    }
    return sliced_any(base, index_items(at, node.one("slice")), node.place);
}

// What `a[i].x`, `a[i]['x']` or `a[i]` names to the left of `=`: a field that may be one element, or a record.
Value Lowering::place_of(const Value& base, const Node& target) {
    if (target.kind == "Attribute") {
        if (base.kind != Kind::records)
            throw refused(target.place, "attributes can't be assigned in a kernel",
                          "write into an array element: A[i] = x");
        return field(base, target.text("attr"), target.place);
    }
    const Value at = value(target.one("slice"));
    if (at.kind == Kind::string) return field(base, at.text, target.one("slice").place);
    return sliced_any(base, index_items(at, target.one("slice")), target.place);
}

void Lowering::assign_record(const Value& target, const Value& v, const Place& place) {
    std::vector<Value> items;
    if (v.kind == Kind::records || v.is_tuple()) {
        items = v.items;
        if (items.size() != target.items.size())
            throw refused(
                place,
                fmt::format("a record of {} fields is assigned {} values", target.items.size(), items.size()),
                "give one value a field");
        if (v.is_tuple() && target.ndim > 0)
            throw refused(place, "a tuple can be assigned to one record, found several",
                          "write a for loop over them");
        if (v.is_tuple())  // all are read before the first is written
            for (Value& item : items)
                if (item.is_scalar()) item.expr = spill(item.expr);
    } else if (v.is_scalar()) {
        const ExprP e = spill(v.expr);
        items.assign(target.items.size(), scalar_value(e));
    } else {
        throw refused(place, "a record is assigned a record, a tuple or a number, found " + spoken(v));
    }
    for (std::size_t i = 0; i < target.items.size(); ++i) {
        field(target, target.fields[i], place);  // refuses what kernels don't take
        assign_place(target.items[i], items[i], place);
    }
}

void Lowering::assign_place(const Value& target, const Value& v, const Place& place) {
    if (target.kind == Kind::records) return assign_record(target, v, place);
    if (rank(target) > 0) return fill(target, v, place);
    store(element(target, {}, place), number(read_value(v, place), v.place.known() ? v.place : place), place);
}

void Lowering::augment_place(const Value& target, Op op, const Node& rhs, const Place& place) {
    if (target.kind == Kind::records)
        throw refused(place, "a record can't be changed as a whole", "change its fields");
    const Value kept = settled_view(target);
    if (rank(kept) > 0) return fill(kept, value(rhs), place, op);
    const Element e = element(kept, {}, place);
    Value old = scalar_value(load(e, place));
    const std::size_t mark = out->size();
    const ExprP right = number(rhs);
    settle({&old}, mark);
    store(e, arithmetic(op, old.expr, right, place), place);
}

// A global NumPy array: its elements are part of the kernel.
Value Lowering::constant_array(const Meaning& meaning, const std::string& written, const Place& place) {
    if (!meaning.record.empty()) {
        std::size_t at = 0;
        Value v = records_of(meaning.record[0], meaning.shape.size(), written,
                             [&](const Meaning&, const std::string& path) {
                                 return constant_array(meaning.items.at(at++), path, place);
                             });
        return v;
    }
    const auto [known, fresh] = unit.constant_ids.emplace(&meaning, static_cast<int>(unit.constants.size()));
    const std::vector<std::int64_t> extents =
        meaning.shape.empty() ? std::vector<std::int64_t>{1} : meaning.shape;
    ir::Type type = ir::fixed_array(meaning.dtype, extents, ir::Space::constant);
    type.readonly = true;
    if (fresh) {
        constexpr std::size_t room = 64 * 1024;
        std::size_t bytes = meaning.bytes.size();
        for (const ir::Constant& c : unit.constants) bytes += c.bytes.size();
        if (bytes > room)
            throw refused(place,
                          fmt::format("'{}' would make {} bytes of constant arrays, a kernel holds {}",
                                      written, bytes, room),
                          "pass it as an argument");
        unit.constants.push_back({type, meaning.bytes});
    }
    const auto [var, first] = constants.emplace(&meaning, -1);
    if (first) {
        var->second = fn.add({written, type, ir::Var::Role::constant, place, false});
        fn.vars[static_cast<std::size_t>(var->second)].constant = known->second;
    }
    Value v;
    v.kind = Kind::array;
    v.expr = ir::var(var->second, type, place);
    if (!meaning.shape.empty()) return v;
    v = view_of(v);  // no axes
    v.axes.clear();
    v.indices[0] = ir::int_constant(0, place);
    v.tested = 1;
    return v;
}

}  // namespace xcuda::frontend
