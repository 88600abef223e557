#include "emit/apart.hpp"

#include <fmt/format.h>

namespace xcuda::emit {

using namespace ir;

namespace {

// From the first byte to behind the last one, axis by axis: prelude_cuda.cuh.
std::string bytes_of(Writer& w, const ExprP& array) {
    const Type& t = array->type;
    const std::string& name = w.name(var_of(*array));
    std::string text = fmt::format("xc_bytes{{(u64){0}, (u64){0} + sizeof(*{0})}}", name);
    const auto along = [&](const std::string& n, const std::string& stride) {
        return fmt::format(".along({}, (i64)sizeof(*{}) * {})", n, name, stride);
    };
    std::string all;
    for (int d = 0; d < t.ndim; ++d) {
        const std::string n = w.expr(*dim(array, d));
        if (t.layout == Layout::contiguous)
            all += (d ? " * " : "") + n;
        else
            text += along(n, w.expr(*dim(array, d + t.ndim)));
    }
    return all.empty() ? text : text + along(all, "1");
}

}  // namespace

std::string apart(Writer& w, const Expr& e) {
    return fmt::format("xc_apart({}, {})", bytes_of(w, e.args[0]), bytes_of(w, e.args[1]));
}

}  // namespace xcuda::emit
