#include "frontend/ast.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "frontend/json_values.hpp"

namespace xcuda::frontend {
namespace {

using nlohmann::json;

struct Reader {
    const std::string& file;
    int first_line;

    Place place(const json& numbers) const {
        Place p;
        p.file = file;
        if (numbers.size() == 4) {
            p.line = numbers[0].get<int>() + first_line - 1;
            p.column = numbers[1].get<int>();
            p.end_line = numbers[2].get<int>() + first_line - 1;
            p.end_column = numbers[3].get<int>();
        }
        return p;
    }

    static bool is_node(const json& j) {
        return j.is_array() && j.size() == 3 && j[0].is_string() && j[2].is_object();
    }

    ast::NodeP node(const json& j) const {
        if (!is_node(j)) throw bug("the syntax tree's JSON holds something that is no node");
        auto n = std::make_shared<ast::Node>();
        n->kind = j[0].get<std::string>();
        n->place = place(j[1]);
        for (const auto& [name, value] : j[2].items()) {
            if (n->kind == "Constant" && name == "value")
                read_constant(value, *n);
            else
                n->fields.push_back(field(name, value));
        }
        return n;
    }

    ast::Field field(const std::string& name, const json& value) const {
        ast::Field f;
        f.name = name;
        if (is_node(value)) {
            f.nodes.push_back(node(value));
        } else if (value.is_array()) {
            f.is_list = true;
            for (const json& item : value)
                f.nodes.push_back(item.is_string() ? word(item) : item.is_null() ? nullptr : node(item));
        } else {
            f.is_text = true;
            f.text = value.is_string() ? value.get<std::string>() : value.dump();
        }
        return f;
    }

    // A list of words (operators of a comparison, names of `global`): nodes of kind "Word".
    static ast::NodeP word(const json& item) {
        auto n = std::make_shared<ast::Node>();
        n->kind = "Word";
        n->string = item.get<std::string>();
        return n;
    }

    static void read_constant(const json& value, ast::Node& n) {
        const Literal literal = literal_from_json(value);
        n.constant_kind = literal.kind;
        n.number = literal.number;
        n.string = literal.text;
    }
};

}  // namespace

Literal literal_from_json(const nlohmann::json& value) {
    using Constant = ast::Node::Constant;
    Literal literal;
    const std::string type = value.value("type", "");
    literal.text = type;
    if (type == "None") {
        literal.kind = Constant::none;
    } else if (type == "bool") {
        literal.kind = Constant::boolean;
        literal.number = value["value"].get<bool>();
    } else if (type == "int") {
        literal.text = value["value"].get<std::string>();
        literal.kind = Constant::integer;
        errno = 0;
        const long long small = std::strtoll(literal.text.c_str(), nullptr, 10);
        literal.number = static_cast<std::int64_t>(small);
        if (errno == ERANGE) {
            errno = 0;
            const unsigned long long big = std::strtoull(literal.text.c_str(), nullptr, 10);
            literal.number = static_cast<std::uint64_t>(big);
            if (errno == ERANGE || literal.text[0] == '-') literal.kind = Constant::big_integer;
        }
    } else if (type == "float") {
        literal.kind = Constant::real;
        literal.number = std::strtod(value["value"].get<std::string>().c_str(), nullptr);
    } else if (type == "complex") {
        literal.kind = Constant::imaginary;
        const auto part = [&](const char* key) {
            return std::strtod(value[key].get<std::string>().c_str(), nullptr);
        };
        literal.number = std::complex<double>(part("real"), part("imag"));
    } else if (type == "str") {
        literal.kind = Constant::string;
        literal.text = value["value"].get<std::string>();
    } else if (type == "ellipsis") {
        literal.kind = Constant::ellipsis;
    } else {
        literal.kind = Constant::other;
    }
    return literal;
}

namespace ast {

const Field* Node::find(std::string_view name) const {
    for (const Field& f : fields)
        if (f.name == name) return &f;
    return nullptr;
}

const Node& Node::one(std::string_view name) const {
    const Node* n = maybe(name);
    if (!n) throw bug("a " + kind + " without its " + std::string(name));
    return *n;
}

const Node* Node::maybe(std::string_view name) const {
    const Field* f = find(name);
    return f && !f->is_list && !f->nodes.empty() ? f->nodes.front().get() : nullptr;
}

const std::vector<NodeP>& Node::list(std::string_view name) const {
    static const std::vector<NodeP> nothing;
    const Field* f = find(name);
    return f ? f->nodes : nothing;
}

const std::string& Node::text(std::string_view name) const {
    static const std::string nothing;
    const Field* f = find(name);
    return f ? f->text : nothing;
}

std::string dotted(const Node& node) {
    if (node.kind == "Name") return node.text("id");
    if (node.kind != "Attribute") return "";
    const std::string owner = dotted(node.one("value"));
    return owner.empty() ? "" : owner + "." + node.text("attr");
}

NodeP node_from_json(const nlohmann::json& tree, const std::string& file, int first_line) {
    return Reader{file, first_line}.node(tree);
}

NodeP from_json(std::string_view text, const std::string& file, int first_line) {
    json tree;
    try {
        tree = json::parse(text);
    } catch (const json::exception& e) {
        throw bug(std::string("the syntax tree's JSON can't be read: ") + e.what());
    }
    return node_from_json(tree, file, first_line);
}

}  // namespace ast
}  // namespace xcuda::frontend
