#include "emit/names.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace xcuda::emit {

namespace {

// C++ keywords that Python allows as names, and words the preludes and the emitter use.
constexpr std::string_view taken[] = {
    "alignas",   "alignof",   "asm",       "auto",      "b1",       "bf16",     "bool",    "case",
    "c64",       "c128",      "catch",     "char",      "compl",    "concept",  "const",   "constexpr",
    "consteval", "constinit", "decltype",  "default",   "delete",   "do",       "double",  "enum",
    "explicit",  "export",    "extern",    "f16",       "f32",      "f64",      "false",   "float",
    "friend",    "goto",      "i16",       "i32",       "i64",      "i8",       "inline",  "int",
    "long",      "main",      "mutable",   "namespace", "new",      "noexcept", "nullptr", "operator",
    "private",   "protected", "public",    "register",  "requires", "short",    "signed",  "sizeof",
    "static",    "struct",    "switch",    "template",  "this",     "throw",    "true",    "typedef",
    "typeid",    "typename",  "u16",       "u32",       "u64",      "u8",       "union",   "unsigned",
    "using",     "virtual",   "void",      "volatile",  "wchar_t",  "xor",      "L",       "P",
    "W",         "F",         "threadIdx", "blockIdx",  "blockDim", "gridDim"};

}  // namespace

std::string identifier(const std::string& text) {
    std::string out;
    static constexpr char hex[] = "0123456789abcdef";
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
            out += c;
        else
            out += std::string("_u") + hex[u >> 4] + hex[u & 15];
    }
    if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, "_");
    return out;
}

std::string constant_name(int index) { return "xc_constant_" + std::to_string(index); }

std::vector<std::string> variable_names(const ir::Function& function) {
    std::vector<std::string> names;
    std::set<std::string> used;
    for (const ir::Var& v : function.vars) {
        if (v.role == ir::Var::Role::constant) {
            names.push_back(constant_name(v.constant));
            continue;
        }
        std::string name = identifier(v.name);
        const bool reserved = std::find(std::begin(taken), std::end(taken), name) != std::end(taken) ||
                              name.starts_with("xc_") || name.starts_with("__") || name.starts_with("_Z");
        if (reserved) name = "v_" + name;
        std::string unique = name;
        for (int n = 2; !used.insert(unique).second; ++n) unique = name + "__" + std::to_string(n);
        names.push_back(std::move(unique));
    }
    return names;
}

}  // namespace xcuda::emit
