#include "tiles/tensor_memory.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/error.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

// PTX ISA, table of the instruction descriptor: what stands for a type in bits 7 to 9 and 10 to 12, for its sum in 4 and 5.
struct Format {
    DType in;
    std::uint32_t factor, sum;
};
constexpr std::uint32_t of_f32 = 1, of_s32 = 2;
constexpr Format formats[] = {
    {DType::f16, 0, of_f32}, {DType::bf16, 1, of_f32}, {DType::f32, 2, of_f32},  // as TF32
    {DType::u8, 0, of_s32},  {DType::i8, 1, of_s32},   {DType::f8e4m3, 0, of_f32}, {DType::f8e5m2, 1, of_f32},
};

const Format* format_of(DType in) {
    const auto found =
        std::find_if(std::begin(formats), std::end(formats), [&](const Format& f) { return f.in == in; });
    return found == std::end(formats) ? nullptr : found;
}

constexpr std::uint64_t encoded(std::int64_t bytes) {
    return (static_cast<std::uint64_t>(bytes) & 0x3ffff) >> 4;
}

constexpr std::int64_t eight_rows = 1024, most_registers = 128;

}  // namespace

std::uint32_t instruction_descriptor(DType in, std::int64_t rows, std::int64_t columns, bool a_across,
                                     bool b_across) {
    const Format* f = format_of(in);
    if (!f) throw bug("an instruction of tensor memory for a type that has none");
    return f->sum << 4 | f->factor << 7 | f->factor << 10 | std::uint32_t{a_across} << 15 |
           std::uint32_t{b_across} << 16 | static_cast<std::uint32_t>(columns >> 3) << 17 |
           static_cast<std::uint32_t>(rows >> 4) << 24;
}

std::uint64_t matrix_descriptor(std::int64_t next) {
    constexpr std::uint64_t constant = 1, swizzled_128 = 2;
    return encoded(next) << 16 | encoded(eight_rows) << 32 | constant << 46 | swizzled_128 << 61;
}

bool in_tensor_memory(DType in, bool a_across, bool b_across) {
    // Across it, 32-bit numbers want another swizzle, by 32 bytes.
    return format_of(in) != nullptr && (info(in).size <= 2 || (!a_across && !b_across));
}

std::int64_t tensor_width(const Extents& extents) {
    return extents[1] * std::max<std::int64_t>(1, extents[0] / 128);
}

std::optional<Layout> tensor_layout(const Extents& extents, std::int64_t threads) {
    if (extents.size() != 2 || threads % 128 != 0) return std::nullopt;
    const std::int64_t m = extents[0], n = extents[1], groups = threads / 128,
                       parts = std::max<std::int64_t>(1, m / 128);
    if ((m != 64 && m % 128 != 0) || m > 256 || n < 16 || n > 256 || !std::has_single_bit(std::uint64_t(n)) ||
        2 * tensor_width(extents) > tensor_columns || groups % parts != 0)
        return std::nullopt;
    Layout l;
    l.kind = Layout::Kind::matrix;
    l.extents = extents;
    l.threads = threads;
    l.down = 4 * parts;
    l.across = groups / parts;
    l.rows = m / l.down;
    l.columns = n / l.across;
    l.slots = l.rows * l.columns / 32;
    l.down_first = true;
    if (l.columns < 8 || l.slots > most_registers) return std::nullopt;
    return l;
}

}  // namespace xcuda::tiles
