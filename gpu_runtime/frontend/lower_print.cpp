// print(): a statement with the numbers' values, and a format that the host fills in once the launch is over.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

constexpr char mark = '\x01';  // before a dtype's letter, and before itself where the text holds it

std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == mark ? std::string(2, mark) : std::string(1, c);
    return out;
}

// As Python shows a string inside a tuple.
std::string quoted(const std::string& text) {
    const bool twice = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
    const char quote = twice ? '"' : '\'';
    std::string out(1, quote);
    for (const char c : text) {
        if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (c == '\r')
            out += "\\r";
        else if (static_cast<unsigned char>(c) < 32 || c == 127)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += (c == quote || c == '\\' ? std::string("\\") : std::string()) + c;
    }
    return out + quote;
}

}  // namespace

// Adds a value's text to the format and its numbers to `numbers`; false while a type is not known yet.
bool Lowering::print_value(const Value& v, bool inside, std::string& format, std::vector<ExprP>& numbers,
                           const Place& place) {
    switch (v.kind) {
        case Value::Kind::none: format += "None"; return true;
        case Value::Kind::string: format += plain(inside ? quoted(v.text) : v.text); return true;
        case Value::Kind::scalar:
            if (v.expr->type.is_none()) return false;
            format += mark;
            format += static_cast<char>('A' + static_cast<int>(v.expr->type.dtype));
            numbers.push_back(v.expr);
            return true;
        case Value::Kind::tuple: {
            const bool named = !v.fields.empty();
            format += named ? plain(v.text) + "(" : "(";
            for (std::size_t i = 0; i < v.items.size(); ++i) {
                if (i) format += ", ";
                if (named) format += plain(v.fields[i]) + "=";
                if (!print_value(v.items[i], true, format, numbers, place)) return false;
            }
            format += !named && v.items.size() == 1 ? ",)" : ")";
            return true;
        }
        case Value::Kind::meaning:
            if (const auto three = all_coordinates(v, place))
                return print_value(*three, inside, format, numbers, place);
            [[fallthrough]];
        default:
            throw refused(place, "print() in a kernel can't print " + spoken(v),
                          v.is_indexed() ? "print its elements, as print(A[i])"
                                         : "it prints numbers, strings and tuples of them");
    }
}

Value Lowering::call_print(const Node& node) {
    const Call c = call_of(node);
    std::string separator = " ", end = "\n";
    for (const auto& [name, given] : c.keywords) {
        if (name != "sep" && name != "end")
            throw refused(given->place, "print() in a kernel takes no '" + name + "'",
                          "it takes sep and end");
        const Value v = value(*given);
        if (v.kind == Value::Kind::none) continue;
        if (v.kind != Value::Kind::string)
            throw refused(given->place,
                          fmt::format("print()'s {} must be a string, found {}", name, spoken(v)));
        (name == "sep" ? separator : end) = v.text;
    }
    const std::vector<Value> values = operands(c.positional);
    std::string format;
    std::vector<ExprP> numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i) format += plain(separator);
        if (!print_value(values[i], false, format, numbers, c.positional[i]->place)) return {};
    }
    ir::Expr print = *ir::make(Op::print, ir::Type{}, std::move(numbers), node.place);
    ir::Access access;
    access.site = unit.site({ir::Site::Kind::printed, node.place, "print()", format + plain(end), 0, -1, {}});
    print.payload = access;
    emit(ir::evaluate(std::make_shared<const ir::Expr>(std::move(print)), node.place));
    return {};
}

}  // namespace xcuda::frontend
