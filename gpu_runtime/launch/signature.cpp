#include "launch/signature.hpp"

#include <algorithm>

namespace xcuda::launch {

Extent extent(const Argument& array) {
    const auto size = static_cast<std::int64_t>(info(array.dtype).size);
    const std::int64_t unit = array.stride_unit();
    std::int64_t low = 0, high = 0;
    for (int i = 0; i < array.ndim; ++i) {
        if (array.lengths[i] == 0) {
            const auto* at = static_cast<const char*>(array.address);
            return {at, at};
        }
        const std::int64_t reach = (array.lengths[i] - 1) * array.strides[i];
        low += std::min<std::int64_t>(reach, 0);
        high += std::max<std::int64_t>(reach, 0);
    }
    const auto* base = static_cast<const char*>(array.address);
    return {base + low * unit, base + high * unit + size};
}

ir::Layout layout_of(int ndim, const std::int64_t* lengths, const std::int64_t* strides) {
    if (std::find(lengths, lengths + ndim, 0) != lengths + ndim) return ir::Layout::contiguous;
    std::int64_t expected = 1;
    bool contiguous = true;
    for (int i = ndim - 1; i >= 0; --i) {
        if (lengths[i] == 1) continue;
        if (strides[i] != expected) {
            contiguous = false;
            break;
        }
        expected *= lengths[i];
    }
    if (contiguous) return ir::Layout::contiguous;
    return strides[ndim - 1] == 1 || lengths[ndim - 1] == 1 ? ir::Layout::inner : ir::Layout::strided;
}

Signature signature(std::span<const Argument> arguments) {
    Signature keys;
    keys.reserve(arguments.size());
    for (const Argument& a : arguments) keys.push_back(key(a));
    return keys;
}

ir::Type type_of(Key key) {
    const auto dtype = static_cast<DType>(key >> 4 & 0xff);
    if ((key & 0x1u) == 0) return ir::scalar(dtype, (key & 0x2u) != 0);
    ir::Type type =
        ir::array(dtype, static_cast<int>(key >> 12 & 0xff), static_cast<ir::Layout>(key >> 20 & 0xf));
    type.wide = (key >> 24 & 1u) != 0;
    type.aligned = (key >> 25 & 1u) != 0;
    return type;
}

Key key(const ir::Type& type) {
    Argument a;
    a.is_array = type.is_array();
    a.weak = type.weak;
    a.dtype = type.dtype;
    a.ndim = static_cast<std::int8_t>(type.ndim);
    a.layout = type.layout;
    a.lengths.fill(1);  // a signature that a user writes is of arrays below 2^31 elements
    a.strides.fill(1);
    return key(a) | (type.aligned ? Key{1} << 25 : 0);
}

std::vector<ir::Type> types_of(const Signature& signature) {
    std::vector<ir::Type> types;
    types.reserve(signature.size());
    for (const Key k : signature) types.push_back(type_of(k));
    return types;
}

std::string to_string(const Signature& signature) {
    std::string text = "(";
    for (std::size_t i = 0; i < signature.size(); ++i)
        text += (i ? ", " : "") + ir::to_string(type_of(signature[i]));
    return text + ")";
}

}  // namespace xcuda::launch
