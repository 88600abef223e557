// Functions of any number type: least and greatest, absolute value, choices; and what operators lower to.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType numbers[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                             DType::u16, DType::u32, DType::u64, DType::f32, DType::f64};

void pairs(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, const char* twin,
           const char* doc, const std::string& text, bool with_bool, bool vector) {
    t.begin(name, std::move(spellings), twin, doc);
    if (with_bool) t.add({DType::b1, DType::b1}, DType::b1, text);
    for (const DType d : numbers) t.add({d, d}, d, text, vector ? text : "");
}

}  // namespace

void add_numbers(FunctionTable& t) {
    pairs(t, "min", {"builtins.min"}, "", "The least, as Python compares: of equal ones and nan, the first met.",
          "xc_min($0, $1)", true, true);
    pairs(t, "max", {"builtins.max"}, "", "The greatest, as Python compares: of equal ones and nan, the first met.",
          "xc_max($0, $1)", true, true);
    pairs(t, "minimum", {"numpy.minimum"}, "numpy.minimum", "The lesser; nan where either is nan.",
          "xc_minimum($0, $1)", true, true);
    pairs(t, "maximum", {"numpy.maximum"}, "numpy.maximum", "The greater; nan where either is nan.",
          "xc_maximum($0, $1)", true, true);
    pairs(t, "fmin", {"numpy.fmin"}, "numpy.fmin", "The lesser; the number where one is nan.", "xc_fmin($0, $1)",
          true, true);
    pairs(t, "fmax", {"numpy.fmax"}, "numpy.fmax", "The greater; the number where one is nan.", "xc_fmax($0, $1)",
          true, true);

    t.begin("clip", {"numpy.clip"}, "numpy.clip", "minimum(maximum(x, low), high); nan stays nan.");
    for (const DType d : numbers)
        t.add({d, d, d}, d, "xc_minimum(xc_maximum($0, $1), $2)", "xc_minimum(xc_maximum($0, $1), $2)");

    t.begin("abs", {"builtins.abs", "numpy.absolute", "numpy.abs"}, "numpy.absolute",
            "|x| in x's dtype; the lowest signed integer stays itself, as in NumPy.");
    t.add({DType::b1}, DType::b1, "$0");
    for (const DType d : numbers)
        t.add({d}, d, is_integer(d) && !is_signed(d) ? "$0" : "xc_abs($0)",
              is_integer(d) && !is_signed(d) ? "$0" : "xc_abs($0)");

    t.begin("sign", {"numpy.sign"}, "numpy.sign", "-1, 0 or 1 in x's dtype; nan stays nan.");
    for (const DType d : numbers) t.add({d}, d, "xc_sign($0)");

    t.begin("square", {"numpy.square"}, "numpy.square", "x * x.");
    for (const DType d : numbers) t.add({d}, d, "xc_square($0)", "xc_square($0)");

    t.begin("reciprocal", {"numpy.reciprocal"}, "numpy.reciprocal", "1 / x in floating point.");
    for (const DType d : {DType::f32, DType::f64}) t.add({d}, d, "xc_reciprocal($0)", "xc_reciprocal($0)");

    t.begin("where", {"numpy.where"}, "numpy.where", "x where the condition holds, else y; both are evaluated.");
    t.add({DType::b1, DType::b1, DType::b1}, DType::b1, "xc_where($0, $1, $2)");
    for (const DType d : numbers) t.add({DType::b1, d, d}, d, "xc_where($0, $1, $2)");
}

void add_internal(FunctionTable& t) {
    t.begin("cube", {}, "", "x * x * x: x ** 3.");
    for (const DType d : numbers) t.add({d}, d, "xc_cube($0)", "xc_cube($0)");

    t.begin("pow_int", {}, "", "x ** n by multiplications, n >= 0.");
    for (const DType d : numbers) t.add({d, DType::i64}, d, "xc_pow_int($0, $1)");

    // int64 beside uint64 has no common integer type; Python compares them exactly.
    const struct {
        const char* name;
        const char* less;
    } orders[] = {{"lt_mixed", "xc_lt($0, $1)"}, {"le_mixed", "(!xc_lt($1, $0))"}, {"gt_mixed", "xc_lt($1, $0)"},
                  {"ge_mixed", "(!xc_lt($0, $1))"}, {"eq_mixed", "xc_eq($0, $1)"}, {"ne_mixed", "(!xc_eq($0, $1))"}};
    for (const auto& order : orders) {
        t.begin(order.name, {}, "", "An exact comparison of int64 with uint64.");
        t.add({DType::i64, DType::u64}, DType::b1, order.less);
        t.add({DType::u64, DType::i64}, DType::b1, order.less);
    }
}

}  // namespace xcuda::frontend
