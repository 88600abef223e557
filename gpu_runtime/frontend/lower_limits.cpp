// What NumPy says of a dtype, known while compiling: np.finfo, np.iinfo, and a dtype's own attributes.
#include <fmt/format.h>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

namespace {

struct FloatLimits {
    DType dtype;
    double eps, epsneg, max, smallest_normal, smallest_subnormal, resolution;
    int nmant, precision;
};

template <class T>
FloatLimits limits_of(DType dtype, double resolution, int precision) {
    using L = std::numeric_limits<T>;
    return {dtype,           L::epsilon(), L::epsilon() / 2, L::max(), L::min(),
            L::denorm_min(), resolution,   L::digits - 1,    precision};
}

const std::array floats{
    FloatLimits{DType::f16, std::ldexp(1, -10), std::ldexp(1, -11), 65504, std::ldexp(1, -14),
                std::ldexp(1, -24), 1e-3, 10, 3},
    limits_of<float>(DType::f32, 1e-6, 6),
    limits_of<double>(DType::f64, 1e-15, 15),
};

Value fields_of(const std::string& name, std::vector<std::string> fields, std::vector<Value> items) {
    Value v = tuple_value(std::move(items));
    v.fields = std::move(fields);
    v.text = name;
    v.only_fields = true;
    return v;
}

}  // namespace

Value Lowering::call_limits(const Node& node, const std::string& name) {
    const Node& given = *bind(node, name, {"dtype"}, 1)[0];
    const Value of = value(given);
    std::optional<DType> dtype = dtype_from(of);
    if (!dtype && of.is_scalar()) dtype = of.expr->type.dtype;  // NumPy takes a number for its dtype
    if (!dtype) throw refused(given.place, "expected a dtype, found " + spoken(of), "write np.float32");
    const Place& place = node.place;
    Value itself;
    itself.kind = Value::Kind::dtype;
    itself.dtype = *dtype;
    const auto plain = [&](std::int64_t n) { return scalar_value(ir::int_constant(n, place)); };
    const Value bits = plain(static_cast<std::int64_t>(info(*dtype).size) * 8);
    if (name == "iinfo") {
        if (!is_integer(*dtype))
            throw refused(given.place, fmt::format("iinfo() is of integers, found {}", info(*dtype).name),
                          "write np.finfo(...)");
        const int digits = static_cast<int>(info(*dtype).size) * 8 - is_signed(*dtype);
        const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - digits);
        const auto low = is_signed(*dtype) ? -static_cast<std::int64_t>(most) - 1 : 0;
        const Value high = digits == 64 ? scalar_value(ir::constant(most, ir::scalar(DType::u64), place))
                                        : plain(static_cast<std::int64_t>(most));
        return fields_of(name, {"bits", "dtype", "max", "min"}, {bits, itself, high, plain(low)});
    }
    if (is_complex(*dtype)) itself.dtype = part_of(*dtype);
    for (const FloatLimits& f : floats) {
        if (f.dtype != itself.dtype) continue;
        const auto number = [&](double x) {
            return scalar_value(ir::constant(to_dtype(x, f.dtype), ir::scalar(f.dtype), place));
        };
        return fields_of(name,
                         {"bits", "dtype", "eps", "epsneg", "max", "min", "nmant", "precision", "resolution",
                          "smallest_normal", "smallest_subnormal", "tiny"},
                         {plain(static_cast<std::int64_t>(info(f.dtype).size) * 8), itself, number(f.eps),
                          number(f.epsneg), number(f.max), number(-f.max), plain(f.nmant), plain(f.precision),
                          number(f.resolution), number(f.smallest_normal), number(f.smallest_subnormal),
                          number(f.smallest_normal)});
    }
    throw refused(given.place,
                  fmt::format("finfo() is of floating point numbers, found {}", info(*dtype).name),
                  "write np.iinfo(...)");
}

std::optional<Value> Lowering::dtype_attribute(const Value& base, const std::string& attr,
                                               const Place& place) const {
    if (base.kind != Value::Kind::dtype || is_record_dtype(base)) return std::nullopt;
    const DType d = base.dtype;
    if (attr == "type") return base;  // A.dtype.type(0)
    if (attr == "itemsize")
        return scalar_value(ir::int_constant(static_cast<std::int64_t>(info(d).size), place));
    if (attr != "name" && attr != "kind") return std::nullopt;
    Value text;
    text.kind = Value::Kind::string;
    text.text = attr == "name" ? info(d).name : info(d).typestr.substr(1, 1);
    return text;
}

}  // namespace xcuda::frontend
