// Functions of any number type: least and greatest, absolute value, choices; and what operators lower to.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType numbers[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                             DType::u16, DType::u32, DType::u64, DType::f32, DType::f64};

// "xc_min($0, $1)" as "xc_min<i64>($0, $1)": the C++ type of a literal argument would be int.
std::string typed(const std::string& text, DType d) {
    const auto open = text.find('(');
    return text.substr(0, open) + "<" + std::string(info(d).cpp) + ">" + text.substr(open);
}

void pairs(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, const char* twin,
           const char* doc, const std::string& text, bool with_bool, bool vector, bool complex = false) {
    t.begin(name, std::move(spellings), twin, doc);
    if (with_bool) t.add({DType::b1, DType::b1}, DType::b1, typed(text, DType::b1));
    for (const DType d : numbers) t.add({d, d}, d, typed(text, d), vector ? text : "");
    if (complex)
        for (const DType d : {DType::c64, DType::c128}) t.add({d, d}, d, "xc_z_" + text.substr(3));
}

}  // namespace

void add_numbers(FunctionTable& t) {
    pairs(t, "min", {"builtins.min"}, "",
          "The least, as Python compares: of equal ones and nan, the first met.", "xc_min($0, $1)", true,
          true);
    pairs(t, "max", {"builtins.max"}, "",
          "The greatest, as Python compares: of equal ones and nan, the first met.", "xc_max($0, $1)", true,
          true);
    pairs(t, "minimum", {"numpy.minimum"}, "numpy.minimum", "The lesser; nan where either is nan.",
          "xc_minimum($0, $1)", true, true, true);
    pairs(t, "maximum", {"numpy.maximum"}, "numpy.maximum", "The greater; nan where either is nan.",
          "xc_maximum($0, $1)", true, true, true);
    pairs(t, "fmin", {"numpy.fmin"}, "numpy.fmin", "The lesser; the number where one is nan.",
          "xc_fmin($0, $1)", true, true, true);
    pairs(t, "fmax", {"numpy.fmax"}, "numpy.fmax", "The greater; the number where one is nan.",
          "xc_fmax($0, $1)", true, true, true);

    t.begin("clip", {"numpy.clip"}, "numpy.clip", "minimum(maximum(x, low), high); nan stays nan.");
    for (const DType d : numbers)
        t.add({d, d, d}, d, typed("xc_minimum(" + typed("xc_maximum($0, $1)", d) + ", $2)", d),
              "xc_minimum(xc_maximum($0, $1), $2)");

    t.begin("abs", {"builtins.abs", "numpy.absolute", "numpy.abs"}, "numpy.absolute",
            "|x| in x's dtype; the lowest signed integer stays itself, as in NumPy.");
    t.add({DType::b1}, DType::b1, "$0");
    for (const DType d : numbers)
        t.add({d}, d, is_integer(d) && !is_signed(d) ? "$0" : typed("xc_abs($0)", d),
              is_signed(d)    ? ""
              : is_integer(d) ? "$0"
                              : "__builtin_elementwise_abs($0)");
    t.add_complex("xc_z_abs($0)", FunctionTable::Complex::part);

    t.begin("sign", {"numpy.sign"}, "numpy.sign", "-1, 0 or 1 in x's dtype; nan stays nan.");
    for (const DType d : numbers) t.add({d}, d, typed("xc_sign($0)", d));
    t.add_complex("xc_z_sign($0)");

    t.begin("square", {"numpy.square"}, "numpy.square", "x * x.");
    for (const DType d : numbers) t.add({d}, d, typed("xc_square($0)", d), "xc_square($0)");
    t.add_complex("xc_square($0)");

    t.begin("reciprocal", {"numpy.reciprocal"}, "numpy.reciprocal", "1 / x in floating point.");
    for (const DType d : {DType::f32, DType::f64})
        t.add({d}, d, typed("xc_reciprocal($0)", d), "xc_reciprocal($0)");
    t.add({DType::c64}, DType::c64, "(c64(1, 0) / $0)");
    t.add({DType::c128}, DType::c128, "(c128(1, 0) / $0)");

    t.begin("where", {"numpy.where"}, "numpy.where",
            "x where the condition holds, else y; both are evaluated.");
    t.add({DType::b1, DType::b1, DType::b1}, DType::b1, "xc_where<b1>($0, $1, $2)");
    for (const DType d : numbers) t.add({DType::b1, d, d}, d, typed("xc_where($0, $1, $2)", d));
}

void add_internal(FunctionTable& t) {
    t.begin("cube", {}, "", "x * x * x: x ** 3.");
    for (const DType d : numbers) t.add({d}, d, typed("xc_cube($0)", d), "xc_cube($0)");
    t.add_complex("xc_cube($0)");

    t.begin("pow_int", {}, "", "x ** n by multiplications, n >= 0.");
    for (const DType d : numbers) t.add({d, DType::i64}, d, typed("xc_pow_int($0, $1)", d));

    t.begin("bits", {}, "", "The bits of x as another type of its size: x.view(dtype).");
    constexpr DType all[] = {DType::i8,  DType::u8,  DType::i16, DType::u16, DType::f16, DType::bf16,
                             DType::i32, DType::u32, DType::f32, DType::i64, DType::u64, DType::f64};
    for (const DType from : all)
        for (const DType to : all)
            if (from != to && info(from).size == info(to).size)
                t.add({from}, to, "xc_bits<" + std::string(info(to).cpp) + ">($0)");

    // int64 beside uint64 has no common integer type; Python compares them exactly.
    const struct {
        const char* name;
        const char* test;  // of x and y
        bool swapped, negated;
    } orders[] = {{"lt_mixed", "xc_lt", false, false}, {"le_mixed", "xc_lt", true, true},
                  {"gt_mixed", "xc_lt", true, false},  {"ge_mixed", "xc_lt", false, true},
                  {"eq_mixed", "xc_eq", false, false}, {"ne_mixed", "xc_eq", false, true}};
    for (const auto& order : orders) {
        t.begin(order.name, {}, "", "An exact comparison of int64 with uint64.");
        for (const bool signed_first : {true, false}) {
            const std::string x = signed_first ? "i64($0)" : "u64($0)",
                              y = signed_first ? "u64($1)" : "i64($1)";
            const std::string call =
                std::string(order.test) + (order.swapped ? "(" + y + ", " + x : "(" + x + ", " + y) + ")";
            const std::vector<DType> in =
                signed_first ? std::vector{DType::i64, DType::u64} : std::vector{DType::u64, DType::i64};
            t.add(in, DType::b1, order.negated ? "(!" + call + ")" : call);
        }
    }
}

}  // namespace xcuda::frontend
