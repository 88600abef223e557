// numba's constructors of the 8-bit floating formats, which saturate, and CUDA's conversions: cuda.fp8.*.
#include <array>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

struct Format {
    const char* name;
    DType dtype;
    const char* bits;  // of $0 in float32 or float64
};
constexpr std::array formats{
    Format{"fp8_e4m3", DType::f8e4m3, "xc_float8_cvt($0, 1, 0)"},
    Format{"fp8_e5m2", DType::f8e5m2, "xc_float8_cvt($0, 1, 1)"},
    Format{"fp8_e8m0", DType::f8e8m0, "xc_power_cvt($0, 1, 1)"},
};

}  // namespace

void add_float8(FunctionTable& t) {
    constexpr DType i = DType::i64;
    for (const Format& f : formats) {
        t.begin(t.keep(std::string("fp8.") + f.name), {t.keep(std::string("cuda.fp8.") + f.name)}, "",
                f.dtype == DType::f8e8m0
                    ? "A power of two: the next one above |x|, at most 2^127."
                    : "The nearest number of the format; the largest where x is above it.");
        const std::string text = "xc_float8_of_bits<" + std::string(info(f.dtype).cpp) + ">(" + f.bits + ")";
        t.add({DType::f32}, f.dtype, text);
        t.add({DType::f64}, f.dtype, text);
    }
    t.begin("fp8.cvt_to_fp8", {"cuda.fp8.cvt_to_fp8"}, "",
            "The bits of x in float8_e5m2 where the third argument is not 0, else in float8_e4m3fn; "
            "saturating where the "
            "second is not 0.");
    t.add({DType::f32, i, i}, DType::u8, "xc_float8_cvt($0, $1, $2)");
    t.add({DType::f64, i, i}, DType::u8, "xc_float8_cvt($0, $1, $2)");
    t.begin(
        "fp8.cvt_to_e8m0", {"cuda.fp8.cvt_to_e8m0"}, "",
        "The bits of |x| in float8_e8m0fnu, rounded up where the third argument is not 0, else towards zero; "
        "saturating where the second is not 0.");
    t.add({DType::f32, i, i}, DType::u8, "xc_power_cvt($0, $1, $2)");
    t.add({DType::f64, i, i}, DType::u8, "xc_power_cvt($0, $1, $2)");
    t.begin("fp8.e8m0_of_bits", {"cuda.fp8.e8m0_of_bits"}, "", "The float8_e8m0fnu of these bits.");
    t.add({DType::u8}, DType::f8e8m0, "xc_float8_of_bits<f8e8m0>($0)");
}

}  // namespace xcuda::frontend
