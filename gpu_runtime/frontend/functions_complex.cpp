// Complex numbers: their parts, and what their operators lower to. Other functions' complex overloads stand with them.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

constexpr DType reals[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                           DType::u16, DType::u32, DType::u64, DType::f32, DType::f64};

void parts(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, const char* doc,
           bool of_zero, const char* text) {
    const std::string_view twin = spellings[0];
    t.begin(name, std::move(spellings), twin, doc);
    for (const DType d : reals)
        t.add({d}, d, of_zero ? std::string(info(d).cpp) + "(0)" : "$0", of_zero ? "" : "$0");
    const bool whole = std::string_view(name) == "conjugate";
    for (const DType d : {DType::c64, DType::c128}) t.add({d}, whole ? d : part_of(d), text);
}

}  // namespace

void FunctionTable::add_complex(std::string text, Complex gives) {
    for (const DType d : {DType::c64, DType::c128})
        add({d}, gives == Complex::same ? d : gives == Complex::part ? part_of(d) : DType::b1, text);
}

void add_complex(FunctionTable& t) {
    parts(t, "real", {"numpy.real"}, "The real part, as z.real; of a real number itself.", false, "($0).re");
    parts(t, "imag", {"numpy.imag"}, "The imaginary part, as z.imag; of a real number 0.", true, "($0).im");
    parts(t, "conjugate", {"numpy.conjugate", "numpy.conj"}, "z.real - 1j * z.imag, as z.conjugate().", false,
          "xc_z_conj($0)");

    t.begin("angle", {"cmath.phase", "numpy.angle"}, "numpy.angle",
            "The angle of z in radians, from -pi to pi; of a real number 0 or pi.");
    t.add({DType::f32}, DType::f32, "__builtin_atan2f(0.0f, $0)", "atan2f(0.0f, $0)", "");
    t.add({DType::f64}, DType::f64, "__builtin_atan2(0.0, $0)", "atan2(0.0, $0)", "");
    t.add_complex("xc_z_angle($0)", FunctionTable::Complex::part);

    t.begin("rect", {"cmath.rect"}, "", "The complex number of an absolute value and an angle.");
    t.add({DType::f32, DType::f32}, DType::c64, "xc_z_polar<f32>($0, $1)");
    t.add({DType::f64, DType::f64}, DType::c128, "xc_z_polar<f64>($0, $1)");

    t.begin("complex", {}, "", "A complex number of its parts.");
    t.add({DType::f32, DType::f32}, DType::c64, "c64($0, $1)");
    t.add({DType::f64, DType::f64}, DType::c128, "c128($0, $1)");

    const struct {
        const char *name, *text;
    } orders[] = {{"complex_lt", "xc_z_lt($0, $1)"},
                  {"complex_le", "xc_z_le($0, $1)"},
                  {"complex_gt", "xc_z_lt($1, $0)"},
                  {"complex_ge", "xc_z_le($1, $0)"}};
    for (const auto& order : orders) {
        t.begin(order.name, {}, "", "NumPy's order of complex numbers in arrays.");
        for (const DType d : {DType::c64, DType::c128}) t.add({d, d}, DType::b1, order.text);
    }

    t.begin("complex_pow", {}, "",
            "z ** w: by multiplications where w is whole and below 100, as NumPy does.");
    for (const DType d : {DType::c64, DType::c128}) t.add({d, d}, d, "xc_z_pow($0, $1)");
}

}  // namespace xcuda::frontend
