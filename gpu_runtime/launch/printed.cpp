#include "launch/printed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/float8.hpp"
#include "base/time_unit.hpp"
#include "device/device.hpp"

namespace xcuda::launch {
namespace {

// The fewest digits that still mean this number, as "d.ddde+XX".
std::string shortest(float x) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific).ptr};
}
std::string shortest(double x) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific).ptr};
}

double half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? fraction ? std::nan("") : INFINITY
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

std::string shortest_half(std::uint16_t bits) {
    const double x = half_value(bits);
    const double below = (x + half_value(bits - 1)) / 2;
    // Neighbours towards zero and away from it; the bounds between them and this one belong to whose last bit is even.
    const double above = (bits & 0x7fff) == 0x7bff ? x + (x - below) : (x + half_value(bits + 1)) / 2;
    for (int digits = 0; digits < 6; ++digits) {
        const std::string text = fmt::format("{:.{}e}", x, digits);
        const double read = std::fabs(std::strtod(text.c_str(), nullptr));
        const double low = (bits & 0x7fff) == 0 ? 0 : std::fabs(below), high = std::fabs(above);
        const bool even = !(bits & 1);
        if (even ? read >= low && read <= high : read > low && read < high) return text;
    }
    return fmt::format("{:.6e}", x);
}

// Python's repr of a float from its digits and exponent.
std::string laid_out(const std::string& scientific) {
    const bool negative = scientific[0] == '-';
    const auto e = scientific.find('e');
    const int exponent = std::atoi(scientific.c_str() + e + 1);
    std::string digits;
    for (const char c : scientific.substr(0, e))
        if (c >= '0' && c <= '9') digits += c;
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    std::string text;
    if (exponent < -4 || exponent >= 16) {
        text = digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") +
               fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
    } else if (exponent < 0) {
        text = "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    } else {
        const auto whole = static_cast<std::size_t>(exponent) + 1;
        if (digits.size() < whole) digits.resize(whole, '0');
        text = digits.substr(0, whole) + "." + (digits.size() > whole ? digits.substr(whole) : "0");
    }
    return (negative ? "-" : "") + text;
}

template <class T>
std::string real(T x, const std::string& scientific) {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
    return laid_out(scientific);
}

// As ml_dtypes shows its numbers: six digits at most.
std::string short_real(double x) {
    if (std::isnan(x)) return "nan";
    return fmt::format("{:g}", x);
}

// A format's marks: \x01 and a letter for each dtype (see frontend/lower_print).
std::string record_text(const std::string& format, const std::uint64_t* values, std::uint64_t count) {
    std::string text;
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '\x01' || i + 1 == format.size()) {
            text += format[i];
            continue;
        }
        const char mark = format[++i];
        if (mark == '\x01')
            text += mark;
        else if (next < count)
            text += printed_number(values[next++], static_cast<DType>(mark - 'A'));
    }
    return text;
}

struct Record {
    std::uint64_t block;
    const std::uint64_t* at;
};

}  // namespace

std::string printed_number(std::uint64_t bits, DType dtype) {
    const auto low = [&](auto zero) { return static_cast<decltype(zero)>(bits); };
    switch (dtype) {
        case DType::b1: return (bits & 1) ? "True" : "False";
        case DType::i8: return std::to_string(low(std::int8_t{}));
        case DType::i16: return std::to_string(low(std::int16_t{}));
        case DType::i32: return std::to_string(low(std::int32_t{}));
        case DType::i64: return std::to_string(low(std::int64_t{}));
        case DType::u8: return std::to_string(low(std::uint8_t{}));
        case DType::u16: return std::to_string(low(std::uint16_t{}));
        case DType::u32: return std::to_string(low(std::uint32_t{}));
        case DType::u64: return std::to_string(bits);
        case DType::f16: return real(half_value(low(std::uint16_t{})), shortest_half(low(std::uint16_t{})));
        case DType::f32: {
            const auto x = std::bit_cast<float>(low(std::uint32_t{}));
            return real(x, shortest(x));
        }
        case DType::f64: {
            const auto x = std::bit_cast<double>(bits);
            return real(x, shortest(x));
        }
        case DType::bf16: return short_real(std::bit_cast<float>(low(std::uint32_t{}) << 16));
        case DType::f8e4m3:
        case DType::f8e5m2:
        case DType::f8e8m0: return short_real(float8_value(low(std::uint8_t{}), dtype));
        default: return is_time(dtype) ? time_text(static_cast<std::int64_t>(bits), dtype) : "?";
    }
}

std::string printed_text(const std::uint64_t* buffer, std::span<const ir::Site> sites, bool as_they_came) {
    device::PrintBuffer head;
    std::copy_n(buffer, sizeof head / 8, reinterpret_cast<std::uint64_t*>(&head));
    const std::uint64_t* words = buffer + sizeof head / 8;
    const std::uint64_t end = std::min(head.next, head.end);
    std::vector<Record> records;
    for (std::uint64_t at = 0; at < end;) {
        const std::uint64_t size = words[at] >> 32;
        if (size < 2 || at + size > end) break;
        records.push_back({words[at + 1], words + at});
        at += size;
    }
    if (!as_they_came)
        std::stable_sort(records.begin(), records.end(),
                         [](const Record& a, const Record& b) { return a.block < b.block; });
    std::string text;
    for (const Record& r : records) {
        const auto site = static_cast<std::uint32_t>(r.at[0]);
        if (site < sites.size()) text += record_text(sites[site].message, r.at + 2, (r.at[0] >> 32) - 2);
    }
    if (head.lost)
        text += fmt::format(
            "[{} more print() call{} did not fit into the {} bytes of a launch's print buffer: set "
            "XCUDA_PRINT_BYTES to more, or print less]\n",
            head.lost, head.lost == 1 ? "" : "s", head.capacity * 8);
    return text;
}

}  // namespace xcuda::launch
