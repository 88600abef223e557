// CUDA's functions on bfloat16, as numba.cuda.bf16 names them: cuda.bf16.hadd and the like.
#include <array>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType half = DType::bf16;

struct Row {
    const char* name;
    int arguments;
    DType out;
    const char* text;  // of $0, $1, $2
    const char* doc;
};
constexpr std::array rows{
    Row{"habs", 1, half, "xc_bf16_bits(($0).bits & 0x7fff)", "|a|."},
    Row{"hneg", 1, half, "xc_bf16_bits(($0).bits ^ 0x8000)", "-a."},
    Row{"hadd", 2, half, "bf16((f32)$0 + (f32)$1)", "a + b."},
    Row{"hsub", 2, half, "bf16((f32)$0 - (f32)$1)", "a - b."},
    Row{"hmul", 2, half, "bf16((f32)$0 * (f32)$1)", "a * b."},
    Row{"hadd_rn", 2, half, "bf16((f32)$0 + (f32)$1)", "a + b, never part of a fused one."},
    Row{"hsub_rn", 2, half, "bf16((f32)$0 - (f32)$1)", "a - b, never part of a fused one."},
    Row{"hmul_rn", 2, half, "bf16((f32)$0 * (f32)$1)", "a * b, never part of a fused one."},
    Row{"hdiv", 2, half, "bf16((f32)$0 / (f32)$1)", "a / b."},
    Row{"hadd_sat", 2, half, "xc_bf16_sat(bf16((f32)$0 + (f32)$1))", "a + b within 0 and 1; nan becomes 0."},
    Row{"hsub_sat", 2, half, "xc_bf16_sat(bf16((f32)$0 - (f32)$1))", "a - b within 0 and 1; nan becomes 0."},
    Row{"hmul_sat", 2, half, "xc_bf16_sat(bf16((f32)$0 * (f32)$1))", "a * b within 0 and 1; nan becomes 0."},
    Row{"hfma", 3, half, "xc_bf16_fma($0, $1, $2)", "a * b + c, rounded once."},
    Row{"hfma_sat", 3, half, "xc_bf16_sat(xc_bf16_fma($0, $1, $2))",
        "a * b + c, rounded once, within 0 and 1; nan becomes 0."},
    Row{"hfma_relu", 3, half, "xc_bf16_relu(xc_bf16_fma($0, $1, $2))",
        "a * b + c, rounded once; 0 where negative."},
    Row{"hmax", 2, half, "xc_bf16_max($0, $1, false)", "The greater; the number where one is nan."},
    Row{"hmin", 2, half, "xc_bf16_min($0, $1, false)", "The lesser; the number where one is nan."},
    Row{"hmax_nan", 2, half, "xc_bf16_max($0, $1, true)", "The greater; nan where either is nan."},
    Row{"hmin_nan", 2, half, "xc_bf16_min($0, $1, true)", "The lesser; nan where either is nan."},
    Row{"heq", 2, DType::b1, "((f32)$0 == (f32)$1)", "a == b."},
    Row{"hne", 2, DType::b1, "((f32)$0 < (f32)$1 || (f32)$0 > (f32)$1)", "a != b; False where either is nan."},
    Row{"hge", 2, DType::b1, "((f32)$0 >= (f32)$1)", "a >= b."},
    Row{"hgt", 2, DType::b1, "((f32)$0 > (f32)$1)", "a > b."},
    Row{"hle", 2, DType::b1, "((f32)$0 <= (f32)$1)", "a <= b."},
    Row{"hlt", 2, DType::b1, "((f32)$0 < (f32)$1)", "a < b."},
    Row{"hequ", 2, DType::b1, "!((f32)$0 < (f32)$1 || (f32)$0 > (f32)$1)",
        "a == b; True where either is nan."},
    Row{"hneu", 2, DType::b1, "((f32)$0 != (f32)$1)", "a != b; True where either is nan."},
    Row{"hgeu", 2, DType::b1, "!((f32)$0 < (f32)$1)", "a >= b; True where either is nan."},
    Row{"hgtu", 2, DType::b1, "!((f32)$0 <= (f32)$1)", "a > b; True where either is nan."},
    Row{"hleu", 2, DType::b1, "!((f32)$0 > (f32)$1)", "a <= b; True where either is nan."},
    Row{"hltu", 2, DType::b1, "!((f32)$0 >= (f32)$1)", "a < b; True where either is nan."},
    Row{"hisnan", 1, DType::b1, "((($0).bits & 0x7fff) > 0x7f80)", "Whether a is nan."},
    Row{"hisinf", 1, DType::i32, "((($0).bits & 0x7fff) != 0x7f80 ? 0 : ($0).bits >> 15 ? -1 : 1)",
        "1 for inf, -1 for -inf, else 0."},
};

// By their float32 twin; what is correctly rounded or exact there is so here, others are within one unit.
struct Unary {
    const char *name, *cpu, *cuda;
};
constexpr std::array unary{
    Unary{"htrunc", "__builtin_truncf(x)", "truncf(x)"},
    Unary{"hceil", "__builtin_ceilf(x)", "ceilf(x)"},
    Unary{"hfloor", "__builtin_floorf(x)", "floorf(x)"},
    Unary{"hrint", "__builtin_rintf(x)", "rintf(x)"},
    Unary{"hsqrt", "__builtin_sqrtf(x)", "sqrtf(x)"},
    Unary{"hrsqrt", "(1 / __builtin_sqrtf(x))", "rsqrtf(x)"},
    Unary{"hrcp", "(1 / x)", "(1 / x)"},
    Unary{"hlog", "__builtin_logf(x)", "logf(x)"},
    Unary{"hlog2", "__builtin_log2f(x)", "log2f(x)"},
    Unary{"hlog10", "__builtin_log10f(x)", "log10f(x)"},
    Unary{"hcos", "__builtin_cosf(x)", "cosf(x)"},
    Unary{"hsin", "__builtin_sinf(x)", "sinf(x)"},
    Unary{"htanh", "__builtin_tanhf(x)", "tanhf(x)"},
    Unary{"htanh_approx", "__builtin_tanhf(x)", "tanhf(x)"},
    Unary{"hexp", "__builtin_expf(x)", "expf(x)"},
    Unary{"hexp2", "__builtin_exp2f(x)", "exp2f(x)"},
    Unary{"hexp10", "__builtin_powf(10.0f, x)", "exp10f(x)"},
};

struct Integer {
    DType dtype;
    const char* cuda;  // in CUDA's names
};
constexpr std::array integers{
    Integer{DType::i8, "char"},    Integer{DType::u8, "uchar"}, Integer{DType::i16, "short"},
    Integer{DType::u16, "ushort"}, Integer{DType::i32, "int"},  Integer{DType::u32, "uint"},
    Integer{DType::i64, "ll"},     Integer{DType::u64, "ull"},
};
struct Mode {
    const char *suffix, *doc;
};
constexpr std::array modes{Mode{"rn", "to nearest, ties to even"}, Mode{"rz", "towards zero"},
                           Mode{"rd", "down"}, Mode{"ru", "up"}};

std::string of_x(std::string text) {
    for (std::size_t at = text.find("(x"); at != std::string::npos; at = text.find("(x", at + 1))
        text.replace(at, 2, "((f32)$0");
    for (std::size_t at = text.find(" x)"); at != std::string::npos; at = text.find(" x)", at + 1))
        text.replace(at, 3, " (f32)$0)");
    return "bf16(" + text + ")";
}

}  // namespace

void add_bfloat(FunctionTable& t) {
    const auto begin = [&](std::vector<std::string> names, const std::string& doc) {
        std::vector<std::string_view> spellings;
        for (const std::string& name : names) spellings.push_back(t.keep("cuda.bf16." + name));
        t.begin(t.keep("bf16." + names[0]), std::move(spellings), "", t.keep(doc));
    };
    for (const Row& r : rows) {
        begin({r.name}, std::string("bfloat16: ") + r.doc);
        t.add(std::vector<DType>(static_cast<std::size_t>(r.arguments), half), r.out, r.text);
    }
    for (const Unary& u : unary) {
        begin({u.name}, "bfloat16: by float32, rounded; within 1 ulp.");
        t.add({half}, half, of_x(u.cpu), of_x(u.cuda), "");
    }

    begin({"bfloat16_to_float32", "bfloat162float"}, "a in float32.");
    t.add({half}, DType::f32, "(f32)$0");
    begin({"float64_to_bfloat16", "double2bfloat16"}, "a in bfloat16, rounded once.");
    t.add({DType::f64}, half, "bf16($0)");
    begin({"float32_to_bfloat16", "float2bfloat16"}, "a in bfloat16.");
    t.add({DType::f32}, half, "bf16($0)");
    for (const Mode& m : modes) {
        const std::string suffix = std::string("_") + m.suffix;
        begin({"float32_to_bfloat16" + suffix, "float2bfloat16" + suffix},
              std::string("a in bfloat16, rounded ") + m.doc + ".");
        t.add({DType::f32}, half, "xc_bf16_from<xc_bf16" + suffix + ">($0)");
    }
    for (const Integer& i : integers) {
        const std::string name(info(i.dtype).name), cpp(info(i.dtype).cpp);
        for (const Mode& m : modes) {
            const std::string suffix = std::string("_") + m.suffix;
            const bool byte = info(i.dtype).size == 1;
            if (!byte || suffix == "_rz") {
                begin({"bfloat16_to_" + name + suffix, std::string("bfloat162") + i.cuda + suffix},
                      "a in " + name + ", rounded " + m.doc +
                          "; the nearest there is where it is out of range.");
                t.add({half}, i.dtype, "xc_bf16_to_int<" + cpp + ", xc_bf16" + suffix + ">($0)");
            }
            if (byte) continue;
            begin({name + "_to_bfloat16" + suffix, std::string(i.cuda) + "2bfloat16" + suffix},
                  "a in bfloat16, rounded " + std::string(m.doc) + ".");
            t.add({i.dtype}, half, "xc_bf16_from_int<xc_bf16" + suffix + ", " + cpp + ">($0)");
        }
    }
    for (const Integer& i : {Integer{DType::i16, "short"}, Integer{DType::u16, "ushort"}}) {
        const std::string name(info(i.dtype).name), cpp(info(i.dtype).cpp);
        begin({"bfloat16_as_" + name, std::string("bfloat16_as_") + i.cuda}, "a's bits as " + name + ".");
        t.add({half}, i.dtype, "(" + cpp + ")($0).bits");
        begin({name + "_as_bfloat16", std::string(i.cuda) + "_as_bfloat16"}, "The bfloat16 of these bits.");
        t.add({i.dtype}, half, "xc_bf16_bits((u16)$0)");
    }
}

}  // namespace xcuda::frontend
