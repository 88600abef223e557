#include "base/dtype.hpp"

#include <gtest/gtest.h>

#include "ir/type.hpp"

namespace {

using namespace xcuda;

TEST(DTypes, AreFoundByNameAndTypestr) {
    for (const DTypeInfo& d : all_dtypes()) {
        EXPECT_EQ(dtype_from_name(d.name), d.dtype);
        if (d.typestr == "|V1")  // of two formats
            EXPECT_FALSE(dtype_from_typestr(d.typestr)) << d.name;
        else
            EXPECT_EQ(dtype_from_typestr(d.typestr), d.dtype) << d.name;
        EXPECT_EQ(info(d.dtype).name, d.name);
    }
    EXPECT_EQ(dtype_from_typestr("=f4"), DType::f32);
    EXPECT_EQ(dtype_from_typestr("<i1"), DType::i8);
    EXPECT_FALSE(dtype_from_typestr(">f4"));
    EXPECT_FALSE(dtype_from_typestr("f4"));
    EXPECT_FALSE(dtype_from_name("float80"));
}

TEST(DTypes, PromoteAsNumPy) {
    EXPECT_EQ(promote(DType::i32, DType::f32), DType::f64);
    EXPECT_EQ(promote(DType::i16, DType::f32), DType::f32);
    EXPECT_EQ(promote(DType::i64, DType::u64), DType::f64);
    EXPECT_EQ(promote(DType::i8, DType::u8), DType::i16);
    EXPECT_EQ(promote(DType::b1, DType::u16), DType::u16);
    EXPECT_EQ(promote(DType::f16, DType::i16), DType::f32);
    EXPECT_EQ(promote(DType::f16, DType::i8), DType::f16);
    EXPECT_EQ(promote(DType::bf16, DType::f16), DType::f32);
    EXPECT_EQ(promote(DType::c64, DType::f64), DType::c128);
    EXPECT_EQ(promote(DType::c64, DType::i8), DType::c64);
    EXPECT_EQ(promote(DType::f8e4m3, DType::f8e5m2), DType::f32);
    EXPECT_EQ(promote(DType::f8e4m3, DType::bf16), DType::bf16);
    EXPECT_EQ(promote(DType::f8e5m2, DType::i8), DType::f8e5m2);
    EXPECT_EQ(promote(DType::f8e5m2, DType::i16), DType::f32);
    for (const DTypeInfo& a : all_dtypes())
        for (const DTypeInfo& b : all_dtypes()) {
            EXPECT_EQ(promote(a.dtype, b.dtype), promote(b.dtype, a.dtype));
            EXPECT_EQ(promote(a.dtype, promote(a.dtype, b.dtype)), promote(a.dtype, b.dtype))
                << a.name << b.name;
        }
}

TEST(Types, JoinPythonNumbersWeakly) {
    using ir::join;
    using ir::scalar;
    const auto weak = [](DType d) { return scalar(d, true); };
    EXPECT_EQ(join(weak(DType::f64), scalar(DType::f32)), scalar(DType::f32));
    EXPECT_EQ(join(scalar(DType::u8), weak(DType::i64)), scalar(DType::u8));
    EXPECT_EQ(join(scalar(DType::i32), weak(DType::f64)), scalar(DType::f64));
    EXPECT_EQ(join(scalar(DType::b1), weak(DType::i64)), scalar(DType::i64));
    EXPECT_EQ(join(weak(DType::b1), weak(DType::i64)), weak(DType::i64));
    EXPECT_TRUE(join(scalar(DType::f32), ir::array(DType::f32, 1)).is_none());
}

TEST(Types, AreSpokenAsTheUserWouldWriteThem) {
    EXPECT_EQ(ir::to_string(ir::array(DType::f32, 2)), "float32[:, ::1]");
    EXPECT_EQ(ir::to_string(ir::array(DType::f64, 1, ir::Layout::strided)), "float64[::]");
    EXPECT_EQ(ir::to_string(ir::array(DType::f64, 1, ir::Layout::contiguous, true)), "readonly float64[::1]");
    EXPECT_EQ(ir::to_string(ir::fixed_array(DType::f32, {16, 16}, ir::Space::shared)),
              "shared float32[16, 16]");
    EXPECT_EQ(ir::to_string(ir::scalar(DType::i64, true)), "int64 (weak)");
}

}  // namespace
