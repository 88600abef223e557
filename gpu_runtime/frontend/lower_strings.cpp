// What is known while compiling and is no number: strings, and the members of an Enum.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

/// The characters of a text, each as its UTF-8 bytes.
std::vector<std::string> characters(const std::string& text) {
    std::vector<std::string> found;
    for (const char c : text) {
        if ((c & 0xc0) == 0x80 && !found.empty())
            found.back() += c;
        else
            found.push_back({c});
    }
    return found;
}

Value string_value(std::string text) {
    Value v;
    v.kind = Value::Kind::string;
    v.text = std::move(text);
    return v;
}

std::string changed(std::string text, bool up) {  // ASCII's letters; other texts are refused before
    for (char& c : text)
        if (up ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c ^= 0x20;
    return text;
}

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

std::int64_t times_in(const std::string& text, const std::string& part) {
    if (part.empty()) return static_cast<std::int64_t>(characters(text).size()) + 1;
    std::int64_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
        ++n;
    return n;
}

bool is_enum(const Value& v) {
    return v.kind == Value::Kind::meaning && v.meaning->kind == Meaning::Kind::class_ &&
           !v.meaning->fields.empty();
}

bool is_member(const Value& v) {
    return v.meaning && v.meaning->kind == Meaning::Kind::constant && !v.meaning->fields.empty();
}

}  // namespace

/// Its characters, or an Enum's members; nothing for what is neither.
std::optional<std::vector<Value>> Lowering::constant_items(const Value& v) {
    std::vector<Value> items;
    if (v.kind == Value::Kind::string) {
        for (std::string& c : characters(v.text)) items.push_back(string_value(std::move(c)));
        return items;
    }
    if (!is_enum(v)) return std::nullopt;
    for (const Meaning& member : v.meaning->items) items.push_back(from_meaning(member, v.text, v.place));
    return items;
}

/// s + t, s * n, and comparisons of two strings; nothing where one is no string.
std::optional<Value> Lowering::string_operation(Op op, const Value& a, const Value& b, const Place& place) {
    const bool left = a.kind == Value::Kind::string, right = b.kind == Value::Kind::string;
    if (left && right && op == Op::add) return string_value(a.text + b.text);
    if (left && right && op >= Op::lt && op <= Op::ne) {  // UTF-8 keeps the order of the characters
        const int order = a.text.compare(b.text);
        const bool holds = op == Op::lt   ? order < 0
                           : op == Op::le ? order <= 0
                           : op == Op::gt ? order > 0
                           : op == Op::ge ? order >= 0
                           : op == Op::eq ? order == 0
                                          : order != 0;
        return scalar_value(ir::constant(holds, ir::scalar(DType::b1, true), place));
    }
    if ((left || right) && (op == Op::mod || op == Op::add))
        throw refused(place, std::string(op == Op::mod ? "%" : "+") + " makes no string in a kernel", to_print);
    const auto times = op == Op::mul && left != right ? constant_int(left ? b : a) : std::nullopt;
    constexpr std::int64_t longest = 1 << 16;
    const std::string& text = left ? a.text : b.text;
    if (!times || static_cast<std::int64_t>(text.size()) * std::max<std::int64_t>(*times, 0) > longest)
        return std::nullopt;
    std::string many;
    for (std::int64_t i = 0; i < *times; ++i) many += text;
    return string_value(std::move(many));
}

Value Lowering::string_item(const Value& base, const Node& node) {
    const Node& slice = node.one("slice");
    const Value at = value(slice);
    const Value all = tuple_value(*constant_items(base));
    if (at.kind == Value::Kind::slice) {
        std::string text;
        for (const Value& c : tuple_slice(all, at, slice.place).items) text += c.text;
        return string_value(std::move(text));
    }
    const auto i = constant_int(at);
    if (!i) throw refused(slice.place, "a string's index must be a constant, found " + spoken(at));
    const auto count = static_cast<std::int64_t>(all.items.size());
    if (*i < -count || *i >= count)
        throw refused(node.place, fmt::format("index {} is out of range for a string of {}", *i, count));
    return all.items[static_cast<std::size_t>(*i < 0 ? *i + count : *i)];
}

/// s.startswith("x") and its like; nothing where strings in a kernel have no such method.
std::optional<Value> Lowering::string_method(const Value& base, const std::string& name, const Node& node) {
    const std::string& s = base.text;
    const auto integer = [&](std::int64_t n) { return scalar_value(ir::int_constant(n, node.place)); };
    const auto argument = [&] {
        const Node& given = *bind(node, name, {"text"}, 1)[0];
        Value v = value(given);
        v.place = given.place;
        for (const Value& item : v.is_tuple() ? v.items : std::vector<Value>{v})
            if (item.kind != Value::Kind::string)
                throw refused(given.place, name + "() takes a string, found " + spoken(item));
        return v;
    };
    if (name == "startswith" || name == "endswith") {
        const Value given = argument();
        bool found = false;
        for (const Value& item : given.is_tuple() ? given.items : std::vector<Value>{given})
            found |= name == "startswith" ? s.starts_with(item.text) : s.ends_with(item.text);
        return scalar_value(ir::constant(found, ir::scalar(DType::b1, true), node.place));
    }
    if (name == "count") return integer(times_in(s, argument().text));
    if (name == "find") {
        const std::size_t at = s.find(argument().text);
        return integer(
            at == std::string::npos ? -1 : static_cast<std::int64_t>(characters(s.substr(0, at)).size()));
    }
    if ((name == "upper" || name == "lower") && is_ascii(s)) {
        bind(node, name, {}, 0);
        return string_value(changed(s, name == "upper"));
    }
    return std::nullopt;
}

/// ord("a").
Value Lowering::call_ord(const Node& node) {
    const Node& given = *bind(node, "ord", {"c"}, 1)[0];
    const Value v = value(given);
    if (v.kind != Value::Kind::string || characters(v.text).size() != 1)
        throw refused(given.place, "ord() takes a string of one character, found " + spoken(v));
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(v.text[i]); };
    std::int64_t code = byte(0);
    if (v.text.size() > 1) {
        code &= 0x7f >> v.text.size();
        for (std::size_t i = 1; i < v.text.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
    }
    return scalar_value(ir::int_constant(code, node.place));
}

/// Color.RED.value and .name of what still is that member; nothing for other names.
std::optional<Value> Lowering::member_attribute(const Value& base, const std::string& attr,
                                                const Place& place) {
    if (!is_member(base) || (attr != "value" && attr != "name")) return std::nullopt;
    return from_meaning(base.meaning->items[attr == "value" ? 0 : 1], base.meaning->fields[0], place);
}

/// Whether two are one member of an Enum; of an IntEnum's member and a number, whether they are equal. Else nothing.
std::optional<Value> Lowering::same_member(const Value& a, const Value& b, const Place& place) {
    if (!is_member(a) && !is_member(b)) return std::nullopt;
    if (is_member(a) && is_member(b))
        return scalar_value(
            ir::constant(a.meaning->fields[0] == b.meaning->fields[0], ir::scalar(DType::b1, true), place));
    if (!a.is_scalar() || !b.is_scalar()) return std::nullopt;
    return scalar_value(comparison(Op::eq, a.expr, b.expr, place));
}

/// Color(2): the member of that value.
std::optional<Value> Lowering::member_of_value(const Value& type, const Node& node) {
    if (!is_enum(type)) return std::nullopt;
    const Node& given = *bind(node, type.text, {"value"}, 1)[0];
    const Value wanted = value(given);
    if (is_member(wanted)) return wanted;
    const bool known =
        wanted.kind == Value::Kind::string || (wanted.is_scalar() && is_constant(*wanted.expr));
    if (!known)
        throw refused(
            given.place,
            fmt::format("a member of {} is made of a constant, found {}", type.text, spoken(wanted)),
            "compare with " + type.text + "." + type.meaning->fields[0] + ".value");
    for (const Meaning& member : type.meaning->items) {
        if (member.items.empty()) continue;
        const Value one = from_meaning(member.items[0], type.text, node.place);
        const bool same = one.is_scalar() && wanted.is_scalar()
                              ? is_constant(*one.expr) && as_double(ir::number_of(*one.expr)) ==
                                                              as_double(ir::number_of(*wanted.expr))
                              : one.kind == wanted.kind && one.text == wanted.text;
        if (same) return from_meaning(member, type.text, node.place);
    }
    throw Error(Fault::user, "ValueError", "there is no such member of " + type.text, given.place);
}

}  // namespace xcuda::frontend
