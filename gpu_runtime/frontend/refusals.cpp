#include "frontend/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/functions.hpp"
#include "ir/tile.hpp"

namespace xcuda::frontend {
namespace {

struct Refusal {
    std::string_view what;
    std::string_view found;
    std::string_view instead;
};

// By ast class.
constexpr Refusal nodes[] = {
    {"Try", "try/except can't run in a kernel", "test the condition with if"},
    {"TryStar", "try/except* can't run in a kernel", "test the condition with if"},
    {"With", "a with statement can't run in a kernel", "put it around the launch, outside the kernel"},
    {"AsyncWith", "a with statement can't run in a kernel", "put it around the launch, outside the kernel"},
    {"AsyncFor", "async for can't run in a kernel", "write for i in range(n)"},
    {"AsyncFunctionDef", "a kernel can't be an async function", "write def, and await kernel.async_call(...)"},
    {"Await", "await can't run in a kernel", "await the launch, outside the kernel"},
    {"ClassDef", "a class can't be defined in a kernel", "pass its fields as arguments"},
    {"List", "a list can't live in a kernel", "write a tuple (a, b), or cuda.local.array(n, dtype)"},
    {"Dict", "a dict can't live in a kernel", "pass arrays as arguments and index them"},
    {"Set", "a set can't live in a kernel", "write x in (a, b), or pass an array"},
    {"ListComp", "a list comprehension whose length only the run tells can't run in a kernel",
     "write a for loop over cuda.local.array(n, dtype)"},
    {"SetComp", "a set comprehension can't run in a kernel", "write a for loop"},
    {"DictComp", "a dict comprehension can't run in a kernel", "write a for loop"},
    {"Yield", "yield can't run in a kernel", "write results into an array argument"},
    {"YieldFrom", "yield can't run in a kernel", "write results into an array argument"},
    {"JoinedStr", "an f-string can't be made in a kernel", to_print},
    {"Starred", "a starred expression is not part of the kernel language", "write the items out"},
    {"Delete", "del can't run in a kernel", "leave it out: variables end with the kernel"},
    {"Global", "a kernel can't assign a global", "write into an array argument"},
    {"Nonlocal", "a kernel can't assign an outer variable", "write into an array argument"},
    {"Import", "import can't run in a kernel", "import outside the kernel"},
    {"ImportFrom", "import can't run in a kernel", "import outside the kernel"},
    {"MatchStar", "a starred pattern is not part of the kernel language", "write the items out"},
    {"MatchMapping", "a mapping pattern has no meaning in a kernel", "match on a value or a tuple"},
    {"MatchClass", "a class pattern is not part of the kernel language", "match on a tuple of the fields"},
    {"TypeAlias", "a type alias can't stand in a kernel", "leave it out"},
};

// By spelling of a function that has no place in the table.
constexpr Refusal functions[] = {
    {"builtins.sorted", "sorted() can't run in a kernel", "sort outside the kernel"},
    {"builtins.map", "map() can't run in a kernel", "write a for loop"},
    {"builtins.filter", "filter() can't run in a kernel", "write a for loop"},
    {"builtins.list", "a list can't live in a kernel", "write a tuple, or cuda.local.array(n, dtype)"},
    {"builtins.dict", "a dict can't live in a kernel", "pass arrays as arguments"},
    {"builtins.set", "a set can't live in a kernel", "pass an array as an argument"},
    {"builtins.str", "a string can't be made in a kernel", to_print},
    {"builtins.input", "input() can't run in a kernel", "pass the value as an argument"},
    {"builtins.open", "a kernel can't open files", "read the file outside and pass an array"},
    {"builtins.isinstance", "isinstance() is not part of the kernel language",
     "leave it out: types are known when the kernel is compiled"},
    {"builtins.type", "type() is not part of the kernel language",
     "leave it out: types are known when the kernel is compiled"},
    {"numpy.zeros", "a kernel can't make a NumPy array", "write cuda.local.array(n, dtype), or pass an array"},
    {"numpy.ones", "a kernel can't make a NumPy array", "write cuda.local.array(n, dtype), or pass an array"},
    {"numpy.empty", "a kernel can't make a NumPy array", "write cuda.local.array(n, dtype), or pass an array"},
    {"numpy.array", "a kernel can't make a NumPy array", "write cuda.local.array(n, dtype), or pass an array"},
    {"numpy.arange", "a kernel can't make a NumPy array", "write for i in range(n)"},
    {"numpy.full", "a kernel can't make a NumPy array", "write cuda.local.array(n, dtype), and t.fill(value)"},
    {"numpy.linspace", "a kernel can't make a NumPy array", "write start + i * step"},
    {"numpy.cumsum", "np.cumsum() is not part of the kernel language", "add up in a for loop"},
    {"numpy.cumprod", "np.cumprod() is not part of the kernel language", "multiply in a for loop"},
    {"numpy.diff", "np.diff() is not part of the kernel language", "write a[1:] - a[:-1]"},
    {"numpy.sort", "np.sort() can't run in a kernel", "sort outside the kernel"},
    {"numpy.argsort", "np.argsort() can't run in a kernel", "sort outside the kernel"},
    {"numpy.median", "np.median() can't run in a kernel", "sort outside the kernel"},
    {"numpy.transpose", "np.transpose() is not part of the kernel language", "write a.T"},
    {"numpy.reshape", "np.reshape() is not part of the kernel language", "write a.reshape(2, 3)"},
    {"numpy.inner", "np.inner() is not part of the kernel language", "write np.dot(a, b)"},
    {"numpy.cross", "np.cross() is not part of the kernel language", "write its three components out"},
};

// By a part of the name as written, where no row above has the function.
constexpr const char* generators =
    "xcuda.core.random has generators for threads: philox_uniform_float64(seed, i, step), and the like";
constexpr Refusal families[] = {
    {"linalg.norm", "is not part of the kernel language", "write math.sqrt(np.sum(a * a))"},
    {"random.", "can't run in a kernel", generators},
    {"linalg.", "can't run in a kernel", "call it outside, on whole arrays, or write the loops"},
    {"fft.", "can't run in a kernel", "call it outside, on whole arrays"},
    {"time.", "can't run in a kernel", "cuda.clock64() counts the cycles of a multiprocessor"},
};

std::vector<std::string_view> spellings_in(std::string_view module) {
    std::vector<std::string_view> known;
    for (const KernelFunction& f : all_functions())
        for (const std::string_view s : f.spellings)
            if (s.substr(0, s.rfind('.')) == module) known.push_back(s);
    return known;
}

std::string advice_nearest(const std::string& spelling) {
    const auto dot = spelling.rfind('.');
    const std::string close = nearest(spelling, spellings_in(spelling.substr(0, dot)));
    return close.empty() ? "" : "did you mean " + close + "?";
}

// Edits between two words; two letters that changed places count as one.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

/// What makes a name known that is everybody's elsewhere; "" for a name that is nobody's.
std::string advice_import(const std::string& written) {
    constexpr std::pair<std::string_view, std::string_view> modules[] = {
        {"np", "import numpy as np"},
        {"numpy", "import numpy"},
        {"math", "import math"},
        {"cuda", "import xcuda.core as cuda"},
    };
    for (const auto& [name, statement] : modules)
        if (written == name) return "write " + std::string(statement) + " above the kernel";
    if (find_function("math." + written))
        return "write math." + written + ", and import math above the kernel";
    return "";
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string_view>& known) {
    const auto last = [](std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); };
    std::size_t best = std::max<std::size_t>(1, last(name).size() / 3) + 1;
    std::string_view found;
    for (const std::string_view k : known) {
        const std::size_t d = distance(last(name), last(k));
        if (d < best) {
            best = d;
            found = k;
        }
    }
    return std::string(found);
}

bool refused_everywhere(std::string_view kind) {
    for (const std::string_view somewhere : {"List", "ListComp", "JoinedStr", "Starred", "Slice"})
        if (kind == somewhere) return false;
    return std::any_of(std::begin(nodes), std::end(nodes),
                       [kind](const Refusal& r) { return r.what == kind; });
}

void refuse_node(const ast::Node& node) {
    for (const Refusal& r : nodes)
        if (r.what == node.kind) throw refused(node.place, std::string(r.found), std::string(r.instead));
    throw refused(node.place, "this (" + node.kind + ") is not part of the kernel language");
}

namespace {

// Python's and NumPy's generators have one state for the whole process.
bool draws(const std::string& written) {
    return written.starts_with("random.") || written.find(".random.") != std::string::npos;
}

}  // namespace

void refuse_function(const std::string& spelling, const std::string& written, const Place& place) {
    for (const Refusal& r : functions)
        if (r.what == spelling) throw refused(place, std::string(r.found), std::string(r.instead));
    for (const Refusal& r : families)
        if (("." + written).find("." + std::string(r.what)) != std::string::npos)
            throw refused(place, written + "() " + std::string(r.found), std::string(r.instead));
    std::string advice = advice_nearest(spelling);
    if (advice.empty() && spelling.starts_with("numpy."))
        advice = "call it outside, on whole arrays; docs/LANGUAGE.md lists what a kernel has";
    throw refused(place, written + "() has no meaning in a kernel", advice);
}

void refuse_meaning(const Meaning& m, const std::string& written, const Place& place) {
    std::string close = m.close.empty() ? "" : "did you mean '" + m.close + "'?";
    constexpr std::string_view module = "module ";
    if (m.kind == Meaning::Kind::missing && m.of.starts_with(module))  // rather what a kernel may call
        if (const std::string advice = advice_nearest(m.of.substr(module.size()) + "." + m.text);
            !advice.empty())
            close = advice;
    switch (m.kind) {
        case Meaning::Kind::undefined:
            if (const std::string advice = advice_import(written); !advice.empty()) close = advice;
            throw refused(place, "name '" + written + "' is not defined", close);
        case Meaning::Kind::missing: throw refused(place, m.of + " has no '" + m.text + "'", close);
        case Meaning::Kind::captured:
        case Meaning::Kind::host:
            throw refused(place, "'" + written + "' is " + m.text + ", made outside the kernel",
                          draws(written) ? generators : "pass it as an argument");
        case Meaning::Kind::module:
            throw refused(place, "'" + written + "' is a module, not a number", "name a member of it");
        case Meaning::Kind::record:
            throw refused(place, "'" + written + "' is a class, not a number",
                          "call it: " + written + "(...)");
        case Meaning::Kind::class_:
            throw refused(place, "'" + written + "' is a class: objects can't live in a kernel",
                          "pass its fields as arguments");
        case Meaning::Kind::exception:
            throw refused(place, "'" + written + "' is an exception, not a number",
                          "write raise " + written + "(\"...\")");
        case Meaning::Kind::intrinsic:
            for (const std::string_view three : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
                if (m.text == three)
                    throw refused(place, "'" + written + "' is three numbers", "write " + written + ".x");
            [[fallthrough]];
        default:
            throw refused(place, "'" + written + "' is a function, not a number",
                          "call it: " + written + "(...)");
    }
}

std::string spoken(const ir::Type& type) {
    if (type.is_scalar() && type.weak)
        return type.dtype == DType::b1   ? "a bool"
               : is_complex(type.dtype)  ? "a Python complex"
               : is_floating(type.dtype) ? "a Python float"
                                         : "a Python int";
    return ir::to_string(type);
}

std::string spoken(const Value& value) {
    switch (value.kind) {
        case Value::Kind::scalar:
            return ir::is_tile(*value.expr) ? fmt::format("a tile ({}{})", info(value.expr->type.dtype).name,
                                                          ir::to_string(ir::extents_of(*value.expr)))
                                            : spoken(value.expr->type);
        case Value::Kind::seen: return "an array seen through a tile";
        case Value::Kind::tuple: return "a tuple of " + std::to_string(value.items.size());
        case Value::Kind::array: return "an array (" + ir::to_string(value.expr->type) + ")";
        case Value::Kind::view: return "a view of an array (" + ir::to_string(value.expr->type) + ")";
        case Value::Kind::expression: return "an array computed element by element";
        case Value::Kind::records:
            return (value.ndim ? "an array of records of " : "a record of ") + value.meaning->text;
        case Value::Kind::slice: return "a slice";
        case Value::Kind::ellipsis: return "...";
        case Value::Kind::closure: return "the function " + value.text + "()";
        case Value::Kind::range: return "a range";
        case Value::Kind::lazy:
            return value.text == "generator" ? "a generator expression" : value.text + "(...)";
        case Value::Kind::none: return "None";
        case Value::Kind::string: return "a string";
        case Value::Kind::dtype:
            return "the dtype " + (is_record_dtype(value) ? value.text : std::string(info(value.dtype).name));
        case Value::Kind::meaning: return "'" + value.text + "'";
    }
    return "something else";
}

}  // namespace xcuda::frontend
