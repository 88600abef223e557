// What a function's free names mean, as python/xcuda/core/source.py captured them from the live objects.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "frontend/ast.hpp"
#include "ir/module.hpp"

namespace xcuda::frontend {

struct Meaning {
    enum class Kind {
        constant,   // literal: None, bool, int, float, string (see Node::Constant)
        scalar,     // a NumPy scalar: `number` of `dtype`
        dtype,      // np.float32: a dtype, callable as a cast
        tuple,      // `items`
        function,   // `text` spells it: "numpy.sin", "builtins.range"
        intrinsic,  // `text`: "grid", "shared.array"
        helper,     // a plain Python function: index into Names::helpers
        array,      // a global NumPy array: `bytes` of `dtype` and `shape`; of records: `items` by `record`
        record_dtype,  // a structured dtype: `fields`, `items` (dtypes, each with the `shape` of an array field)
        record,  // a NamedTuple or dataclass type, called to make a struct: `fields`, the last ones' defaults in `items`
        captured,  // a device array outside the kernel, which becomes an argument: `helper` is its number
        module,
        exception,
        class_,
        host,
        undefined,  // no such name; `close` is the nearest that exists
        missing,    // a module or class without that member: `of`, `text`, `close`
    };
    Kind kind = Kind::host;
    ast::Node::Constant constant = ast::Node::Constant::other;
    ir::Number number{};
    DType dtype = DType::i64;
    std::string text, of, close;
    std::vector<Meaning> items;
    std::vector<std::string> fields;  // of a NamedTuple or a record
    bool only_fields = false;         // record: a dataclass, no sequence
    int helper = -1;
    std::vector<std::int64_t> shape;
    std::int64_t itemsize = 0;  // record_dtype
    std::string bytes;
    std::vector<Meaning> record;  // array of records: its dtype
};

using NameTable = std::map<std::string, Meaning, std::less<>>;  // by dotted name

/// Types that a device function was declared with: its numbers are converted to them; none where it is no number.
struct Declared {
    std::vector<std::optional<DType>> arguments;
    std::optional<DType> returns;
};

/// A function in the user's CUDA C++ (cuda.declare_device).
struct ForeignHelper {
    struct Type {
        DType dtype = DType::i64;  // of a pointer: what it points to
        bool pointer = false;
    };
    std::string symbol;
    std::vector<Type> arguments;
    std::optional<Type> returns;
    bool gives_status = false, cooperative = false;
    std::vector<ir::CudaSource> sources;
};

struct Helper {
    std::optional<ForeignHelper> foreign;
    std::string name, file;
    ast::NodeP function;  // null: `error` says why there is no source
    std::string error;
    NameTable names;
    NameTable defaults;              // parameter -> its default's meaning
    std::vector<Declared> declared;  // alternatives
};

/// How a kernel's parameter is made from its arguments: one of them, a constant, or a tuple (with names: a struct).
struct Form {
    enum class Kind { leaf, constant, tuple, records } kind = Kind::leaf;
    Meaning meaning;       // constant; records: their dtype, whose fields are leaves
    std::size_t ndim = 0;  // records
    std::string name;      // of a struct's type
    std::vector<std::string> fields;
    bool only_fields = false;  // a dataclass: no sequence
    std::vector<Form> items;
};

struct Names {
    NameTable names;
    NameTable methods;  // of structs: helpers, as "method Class.name", or "static", "property"
    std::vector<Helper> helpers;
    std::vector<ir::CudaSource> sources;  // what the kernel was linked with
    std::vector<Form> forms;              // one a parameter; none: each is an argument
    bool tile_kernel = false;
    std::vector<std::int64_t> tile_size;  // as written; empty: each tile states its own
};

Names names_from_json(const std::string& text);

}  // namespace xcuda::frontend
