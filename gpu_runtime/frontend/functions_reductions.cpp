// Functions that take whole arrays and give one number, or one along an axis: lower_reductions lowers them, for every dtype.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {

void add_reductions(FunctionTable& t) {
    struct Row {
        const char* name;
        std::vector<std::string_view> spellings;
        const char* doc;
    };
    const Row rows[] = {
        {"numpy.sum",
         {"numpy.sum"},
         "The sum of an array, over axis= if given, also a.sum(); float32 and float16 are added in float64. "
         "In one "
         "thread, one element after the other."},
        {"numpy.prod", {"numpy.prod"}, "The product of an array, as numpy.sum adds; a.prod()."},
        {"numpy.mean", {"numpy.mean"}, "The sum divided by the count, in floating point; a.mean()."},
        {"numpy.var",
         {"numpy.var"},
         "The mean of the squared distances from the mean, divided by the count less ddof=; a.var()."},
        {"numpy.std", {"numpy.std"}, "The square root of numpy.var; a.std()."},
        {"numpy.min",
         {"numpy.min", "numpy.amin"},
         "The least element, nan where one is; a.min(). Of no elements a ValueError."},
        {"numpy.max",
         {"numpy.max", "numpy.amax"},
         "The greatest element, nan where one is; a.max(). Of no elements a ValueError."},
        {"numpy.ptp", {"numpy.ptp"}, "The greatest element less the least."},
        {"numpy.argmin",
         {"numpy.argmin"},
         "The index of the first least element, or of the first nan, in the flat array; a.argmin()."},
        {"numpy.argmax",
         {"numpy.argmax"},
         "The index of the first greatest element, or of the first nan, in the flat array; a.argmax()."},
        {"numpy.any", {"numpy.any"}, "Whether an element is true; a.any()."},
        {"numpy.all", {"numpy.all"}, "Whether every element is true; a.all()."},
        {"numpy.count_nonzero", {"numpy.count_nonzero"}, "How many elements are true."},
        {"numpy.nansum", {"numpy.nansum"}, "numpy.sum with nan taken as 0."},
        {"numpy.nanprod", {"numpy.nanprod"}, "numpy.prod with nan taken as 1."},
        {"numpy.nanmean", {"numpy.nanmean"}, "numpy.mean of what is not nan; nan where nothing is."},
        {"numpy.nanvar", {"numpy.nanvar"}, "numpy.var of what is not nan."},
        {"numpy.nanstd", {"numpy.nanstd"}, "numpy.std of what is not nan."},
        {"numpy.nanmin", {"numpy.nanmin"}, "numpy.min of what is not nan; nan where nothing is."},
        {"numpy.nanmax", {"numpy.nanmax"}, "numpy.max of what is not nan; nan where nothing is."},
        {"numpy.nanargmin",
         {"numpy.nanargmin"},
         "numpy.argmin of what is not nan; a ValueError where nothing is."},
        {"numpy.nanargmax",
         {"numpy.nanargmax"},
         "numpy.argmax of what is not nan; a ValueError where nothing is."},
        {"numpy.dot",
         {"numpy.dot", "numpy.matmul"},
         "The product of vectors and matrices, also a @ b: sums of products in the arrays' common dtype, "
         "those of "
         "float32 and float16 added in float64."},
    };
    for (const Row& row : rows) t.begin(row.name, row.spellings, row.name, row.doc);
}

}  // namespace xcuda::frontend
