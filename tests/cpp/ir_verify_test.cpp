#include "ir/verify.hpp"

#include <gtest/gtest.h>

#include "ir/print.hpp"

namespace {

using namespace xcuda;
using namespace xcuda::ir;

const Type f32 = scalar(DType::f32), i64 = scalar(DType::i64);

// def k(a: float32[::1], x: float32): a[0] = x
Module module_of(Body body) {
    Function f;
    f.name = "k";
    f.params = {f.add({"a", array(DType::f32, 1), Var::Role::parameter, {}, false}),
                f.add({"x", f32, Var::Role::parameter, {}, false})};
    f.body = std::move(body);
    Module m;
    m.functions.push_back(std::move(f));
    return m;
}

ExprP a() { return var(0, array(DType::f32, 1)); }
ExprP x() { return var(1, f32); }

std::string breach(Body body, Stage stage = Stage::typed) {
    try {
        verify(module_of(std::move(body)), stage, "a test");
    } catch (const Error& e) {
        EXPECT_EQ(e.fault, Fault::internal);
        return e.what();
    }
    return "none";
}

TEST(Verify, AcceptsWhatIsRight) {
    EXPECT_EQ(breach({store(a(), {int_constant(0)}, make(Op::add, f32, {x(), x()}), {})}), "none");
    EXPECT_EQ(breach({branch(make(Op::lt, scalar(DType::b1), {x(), x()}), {simple(Stmt::Kind::leave)})}),
              "none");
}

TEST(Verify, NamesFunctionNodeAndRule) {
    const std::string said = breach({assign(1, make(Op::add, f32, {x(), int_constant(1)}))});
    EXPECT_EQ(said, "a bug in xcuda: after a test, in k(): x + 1: its arguments are of its own type");
}

TEST(Verify, RefusesEachBreach) {
    const auto says = [](Body body, const char* rule) {
        const std::string said = breach(std::move(body));
        EXPECT_NE(said.find(rule), std::string::npos) << said;
    };
    says({assign(1, make(Op::truediv, i64, {int_constant(1), int_constant(2)}))},
         "true division gives a floating or complex type");
    says({assign(1, make(Op::shl, f32, {x(), x()}))}, "bits belong to integers");
    says({assign(1, make(Op::lt, f32, {x(), x()}))}, "a comparison is a bool");
    says({assign(1, make(Op::neg, f32, {x(), x()}))}, "the number of its arguments");
    says({assign(1, var(7, f32))}, "a variable is one of the function's");
    says({assign(1, var(1, i64))}, "a variable is read with its declared type");
    says({assign(1, int_constant(1))}, "a value has its variable's type");
    says({assign(9, x())}, "its variable is known");
    says({branch(x(), {})}, "its condition is a bool");
    says({simple(Stmt::Kind::break_loop)}, "it stands in a loop");
    says({store(a(), {}, x(), {})}, "it has one index an axis");
    says({store(a(), {x()}, x(), {})}, "its indices are integers");
    says({store(a(), {int_constant(0)}, int_constant(0), {})}, "a value has its array's dtype");
    Access checked;
    checked.checked = 1;
    says({store(a(), {int_constant(0)}, x(), checked)}, "a checked access has a site");
    says({assign(1, make(Op::load, f32, {a(), int_constant(0)}))}, "a load says how it is indexed");
    says({simple(Stmt::Kind::fault)}, "it has a site");
    says({simple(Stmt::Kind::poll)}, "it belongs after the CPU passes");
    says({assign(1, make(Op::splat, f32, {x()}))}, "it belongs after the CPU passes");
    says({assign(1, constant(std::int64_t{1}, f32))}, "a constant's number is of its type");
    says({assign(1, dim(a(), 2))}, "a length is of one of the array's axes");
}

TEST(Print, ReadsLikePython) {
    Access access;
    access.checked = 1;
    access.wrap = 1;
    ir::Expr load = *make(Op::load, f32, {a(), int_constant(-1)});
    load.payload = access;
    const Module m = module_of({assign(1, std::make_shared<const Expr>(load))});
    EXPECT_EQ(to_string(m), "kernel k(a: float32[::1], x: float32):\n    x = a[~-1!]\n");
}

}  // namespace
