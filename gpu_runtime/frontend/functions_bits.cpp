// Bits of integers, and single instructions that numba names: popc, clz, fma, mulhi, ...
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType integers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                              DType::u8, DType::u16, DType::u32, DType::u64};
constexpr DType words[] = {DType::i32, DType::u32, DType::i64, DType::u64};

bool is_long(DType d) { return info(d).size == 8; }

DType unsigned_of(DType d) {
    switch (info(d).size) {
        case 1: return DType::u8;
        case 2: return DType::u16;
        case 4: return DType::u32;
        default: return DType::u64;
    }
}

std::string cpp(DType d) { return std::string(info(d).cpp); }

}  // namespace

void add_bits(FunctionTable& t) {
    t.begin("popc", {"cuda.popc"}, "",
            "How many bits of x are set, in x's dtype; of a negative number those of its two's complement.");
    for (const DType d : integers) {
        const std::string x = "(" + cpp(unsigned_of(d)) + ")$0";
        t.add({d}, d, "(" + cpp(d) + ")__builtin_popcountll(" + x + ")",
              "(" + cpp(d) + ")" + (is_long(d) ? "__popcll(" : "__popc(") + x + ")", "");
    }
    t.begin("bit_count", {"numpy.bitwise_count"}, "numpy.bitwise_count",
            "How many bits of |x| are set, as uint8; x.bit_count() gives it as an int.");
    for (const DType d : integers) {
        const std::string x = is_signed(d) ? "($0 < 0 ? 0 - (u64)$0 : (u64)$0)" : "(u64)$0";
        t.add({d}, DType::u8, "(u8)__builtin_popcountll(" + x + ")", "(u8)__popcll(" + x + ")", "");
    }
    t.begin("brev", {"cuda.brev"}, "", "x's 32 or 64 bits in reverse order, unsigned.");
    for (const DType d : words)
        t.add({d}, unsigned_of(d), is_long(d) ? "__builtin_bitreverse64($0)" : "__builtin_bitreverse32($0)",
              is_long(d) ? "__brevll($0)" : "__brev($0)", "");
    t.begin("clz", {"cuda.clz"}, "", "How many zero bits stand before the first set one, of 32 or 64.");
    for (const DType d : words) {
        const std::string out = "(" + cpp(d) + ")";
        t.add({d}, d,
              is_long(d) ? out + "($0 ? __builtin_clzll((u64)$0) : 64)"
                         : out + "($0 ? __builtin_clz((u32)$0) : 32)",
              out + (is_long(d) ? "__clzll($0)" : "__clz($0)"), "");
    }
    t.begin("ffs", {"cuda.ffs"}, "",
            "One more than the lowest set bit's number, 0 where none is, as uint32.");
    for (const DType d : words)
        t.add({d}, DType::u32, is_long(d) ? "(u32)__builtin_ffsll((i64)$0)" : "(u32)__builtin_ffs((i32)$0)",
              is_long(d) ? "(u32)__ffsll($0)" : "(u32)__ffs($0)", "");

    t.begin("fma", {"cuda.fma", "math.fma"}, "", "x * y + z, rounded once.");
    t.takes({"x", "y", "z"});
    t.add({DType::f32, DType::f32, DType::f32}, DType::f32, "__builtin_fmaf($0, $1, $2)", "fmaf($0, $1, $2)",
          "__builtin_elementwise_fma($0, $1, $2)");
    t.add({DType::f64, DType::f64, DType::f64}, DType::f64, "__builtin_fma($0, $1, $2)", "fma($0, $1, $2)",
          "__builtin_elementwise_fma($0, $1, $2)");

    t.begin("rsqrt", {"cuda.rsqrt"}, "", "1 / sqrt(x); within 2 ulp.");
    t.add({DType::f32}, DType::f32, "(1 / __builtin_sqrtf($0))", "rsqrtf($0)", "");
    t.add({DType::f64}, DType::f64, "(1 / __builtin_sqrt($0))", "rsqrt($0)", "");
    t.within({1.5, 2, 1.5, 1});

    t.begin("saturate", {"cuda.saturate"}, "", "x within 0 and 1; nan becomes 0.");
    t.add({DType::f32}, DType::f32, "($0 > 0 ? $0 < 1 ? $0 : 1.0f : 0.0f)", "__saturatef($0)", "");

    t.begin("selp", {"cuda.selp"}, "", "a where the condition holds, else b; both are evaluated.");
    t.add({DType::b1, DType::b1, DType::b1}, DType::b1, "xc_where<b1>($0, $1, $2)");
    for (const DType d : integers) t.add({DType::b1, d, d}, d, "xc_where<" + cpp(d) + ">($0, $1, $2)");
    for (const DType d : {DType::f32, DType::f64})
        t.add({DType::b1, d, d}, d, "xc_where<" + cpp(d) + ">($0, $1, $2)");

    t.begin("mulhi", {"cuda.mulhi"}, "", "The upper half of the full product of x and y, in their dtype.");
    t.add({DType::i32, DType::i32}, DType::i32, "(i32)(((i64)$0 * (i64)$1) >> 32)", "__mulhi($0, $1)", "");
    t.add({DType::u32, DType::u32}, DType::u32, "(u32)(((u64)$0 * (u64)$1) >> 32)", "__umulhi($0, $1)", "");
    t.add({DType::i64, DType::i64}, DType::i64, "(i64)(((__int128)$0 * (__int128)$1) >> 64)",
          "__mul64hi($0, $1)", "");
    t.add({DType::u64, DType::u64}, DType::u64,
          "(u64)(((unsigned __int128)$0 * (unsigned __int128)$1) >> 64)", "__umul64hi($0, $1)", "");

    t.begin("byte_perm", {"cuda.byte_perm"}, "",
            "Four of the eight bytes of x (0 to 3) and y (4 to 7), by selector's four hexadecimal digits, as "
            "uint32.");
    t.takes({"x", "y", "selector"});
    t.add({DType::i64, DType::i64, DType::i64}, DType::u32, "xc_byte_perm((u32)$0, (u32)$1, (u32)$2)",
          "__byte_perm((u32)$0, (u32)$1, (u32)$2)", "");
}

}  // namespace xcuda::frontend
