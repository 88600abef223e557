#include "profile/check/compared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace xcuda::profile::check {

Image::Image(std::span<const launch::Argument> arguments) {
    std::vector<std::pair<char*, char*>> pieces;
    for (const launch::Argument& a : arguments) {
        if (!a.is_array) continue;
        const launch::Extent e = launch::extent(a);
        if (e.begin != e.end) pieces.emplace_back(const_cast<char*>(e.begin), const_cast<char*>(e.end));
    }
    std::sort(pieces.begin(), pieces.end());
    for (const auto& [begin, end] : pieces) {
        if (!pieces_.empty() && begin <= pieces_.back().end)
            pieces_.back().end = std::max(pieces_.back().end, end);
        else
            pieces_.push_back({begin, end, {}});
    }
    for (Piece& p : pieces_) p.bytes.assign(p.begin, p.end);
}

void Image::put_back() const {
    for (const Piece& p : pieces_) std::memcpy(p.begin, p.bytes.data(), p.bytes.size());
}

const char* Image::at(const char* address) const {
    for (const Piece& p : pieces_)
        if (p.begin <= address && address < p.end) return p.bytes.data() + (address - p.begin);
    return nullptr;
}

namespace {

struct Difference {
    std::int64_t count = 0, rounding = 0;
    std::vector<std::int64_t> first;  // the index of the first one
    std::string before, after;
};

/// Calls `visit` with each element's address and index.
template <class Visit>
void each_element(const launch::Argument& a, Visit visit) {
    const std::int64_t n = a.elements();
    std::vector<std::int64_t> index(static_cast<std::size_t>(a.ndim), 0);
    for (std::int64_t i = 0; i < n; ++i) {
        const char* at = static_cast<const char*>(a.address);
        for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * a.strides[d] * a.stride_unit();
        visit(at, index);
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < a.lengths[d]) break;
            index[d] = 0;
        }
    }
}

std::optional<double> number_at(const char* at, DType dtype) {
    if (dtype == DType::f32) {
        float v;
        std::memcpy(&v, at, sizeof v);
        return v;
    }
    if (dtype == DType::f64) {
        double v;
        std::memcpy(&v, at, sizeof v);
        return v;
    }
    return std::nullopt;
}

std::string value_words(const char* at, DType dtype) {
    if (const auto v = number_at(at, dtype)) return std::isnan(*v) ? "nan" : fmt::format("{:.9g}", *v);
    const std::size_t size = info(dtype).size;
    if (is_integer(dtype) && size <= 8) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at, size);
        const bool negative = info(dtype).name.front() == 'i' && bits >> (size * 8 - 1) & 1;
        if (negative && size < 8) bits |= ~std::uint64_t{0} << (size * 8);
        return negative ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
    }
    return "other bits";
}

/// Where an array's values differ from those of the first run by more than their rounding.
Difference difference(const launch::Argument& a, const Image& first) {
    Difference d;
    const double tolerance = a.dtype == DType::f32 ? 1e-5 : a.dtype == DType::f64 ? 1e-12 : 0;
    double largest = 0;
    if (tolerance > 0)
        each_element(a, [&](const char* at, const auto&) {
            const double v = std::fabs(*number_at(first.at(at), a.dtype));
            if (std::isfinite(v)) largest = std::max(largest, v);
        });
    const std::size_t size = info(a.dtype).size;
    each_element(a, [&](const char* at, const std::vector<std::int64_t>& index) {
        const char* then = first.at(at);
        if (std::memcmp(at, then, size) == 0) return;
        if (tolerance > 0) {
            const double x = *number_at(then, a.dtype), y = *number_at(at, a.dtype);
            if ((std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= tolerance * largest) {
                ++d.rounding;
                return;
            }
        }
        if (d.count++ > 0) return;
        d.first = index;
        d.before = value_words(then, a.dtype);
        d.after = value_words(at, a.dtype);
    });
    return d;
}

}  // namespace

void compare(const launch::Lowered& lowered, const std::vector<std::string>& parameters,
             std::span<const launch::Argument> arguments, const Image& first, Findings& findings,
             std::vector<std::string>& notes) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!arguments[i].is_array || !lowered.writes(i)) continue;
        const Difference d = difference(arguments[i], first);
        const std::string note = fmt::format(
            "{} differs from order to order in its last digits only: sums of floats are rounded in another "
            "order",
            parameters[i]);
        if (d.count == 0) {
            if (d.rounding > 0 && std::find(notes.begin(), notes.end(), note) == notes.end())
                notes.push_back(note);
            continue;
        }
        if (findings.any_cause()) {  // that is why
            const std::string differs =
                parameters[i] + " differs from order to order, as a race or an unset element lets it";
            if (std::find(notes.begin(), notes.end(), differs) == notes.end()) notes.push_back(differs);
            continue;
        }
        Finding* f = findings.add("order-dependent", lowered.first_write(i), {}, parameters[i]);
        if (!f) continue;
        f->evidence = fmt::format(
            "{}[{}] is {} where threads and blocks run as they are numbered and {} in another order ({} "
            "element{} "
            "differ{})",
            parameters[i], fmt::join(d.first, ", "), d.before, d.after, d.count, d.count == 1 ? "" : "s",
            d.count == 1 ? "s" : "");
        f->advice =
            "let the result follow from the index alone, not from who comes first; where only the order of a "
            "list "
            "is open, sort it afterwards";
    }
}

}  // namespace xcuda::profile::check
