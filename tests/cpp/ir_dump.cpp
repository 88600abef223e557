// Reads {"name", "file", "ast", "names", "types", "checked"} from stdin and writes {"ir": text} or the error: the
// front end alone, for the Python tests. A type is "float32", "weak int64" or "float32[2]", "readonly float32[2]".
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "frontend/lower.hpp"
#include "ir/print.hpp"

namespace {

using namespace xcuda;

ir::Type type_from(std::string text) {
    const auto take = [&](const std::string& word) {
        if (!text.starts_with(word)) return false;
        text = text.substr(word.size());
        return true;
    };
    const bool readonly = take("readonly "), weak = take("weak ");
    const auto open = text.find('[');
    const auto dtype = dtype_from_name(text.substr(0, open));
    if (!dtype) throw bug("no dtype " + text);
    if (open == std::string::npos) return ir::scalar(*dtype, weak);
    return ir::array(*dtype, std::stoi(text.substr(open + 1)), ir::Layout::contiguous, readonly);
}

nlohmann::json answer(const nlohmann::json& request) {
    try {
        const std::string file = request.at("file");
        const frontend::Source source{request.at("name"), file,
                                      frontend::ast::from_json(request.at("ast").get<std::string>(), file, 1),
                                      request.at("names")};
        std::vector<ir::Type> types;
        for (const auto& t : request.at("types")) types.push_back(type_from(t.get<std::string>()));
        const ir::Module module = frontend::lower(source, types, request.value("checked", true));
        return {{"ir", ir::to_string(module)}, {"sites", module.sites.size()}, {"warnings", module.warnings}};
    } catch (const Error& e) {
        nlohmann::json out = {{"found", e.what()}, {"hint", e.hint}, {"type", e.python_type},
                              {"fault", e.fault == Fault::user ? "user" : e.fault == Fault::machine ? "machine" : "internal"}};
        if (e.place)
            out["place"] = {{"file", e.place->file}, {"line", e.place->line}, {"column", e.place->column},
                            {"end_line", e.place->end_line}, {"end_column", e.place->end_column}};
        return out;
    }
}

}  // namespace

int main() {
    // One request a line, one answer a line.
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(nlohmann::json::parse(line)).dump() << std::endl;
}
