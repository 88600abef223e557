// Which of NVIDIA's mathematics libraries are here, for a user who asks.
#include <array>
#include <string_view>

#include "math/cuda_library.hpp"

namespace xcuda::math {

namespace {

struct Asked {
    const device::VendorLibrary& library;
    const char* property;  // int (int which, int* value): a part of the version
};
constexpr std::array asked{
    Asked{cublas_library, "cublasGetProperty"}, Asked{cublaslt_library, "cublasLtGetProperty"},
    Asked{cufft_library, "cufftGetProperty"}, Asked{cusolver_library, "cusolverGetProperty"}};

device::Library state_of(const Asked& one) {
    constexpr std::string_view between = ", which ";
    const std::string_view title = one.library.title;
    const auto at = title.find(between);
    device::Library row{
        std::string(title.substr(0, at)), std::string(title.substr(at + between.size())), {}, {}, {}, {}, {}};
    try {
        const device::OpenedLibrary opened = device::open_library(one.library);
        const auto property = reinterpret_cast<int (*)(int, int*)>(dlsym(opened.handle, one.property));
        int major = 0, minor = 0, patch = 0;
        if (property && property(0, &major) == 0 && property(1, &minor) == 0 && property(2, &patch) == 0)
            row.version = fmt::format("{} {}.{}.{}", row.name, major, minor, patch);
        else
            row.version = row.name + " of an unknown version";
        row.file = opened.file;
        row.from = opened.from;
    } catch (const Error& error) {
        row.problem = error.what();
        row.advice = error.hint;
    }
    return row;
}

}  // namespace

std::vector<device::Library> libraries() {
    std::vector<device::Library> rows;
    for (const Asked& one : asked) rows.push_back(state_of(one));
    return rows;
}

}  // namespace xcuda::math
