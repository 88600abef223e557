// The numbers that tcgen05.mma is told, against values put together by hand from the PTX ISA's tables of the instruction
// descriptor and of the shared memory descriptor (9.7.16.4).
#include "tiles/tensor_memory.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "passes/build.hpp"

namespace xcuda::tiles {
namespace {

struct Form {
    DType in;
    std::int64_t rows, columns;
    bool a_across, b_across;
    std::uint32_t number;
};

TEST(TensorMemory, InstructionDescriptors) {
    // sum of float32: 1 << 4, of int32: 2 << 4; types at 7 and 10; across at 15 and 16; columns / 8 at 17; rows / 16 at 24.
    const Form forms[] = {
        {DType::f16, 128, 256, false, false, 0x08400010},  // 8 << 24, 32 << 17, 1 << 4
        {DType::f16, 64, 64, false, true, 0x04110010},     // 4 << 24, 8 << 17, 1 << 16, 1 << 4
        {DType::bf16, 128, 128, true, false,
         0x08208490},  // 8 << 24, 16 << 17, 1 << 15, 1 << 10, 1 << 7, 1 << 4
        {DType::bf16, 128, 16, true, true, 0x08058490},       // 2 << 17
        {DType::f32, 128, 256, false, false, 0x08400910},     // TF32: 2 << 10, 2 << 7
        {DType::i8, 128, 128, false, false, 0x082004a0},      // signed: 1 << 10, 1 << 7; 2 << 4
        {DType::u8, 128, 128, false, true, 0x08210020},       // unsigned: 0; 2 << 4
        {DType::f8e4m3, 128, 256, false, false, 0x08400010},  // of kind::f8f6f4 0 is e4m3
        {DType::f8e5m2, 64, 256, false, false, 0x04400490},
    };
    for (const Form& f : forms)
        EXPECT_EQ(instruction_descriptor(f.in, f.rows, f.columns, f.a_across, f.b_across), f.number)
            << info(f.in).name << " " << f.rows << " x " << f.columns;
    EXPECT_THROW(instruction_descriptor(DType::f64, 128, 128, false, false), Error);
}

TEST(TensorMemory, MatrixDescriptors) {
    // Bits 61 to 63: 2, swizzling of 128 bytes; 46 to 48: 1; 32 to 45: 1024 / 16; 16 to 29: bytes / 16.
    EXPECT_EQ(matrix_descriptor(16), 0x4000404000010000u);
    EXPECT_EQ(matrix_descriptor(64 * 128), 0x4000404002000000u);
    EXPECT_EQ(matrix_descriptor(128 * 128), 0x4000404004000000u);
    EXPECT_EQ(matrix_descriptor(16) & 0x3fff, 0u) << "where it begins is the device's to add";
}

TEST(TensorMemory, WhichFactors) {
    for (const DType in : {DType::f16, DType::bf16, DType::i8, DType::u8, DType::f8e4m3, DType::f8e5m2})
        for (const bool a : {false, true}) EXPECT_TRUE(in_tensor_memory(in, a, !a));
    EXPECT_TRUE(in_tensor_memory(DType::f32, false, false));
    EXPECT_FALSE(in_tensor_memory(DType::f32, true, false));
    EXPECT_FALSE(in_tensor_memory(DType::f32, false, true));
    EXPECT_FALSE(in_tensor_memory(DType::f64, false, false));
    EXPECT_FALSE(in_tensor_memory(DType::i32, false, false));
}

// The first row and column of each warp's part.
std::set<std::pair<std::int64_t, std::int64_t>> parts_of(const Layout& l) {
    std::set<std::pair<std::int64_t, std::int64_t>> parts;
    for (std::int64_t warp = 0; warp < l.threads / 32; ++warp) {
        const auto [row, column] = warp_place(l, ir::int_constant(warp * 32 + 5));
        parts.emplace(*passes::integer_of(row), *passes::integer_of(column));
    }
    return parts;
}

struct Tile {
    std::int64_t rows, columns, threads, of_warp_rows, of_warp_columns;
};

TEST(TensorMemory, EachWarpHasItsQuarterOfTheLanes) {
    const Tile tiles[] = {{64, 128, 128, 16, 128},  {64, 256, 256, 16, 128},  {128, 64, 128, 32, 64},
                          {128, 128, 128, 32, 128}, {128, 256, 256, 32, 128}, {256, 128, 256, 32, 128},
                          {256, 64, 256, 32, 64},   {128, 128, 256, 32, 64},  {256, 128, 512, 32, 64}};
    for (const Tile& t : tiles) {
        const auto l = tensor_layout({t.rows, t.columns}, t.threads);
        ASSERT_TRUE(l) << t.rows << " x " << t.columns;
        EXPECT_EQ(l->rows, t.of_warp_rows);
        EXPECT_EQ(l->columns, t.of_warp_columns);
        EXPECT_EQ(l->slots * t.threads, t.rows * t.columns);
        EXPECT_EQ(parts_of(*l).size(), static_cast<std::size_t>(t.threads / 32)) << "no part twice";
        for (std::int64_t warp = 0; warp < t.threads / 32; ++warp) {
            const auto [row, column] = warp_place(*l, ir::int_constant(warp * 32));
            EXPECT_EQ(*passes::integer_of(row) % std::min<std::int64_t>(t.rows, 128) / l->rows, warp % 4)
                << "a warp reads the lanes of its number alone";
        }
    }
}

TEST(TensorMemory, WhatDoesNotFit) {
    EXPECT_FALSE(tensor_layout({256, 256}, 512)) << "two of them are more than there is";
    EXPECT_FALSE(tensor_layout({128, 256}, 128)) << "256 sums a thread";
    EXPECT_FALSE(tensor_layout({256, 64}, 128)) << "rows of two instructions want eight warps";
    EXPECT_FALSE(tensor_layout({32, 128}, 128));
    EXPECT_FALSE(tensor_layout({128, 8}, 128));
    EXPECT_FALSE(tensor_layout({128, 128}, 64));
    EXPECT_FALSE(tensor_layout({2, 128, 128}, 128));
    EXPECT_EQ(tensor_width({64, 256}), 256);
    EXPECT_EQ(tensor_width({128, 64}), 64);
    EXPECT_EQ(tensor_width({256, 128}), 256);
}

}  // namespace
}  // namespace xcuda::tiles
