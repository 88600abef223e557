#include "launch/signature.hpp"

#include <gtest/gtest.h>

#include "base/dtype.hpp"

namespace xcuda::launch {
namespace {

Argument array(DType dtype, std::vector<std::int64_t> lengths, std::vector<std::int64_t> strides) {
    Argument a;
    a.is_array = true;
    a.dtype = dtype;
    a.ndim = static_cast<std::int8_t>(lengths.size());
    std::copy(lengths.begin(), lengths.end(), a.lengths.begin());
    std::copy(strides.begin(), strides.end(), a.strides.begin());
    a.layout = layout_of(a.ndim, a.lengths.data(), a.strides.data());
    return a;
}

TEST(Signature, LayoutsComeFromTheStrides) {
    using enum ir::Layout;
    EXPECT_EQ(array(DType::f32, {}, {}).layout, contiguous);
    EXPECT_EQ(array(DType::f32, {5}, {1}).layout, contiguous);
    EXPECT_EQ(array(DType::f32, {5}, {2}).layout, strided);
    EXPECT_EQ(array(DType::f32, {5}, {-1}).layout, strided);
    EXPECT_EQ(array(DType::f32, {5}, {0}).layout, strided);
    EXPECT_EQ(array(DType::f32, {3, 4}, {4, 1}).layout, contiguous);
    EXPECT_EQ(array(DType::f32, {3, 4}, {8, 1}).layout, inner);
    EXPECT_EQ(array(DType::f32, {3, 4}, {-4, 1}).layout, inner);
    EXPECT_EQ(array(DType::f32, {3, 4}, {1, 3}).layout, strided);
}

TEST(Signature, AxesOfLengthOneAndEmptyArraysDoNotCount) {
    using enum ir::Layout;
    EXPECT_EQ(array(DType::f32, {1, 4}, {77, 1}).layout, contiguous);
    EXPECT_EQ(array(DType::f32, {4, 1}, {1, 99}).layout, contiguous);
    EXPECT_EQ(array(DType::f32, {4, 1}, {2, 99}).layout, inner);
    EXPECT_EQ(array(DType::f32, {0, 4}, {-3, 7}).layout, contiguous);
}

TEST(Signature, KeysGiveTheTypeBack) {
    for (const DTypeInfo& d : all_dtypes()) {
        for (int ndim = 0; ndim <= max_ndim; ++ndim)
            for (const auto layout : {ir::Layout::contiguous, ir::Layout::inner, ir::Layout::strided}) {
                const ir::Type type = ir::array(d.dtype, ndim, layout);
                EXPECT_EQ(type_of(key(type)), type);
            }
        for (const bool weak : {false, true})
            EXPECT_EQ(type_of(key(ir::scalar(d.dtype, weak))), ir::scalar(d.dtype, weak));
    }
}

TEST(Signature, ReadsLikeNumba) {
    Argument n;
    n.dtype = DType::i64;
    n.weak = true;
    const std::vector<Argument> all{array(DType::f32, {3, 4}, {4, 1}), array(DType::u8, {3, 4}, {1, 3}), n};
    EXPECT_EQ(to_string(signature(all)), "(float32[:, ::1], uint8[::, ::], int64 (weak))");
    EXPECT_TRUE(matches(signature(all), all));
    EXPECT_FALSE(matches(signature(all), std::span(all).first(2)));
}

TEST(Signature, ExtentsReachBothWays) {
    float memory[100];
    Argument a = array(DType::f32, {3, 4}, {-10, 2});
    a.address = memory + 50;
    const Extent e = extent(a);
    EXPECT_EQ(e.begin, reinterpret_cast<const char*>(memory + 30));
    EXPECT_EQ(e.end, reinterpret_cast<const char*>(memory + 57));
    a = array(DType::f32, {3, 0}, {1, 1});
    a.address = memory;
    EXPECT_EQ(extent(a).begin, extent(a).end);
}

}  // namespace
}  // namespace xcuda::launch
