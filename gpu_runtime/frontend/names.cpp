#include "frontend/names.hpp"

#include <nlohmann/json.hpp>

#include "frontend/json_values.hpp"

namespace xcuda::frontend {
namespace {

using nlohmann::json;
using Kind = Meaning::Kind;

struct KindName {
    const char* name;
    Kind kind;
};

constexpr KindName kinds[] = {
    {"constant", Kind::constant},   {"scalar", Kind::scalar},
    {"dtype", Kind::dtype},         {"tuple", Kind::tuple},
    {"function", Kind::function},   {"intrinsic", Kind::intrinsic},
    {"record", Kind::record},       {"helper", Kind::helper},
    {"module", Kind::module},       {"exception", Kind::exception},
    {"class", Kind::class_},        {"host", Kind::host},
    {"undefined", Kind::undefined}, {"missing", Kind::missing},
    {"array", Kind::array},         {"record_dtype", Kind::record_dtype},
    {"captured", Kind::captured},
};

Kind kind_from(const std::string& name) {
    for (const KindName& k : kinds)
        if (name == k.name) return k.kind;
    throw bug("a captured name of unknown kind '" + name + "'");
}

std::string bytes_from_hex(const std::string& text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes(text.size() / 2, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return bytes;
}

Meaning meaning_from(const json& j) {
    Meaning m;
    m.kind = kind_from(j.at("kind").get<std::string>());
    m.text = j.contains("text") ? j["text"].get<std::string>() : j.value("name", "");
    m.of = j.value("of", "");
    m.helper = j.value("helper", -1);
    if (j.contains("close") && !j["close"].empty()) m.close = j["close"][0].get<std::string>();
    if (m.kind == Kind::constant || m.kind == Kind::scalar) {
        Literal literal = literal_from_json(j);
        m.constant = literal.kind;
        m.number = literal.number;
        m.text = std::move(literal.text);
    }
    if (j.contains("dtype")) {
        const auto dtype = dtype_from_name(j["dtype"].get<std::string>());
        if (dtype) {
            m.dtype = *dtype;
        } else {
            m.kind = Kind::host;
            m.text = "the dtype " + j["dtype"].get<std::string>();
        }
    }
    if (j.contains("items"))
        for (const json& item : j["items"]) m.items.push_back(meaning_from(item));
    m.itemsize = j.value("itemsize", std::int64_t{0});
    if (j.contains("shape")) m.shape = j["shape"].get<std::vector<std::int64_t>>();
    if (j.contains("record")) m.record.push_back(meaning_from(j["record"]));
    if (j.contains("data")) m.bytes = bytes_from_hex(j["data"].get_ref<const std::string&>());
    m.only_fields = j.value("only_fields", false);
    if (j.contains("fields")) m.fields = j["fields"].get<std::vector<std::string>>();
    return m;
}

NameTable table_from(const json& j) {
    NameTable table;
    for (const auto& [name, meaning] : j.items()) table.emplace(name, meaning_from(meaning));
    return table;
}

Declared declared_from(const json& j) {
    const auto dtype = [](const json& name) {
        return name.is_string() ? dtype_from_name(name.get<std::string>()) : std::nullopt;
    };
    Declared d;
    for (const json& argument : j.at("arguments")) d.arguments.push_back(dtype(argument));
    d.returns = dtype(j.at("returns"));
    return d;
}

std::vector<ir::CudaSource> sources_from(const json& list) {
    std::vector<ir::CudaSource> sources;
    for (const json& s : list)
        sources.push_back({s.at("name").get<std::string>(), s.at("text").get<std::string>()});
    return sources;
}

ForeignHelper foreign_from(const json& j) {
    const auto type = [](const json& t) {
        const auto dtype = dtype_from_name(t.at("dtype").get<std::string>());
        if (!dtype) throw bug("a declared function of an unknown type");
        return ForeignHelper::Type{*dtype, t.at("pointer").get<bool>()};
    };
    ForeignHelper f;
    f.symbol = j.at("symbol").get<std::string>();
    for (const json& argument : j.at("arguments")) f.arguments.push_back(type(argument));
    if (!j.at("returns").is_null()) f.returns = type(j["returns"]);
    f.gives_status = j.at("gives_status").get<bool>();
    f.cooperative = j.at("cooperative").get<bool>();
    f.sources = sources_from(j.at("sources"));
    return f;
}

Helper helper_from(const json& j) {
    Helper h;
    if (j.contains("foreign")) h.foreign = foreign_from(j["foreign"]);
    h.name = j.at("name").get<std::string>();
    h.file = j.at("file").get<std::string>();
    h.error = j.value("error", "");
    if (j.contains("ast")) h.function = ast::node_from_json(j["ast"], h.file, 1);
    if (j.contains("names")) h.names = table_from(j["names"]);
    if (j.contains("defaults")) h.defaults = table_from(j["defaults"]);
    for (const json& declared : j.value("declared", json::array()))
        h.declared.push_back(declared_from(declared));
    return h;
}

Form form_from(const json& j) {
    Form f;
    f.name = j.value("name", "");
    const auto kind = j.at("kind").get<std::string>();
    if (kind == "constant") {
        f.kind = Form::Kind::constant;
        f.meaning = meaning_from(j.at("meaning"));
    } else if (kind == "records") {
        f.kind = Form::Kind::records;
        f.meaning = meaning_from(j.at("record"));
        f.ndim = j.at("ndim").get<std::size_t>();
    } else if (kind == "tuple") {
        f.kind = Form::Kind::tuple;
        f.name = j.at("name").get<std::string>();
        f.fields = j.at("fields").get<std::vector<std::string>>();
        f.only_fields = j.at("only_fields").get<bool>();
        for (const json& item : j.at("items")) f.items.push_back(form_from(item));
    }
    return f;
}

}  // namespace

Names names_from_json(const std::string& text) {
    Names names;
    if (text.empty()) return names;
    try {
        const json j = json::parse(text);
        names.names = table_from(j.at("names"));
        if (j.contains("methods")) names.methods = table_from(j["methods"]);
        for (const json& helper : j.value("helpers", json::array()))
            names.helpers.push_back(helper_from(helper));
        names.sources = sources_from(j.value("sources", json::array()));
        if (j.contains("forms") && j["forms"].is_array())
            for (const json& form : j["forms"]) names.forms.push_back(form_from(form));
        if (j.contains("tile_size") && j["tile_size"].is_array()) {
            names.tile_kernel = true;
            names.tile_size = j["tile_size"].get<std::vector<std::int64_t>>();
        }
    } catch (const json::exception& e) {
        throw bug(std::string("the captured names' JSON can't be read: ") + e.what());
    }
    return names;
}

}  // namespace xcuda::frontend
