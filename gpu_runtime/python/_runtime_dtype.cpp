#include "_runtime_dtype.hpp"

#include <string>

#include "_runtime_error.hpp"

namespace xcuda::python {
namespace {

DType signed_of(std::size_t size) {
    return size == 1 ? DType::i8 : size == 2 ? DType::i16 : size == 4 ? DType::i32 : DType::i64;
}
DType unsigned_of(std::size_t size) {
    return size == 1 ? DType::u8 : size == 2 ? DType::u16 : size == 4 ? DType::u32 : DType::u64;
}

}  // namespace

Format from_format(const char* format, std::size_t itemsize) {
    Format out;
    if (!format) format = "B";
    if (*format == '>' || *format == '!')
        out.swapped = itemsize > 1, ++format;
    else if (*format == '<' || *format == '=' || *format == '@')
        ++format;
    if (*format == '1' && format[1] != '\0') ++format;
    const bool complex = *format == 'Z';
    if (complex) ++format;
    if (*format == '\0' || format[1] != '\0') return out;
    switch (*format) {
        case '?': out.dtype = DType::b1; break;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
        case 'n': out.dtype = signed_of(itemsize); break;
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
        case 'N': out.dtype = unsigned_of(itemsize); break;
        case 'e': out.dtype = DType::f16; break;
        case 'f': out.dtype = complex ? DType::c64 : DType::f32; break;
        case 'd': out.dtype = complex ? DType::c128 : DType::f64; break;
        default: break;
    }
    return out;
}

const char* to_format(DType dtype) {
    switch (dtype) {
        case DType::b1: return "?";
        case DType::i8: return "b";
        case DType::i16: return "h";
        case DType::i32: return "i";
        case DType::i64: return "q";
        case DType::u8: return "B";
        case DType::u16: return "H";
        case DType::u32: return "I";
        case DType::u64: return "Q";
        case DType::f16: return "e";
        case DType::bf16: return "H";
        case DType::f8e4m3:
        case DType::f8e5m2:
        case DType::f8e8m0: return "B";
        case DType::f32: return "f";
        case DType::f64: return "d";
        case DType::c64: return "Zf";
        case DType::c128: return "Zd";
        default: return "q";  // times
    }
}

std::optional<std::uint8_t> dlpack_code(DType dtype) {
    switch (dtype) {
        case DType::bf16: return 4;
        case DType::f8e4m3: return 10;
        case DType::f8e5m2: return 12;
        case DType::f8e8m0: return 14;
        default: break;
    }
    switch (info(dtype).kind) {
        case DKind::signed_int: return 0;
        case DKind::unsigned_int: return 1;
        case DKind::floating: return 2;
        case DKind::complex: return 5;
        case DKind::boolean: return 6;
        default: return std::nullopt;
    }
}

DType dtype_named(std::string_view name) {
    const auto dtype = dtype_from_name(name);
    if (dtype) return *dtype;
    raise("TypeError",
          "device arrays can't hold " + std::string(name) +
              "; there are bool, int8 to int64, uint8 to uint64, bfloat16, float16 to float64, complex64, "
              "complex128, float8_e4m3fn, float8_e5m2, float8_e8m0fnu, and datetime64 and timedelta64 of a "
              "unit");
}

}  // namespace xcuda::python
