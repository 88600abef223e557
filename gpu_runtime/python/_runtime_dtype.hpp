// NumPy's and the buffer protocol's names of the element types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.hpp"

namespace xcuda::python {

struct Format {
    std::optional<DType> dtype;  // nothing: no element type of ours
    bool swapped = false;        // not the machine's byte order
};
/// From a PEP 3118 format; null means bytes.
Format from_format(const char* format, std::size_t itemsize);
const char* to_format(DType dtype);

/// DLPack's type code; nothing for times, which it has none of.
std::optional<std::uint8_t> dlpack_code(DType dtype);

/// By NumPy's name; a TypeError names what there is.
DType dtype_named(std::string_view name);

}  // namespace xcuda::python
