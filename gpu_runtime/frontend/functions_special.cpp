// Special functions, under SciPy's names: CUDA's library where it has one, else prelude_special.hpp on both devices.
#include <array>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

struct Row {
    const char* name;
    std::vector<std::string_view> spellings;
    const char* doc;
    int arguments = 1;
    const char* text = nullptr;  // where it is not xc_s_NAME
    const char* cuda = nullptr;  // CUDA's own, without the f of float32
    FunctionTable::Ulp ulp{};
};

}  // namespace

// The accuracy is measured by test_math_special over the whole range; for CUDA's own functions (of j0, j1, y0 and y1 below 8)
// it is what the CUDA C++ Programming Guide states. That of j0, j1, y0 and y1 is in units of their amplitude sqrt(2 / (pi x)) where this is the
// larger one, betaln's in units of 1 or more.
void add_special(FunctionTable& t) {
    const std::array rows = {
        Row{.name = "expit",
            .spellings = {"scipy.special.expit"},
            .doc = "1 / (1 + exp(-x)).",
            .ulp = {4, 4, 4, 4}},
        Row{.name = "logit",
            .spellings = {"scipy.special.logit"},
            .doc = "log(x / (1 - x)).",
            .ulp = {6, 6, 6, 6}},
        Row{.name = "log_expit",
            .spellings = {"scipy.special.log_expit"},
            .doc = "log(expit(x)).",
            .ulp = {4, 4, 4, 4}},
        Row{.name = "exprel",
            .spellings = {"scipy.special.exprel"},
            .doc = "(exp(x) - 1) / x, 1 at 0.",
            .ulp = {4, 4, 4, 4}},
        Row{.name = "xlogy",
            .spellings = {"scipy.special.xlogy"},
            .doc = "x * log(y), 0 where x is 0.",
            .arguments = 2,
            .ulp = {4, 4, 4, 4}},
        Row{.name = "xlog1py",
            .spellings = {"scipy.special.xlog1py"},
            .doc = "x * log(1 + y), 0 where x is 0.",
            .arguments = 2,
            .ulp = {4, 4, 4, 4}},
        Row{.name = "entr",
            .spellings = {"scipy.special.entr"},
            .doc = "-x * log(x), 0 at 0.",
            .ulp = {4, 4, 4, 4}},
        Row{.name = "rel_entr",
            .spellings = {"scipy.special.rel_entr"},
            .doc = "x * log(x / y), 0 where x is 0.",
            .arguments = 2,
            .ulp = {6, 6, 6, 6}},
        Row{.name = "kl_div",
            .spellings = {"scipy.special.kl_div"},
            .doc = "x * log(x / y) - x + y.",
            .arguments = 2,
            .ulp = {6, 10, 6, 10}},
        Row{.name = "sinc",
            .spellings = {"scipy.special.sinc", "numpy.sinc"},
            .doc = "sin(pi x) / (pi x).",
            .ulp = {4, 4, 4, 4}},
        Row{.name = "erfinv",
            .spellings = {"scipy.special.erfinv"},
            .doc = "Where erf is x.",
            .cuda = "erfinv",
            .ulp = {1, 3, 8, 5}},
        Row{.name = "erfcinv",
            .spellings = {"scipy.special.erfcinv"},
            .doc = "Where erfc is x.",
            .cuda = "erfcinv",
            .ulp = {1, 4, 8, 6}},
        Row{.name = "ndtr",
            .spellings = {"scipy.special.ndtr"},
            .doc = "The normal distribution function.",
            .cuda = "normcdf",
            .ulp = {1, 5, 8, 5}},
        Row{.name = "ndtri",
            .spellings = {"scipy.special.ndtri"},
            .doc = "Where ndtr is x.",
            .cuda = "normcdfinv",
            .ulp = {1, 5, 8, 8}},
        Row{.name = "digamma",
            .spellings = {"scipy.special.digamma", "scipy.special.psi"},
            .doc = "The logarithmic derivative of gamma; accuracy for x > 0.",
            .ulp = {1, 1, 8, 8}},
        Row{.name = "beta",
            .spellings = {"scipy.special.beta"},
            .doc = "gamma(a) gamma(b) / gamma(a + b); accuracy for a, b > 0 and a + b < 170.",
            .arguments = 2,
            .ulp = {1, 1, 10, 10}},
        Row{.name = "betaln",
            .spellings = {"scipy.special.betaln"},
            .doc = "The logarithm of |beta(a, b)|.",
            .arguments = 2,
            .ulp = {1, 1, 10, 10}},
        Row{.name = "j0",
            .spellings = {"scipy.special.j0"},
            .doc = "Bessel function of the first kind, order 0.",
            .text = "xc_s_bessel_jy<0, false>",
            .ulp = {4, 9, 8, 8}},
        Row{.name = "j1",
            .spellings = {"scipy.special.j1"},
            .doc = "Bessel function of the first kind, order 1.",
            .text = "xc_s_bessel_jy<1, false>",
            .ulp = {4, 9, 8, 8}},
        Row{.name = "y0",
            .spellings = {"scipy.special.y0"},
            .doc = "Bessel function of the second kind, order 0.",
            .text = "xc_s_bessel_jy<0, true>",
            .ulp = {4, 9, 8, 8}},
        Row{.name = "y1",
            .spellings = {"scipy.special.y1"},
            .doc = "Bessel function of the second kind, order 1.",
            .text = "xc_s_bessel_jy<1, true>",
            .ulp = {4, 9, 8, 8}},
        Row{.name = "i0",
            .spellings = {"scipy.special.i0", "numpy.i0"},
            .doc = "Modified Bessel function of the first kind, order 0.",
            .text = "xc_s_bessel_i<0, false>",
            .ulp = {6, 6, 8, 8}},
        Row{.name = "i1",
            .spellings = {"scipy.special.i1"},
            .doc = "Modified Bessel function of the first kind, order 1.",
            .text = "xc_s_bessel_i<1, false>",
            .ulp = {6, 6, 8, 8}},
        Row{.name = "i0e",
            .spellings = {"scipy.special.i0e"},
            .doc = "exp(-|x|) * i0(x).",
            .text = "xc_s_bessel_i<0, true>",
            .ulp = {6, 6, 8, 8}},
        Row{.name = "i1e",
            .spellings = {"scipy.special.i1e"},
            .doc = "exp(-|x|) * i1(x).",
            .text = "xc_s_bessel_i<1, true>",
            .ulp = {6, 6, 8, 8}},
    };
    for (const Row& row : rows) {
        t.begin(row.name, row.spellings, "", row.doc);
        const std::string arguments = row.arguments == 1 ? "($0)" : "($0, $1)";
        const std::string ours = (row.text ? row.text : "xc_s_" + std::string(row.name)) + arguments;
        for (const DType d : {DType::f32, DType::f64}) {
            const std::string theirs =
                row.cuda ? row.cuda + std::string(d == DType::f32 ? "f" : "") + arguments : ours;
            t.add(std::vector<DType>(static_cast<std::size_t>(row.arguments), d), d, ours, theirs, "");
        }
        t.within(row.ulp);
    }
}

}  // namespace xcuda::frontend
