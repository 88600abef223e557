// Each kernel is the IR of a few lines of Python, told above it; the figures are counted by hand.
#include "passes/cost.hpp"

#include <gtest/gtest.h>

#include <map>

namespace xcuda::passes {
namespace {

using namespace ir;

const Type f32 = scalar(DType::f32), i64 = scalar(DType::i64, true), boolean = scalar(DType::b1);

/// A kernel under construction, and the lengths of its arrays.
struct Kernel {
    Module module{{Function{}}, {}, {}};
    std::map<int, std::vector<double>> lengths;
    std::map<int, double> numbers;
    double grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};

    ExprP array(const char* name, std::vector<double> shape, DType dtype = DType::f32) {
        auto& f = module.kernel();
        const Type type = ir::array(dtype, static_cast<int>(shape.size()));
        lengths[static_cast<int>(f.params.size())] = shape;
        f.params.push_back(f.add({name, type, Var::Role::parameter, {}}));
        return var(f.params.back(), type);
    }
    ExprP scalar_parameter(const char* name, double value) {
        auto& f = module.kernel();
        numbers[static_cast<int>(f.params.size())] = value;
        f.params.push_back(f.add({name, i64, Var::Role::parameter, {}}));
        return var(f.params.back(), i64);
    }
    ExprP local(const char* name, Type type) {
        return var(module.kernel().add({name, type, Var::Role::local, {}}), type);
    }

    Cost cost() {
        CostInputs in;
        in.length = [this](int p, int axis) -> std::optional<double> { return lengths.at(p).at(axis); };
        in.value = [this](int p) -> std::optional<double> {
            return numbers.contains(p) ? std::optional(numbers[p]) : std::nullopt;
        };
        in.elements = [this](int p) {
            double n = 1;
            for (double l : lengths.at(p)) n *= l;
            return n;
        };
        for (int a = 0; a < 3; ++a) in.grid[a] = grid[a], in.block[a] = block[a];
        return passes::cost(module, in);
    }
};

ExprP op(Op o, Type t, ExprP a, ExprP b) { return make(o, t, {a, b}); }
ExprP global(int axis) { return coord(Coord::Kind::global, axis); }
ExprP thread(int axis) { return coord(Coord::Kind::thread, axis); }
ExprP load(ExprP a, std::vector<ExprP> at) {
    at.insert(at.begin(), a);
    return std::make_shared<const Expr>(Expr{Op::load, scalar(a->type.dtype), {}, std::move(at), Access{}});
}
ExprP less(ExprP a, ExprP b) { return op(Op::lt, boolean, a, b); }
ExprP both(ExprP a, ExprP b) { return op(Op::logic_and, boolean, a, b); }
ExprP real(double x) { return constant(x, f32); }

// i, j = grid(2); if i < C.shape[0] and j < C.shape[1]: t = 0; for k in range(A.shape[1]): t += A[i,k]*B[k,j]; C[i,j] = t
Kernel matmul(double m, double n, double k) {
    Kernel kernel;
    auto A = kernel.array("A", {m, k}), B = kernel.array("B", {k, n}), C = kernel.array("C", {m, n});
    auto i = kernel.local("i", i64), j = kernel.local("j", i64), kk = kernel.local("k", i64),
         t = kernel.local("t", f32);
    auto sum = op(Op::add, f32, t, op(Op::mul, f32, load(A, {i, kk}), load(B, {kk, j})));
    kernel.module.kernel().body = {assign(var_of(*i), global(0)), assign(var_of(*j), global(1)),
                                   branch(both(less(i, dim(C, 0)), less(j, dim(C, 1))),
                                          {assign(var_of(*t), real(0)),
                                           loop_range(var_of(*kk), int_constant(0), dim(A, 1),
                                                      int_constant(1), {assign(var_of(*t), sum)}),
                                           store(C, {i, j}, t, {})})};
    return kernel;
}

TEST(Cost, MatmulCountsTheGuardedDomainOnly) {
    auto kernel = matmul(100, 50, 30);
    kernel.block[0] = kernel.block[1] = 16;
    kernel.grid[0] = 7, kernel.grid[1] = 4;  // 112 x 64 threads for 100 x 50 elements
    const Cost c = kernel.cost();
    EXPECT_DOUBLE_EQ(c.flops, 2.0 * 100 * 50 * 30);
    EXPECT_DOUBLE_EQ(c.bytes_read, 4.0 * (100 * 30 + 30 * 50));
    EXPECT_DOUBLE_EQ(c.bytes_written, 4.0 * 100 * 50);
    EXPECT_TRUE(c.complete);
}

TEST(Cost, EarlyReturnIsAGuardToo) {
    Kernel kernel;  // i = blockIdx.x * blockDim.x + threadIdx.x; if i >= x.size: return; x[i] = x[i] + 1
    auto x = kernel.array("x", {1000});
    auto i = kernel.local("i", i64);
    kernel.module.kernel().body = {
        assign(var_of(*i), op(Op::add, i64,
                              op(Op::mul, i64, coord(Coord::Kind::block, 0), coord(Coord::Kind::block_dim, 0)),
                              thread(0))),
        branch(op(Op::ge, boolean, i, dim(x, 0)), {simple(Stmt::Kind::leave)}),
        store(x, {i}, op(Op::add, f32, load(x, {i}), real(1)), {})};
    kernel.block[0] = 256, kernel.grid[0] = 4;
    const Cost c = kernel.cost();
    EXPECT_DOUBLE_EQ(c.flops, 1000);
    EXPECT_DOUBLE_EQ(c.bytes_read, 4000);
    EXPECT_DOUBLE_EQ(c.bytes_written, 4000);
    EXPECT_TRUE(c.complete);
}

TEST(Cost, GridStrideLoopCoversEachElementOnce) {
    for (const double n : {100.0, 1000.0, 1048576.0}) {
        Kernel kernel;  // for i in range(grid(1), x.size, gridsize(1)): x[i] = x[i] * 2
        auto x = kernel.array("x", {n});
        auto i = kernel.local("i", i64);
        kernel.module.kernel().body = {
            loop_range(var_of(*i), global(0), dim(x, 0), coord(Coord::Kind::grid_size, 0),
                       {store(x, {i}, op(Op::mul, f32, load(x, {i}), real(2)), {})})};
        kernel.block[0] = 128, kernel.grid[0] = 8;
        const Cost c = kernel.cost();
        EXPECT_NEAR(c.flops, n, 1e-6 * n);
        EXPECT_NEAR(c.bytes_written, 4 * n, 1e-5 * n);
    }
}

TEST(Cost, StencilReadsTheArrayOnceNotThreeTimes) {
    Kernel kernel;  // if 0 < i and i < n - 1: y[i] = x[i-1] + x[i] + x[i+1]
    auto x = kernel.array("x", {1024}), y = kernel.array("y", {1024});
    auto i = global(0);
    auto at = [&](int d) { return load(x, {op(Op::add, i64, i, int_constant(d))}); };
    kernel.module.kernel().body = {
        branch(both(less(int_constant(0), i), less(i, op(Op::sub, i64, dim(x, 0), int_constant(1)))),
               {store(y, {i}, op(Op::add, f32, op(Op::add, f32, at(-1), at(0)), at(1)), {})})};
    kernel.block[0] = 128, kernel.grid[0] = 8;
    const Cost c = kernel.cost();
    EXPECT_DOUBLE_EQ(c.flops, 2 * 1022);
    EXPECT_DOUBLE_EQ(c.bytes_read, 4 * 1024);
    EXPECT_DOUBLE_EQ(c.bytes_written, 4 * 1022);
}

TEST(Cost, WhileOverKnownNumbersIsFollowed) {
    Kernel kernel;  // s = blockDim.x // 2; while s > 0: (if tx < s: sh[tx] = sh[tx] + sh[tx + s]); barrier; s = s // 2
    const Type tile = fixed_array(DType::f32, {256}, Space::shared);
    auto sh = var(kernel.module.kernel().add({"sh", tile, Var::Role::shared, {}}), tile);
    auto s = kernel.local("s", i64);
    auto half = [&](ExprP v) { return op(Op::floordiv, i64, v, int_constant(2)); };
    kernel.module.kernel().body = {assign(var_of(*s), half(coord(Coord::Kind::block_dim, 0)))};
    Stmt loop = simple(Stmt::Kind::loop_while);
    loop.exprs = {op(Op::gt, boolean, s, int_constant(0))};
    loop.body = {
        branch(
            less(thread(0), s),
            {store(sh, {thread(0)},
                   op(Op::add, f32, load(sh, {thread(0)}), load(sh, {op(Op::add, i64, thread(0), s)})), {})}),
        simple(Stmt::Kind::barrier), assign(var_of(*s), half(s))};
    kernel.module.kernel().body.push_back(loop);
    kernel.block[0] = 256, kernel.grid[0] = 10;
    const Cost c = kernel.cost();
    EXPECT_DOUBLE_EQ(c.flops, 10 * 255);
    EXPECT_DOUBLE_EQ(c.bytes_read + c.bytes_written, 0);  // shared memory is not global traffic
    EXPECT_TRUE(c.complete);
}

TEST(Cost, DataDependentBranchIsHalvedAndSaidSo) {
    Kernel kernel;  // if x[i] > 0: x[i] = x[i] * 2
    auto x = kernel.array("x", {512});
    auto i = global(0);
    kernel.module.kernel().body = {branch(op(Op::gt, boolean, load(x, {i}), real(0)),
                                          {store(x, {i}, op(Op::mul, f32, load(x, {i}), real(2)), {})})};
    kernel.block[0] = 128, kernel.grid[0] = 4;
    const Cost c = kernel.cost();
    EXPECT_FALSE(c.complete);
    EXPECT_DOUBLE_EQ(c.flops, 256);
    EXPECT_DOUBLE_EQ(c.bytes_read, 2048);
    EXPECT_DOUBLE_EQ(c.bytes_written, 1024);
}

TEST(Cost, TriangularLoopTakesTheMeanTripCount) {
    Kernel kernel;  // t = 0; for k in range(i): t += x[k]
    auto x = kernel.array("x", {128});
    auto k = kernel.local("k", i64), t = kernel.local("t", f32);
    kernel.module.kernel().body = {assign(var_of(*t), real(0)),
                                   loop_range(var_of(*k), int_constant(0), global(0), int_constant(1),
                                              {assign(var_of(*t), op(Op::add, f32, t, load(x, {k})))})};
    kernel.block[0] = 128;
    EXPECT_DOUBLE_EQ(kernel.cost().flops, 128 * 127 / 2);
}

TEST(Cost, ScalarArgumentsAreLoopBounds) {
    Kernel kernel;  // t = 1; for k in range(n): t = t * 2
    auto n = kernel.scalar_parameter("n", 12);
    auto k = kernel.local("k", i64), t = kernel.local("t", f32);
    kernel.module.kernel().body = {assign(var_of(*t), real(1)),
                                   loop_range(var_of(*k), int_constant(0), n, int_constant(5),
                                              {assign(var_of(*t), op(Op::mul, f32, t, real(2)))})};
    EXPECT_DOUBLE_EQ(kernel.cost().flops, 3);  // 0, 5, 10
}

TEST(Cost, AtomicReadsAndWritesNoMoreThanTheArray) {
    Kernel kernel;  // atomic.add(h, x[i], 1)
    auto x = kernel.array("x", {4096}, DType::i32), h = kernel.array("h", {16}, DType::i32);
    auto add = std::make_shared<const Expr>(
        Expr{Op::atomic,
             scalar(DType::i32),
             {},
             {h, load(x, {global(0)}), constant(std::int64_t{1}, scalar(DType::i32))},
             Atomic{Atomic::Kind::add, {}}});
    kernel.module.kernel().body = {evaluate(add)};
    kernel.block[0] = 256, kernel.grid[0] = 16;
    const Cost c = kernel.cost();
    EXPECT_DOUBLE_EQ(c.flops, 0);
    EXPECT_DOUBLE_EQ(c.bytes_read, 4 * (4096 + 16));
    EXPECT_DOUBLE_EQ(c.bytes_written, 4 * 16);
}

TEST(Cost, HelperFunctionsCountAtTheirCall) {
    Kernel kernel;  // def sq(v): return v * v      x[i] = sq(x[i])
    auto x = kernel.array("x", {64});
    Function sq;
    sq.name = "sq", sq.is_kernel = false, sq.result = f32;
    sq.params = {sq.add({"v", f32, Var::Role::parameter, {}})};
    Stmt give = simple(Stmt::Kind::leave);
    give.exprs = {op(Op::mul, f32, var(0, f32), var(0, f32))};
    sq.body = {give};
    kernel.module.functions.push_back(sq);
    auto call =
        std::make_shared<const Expr>(Expr{Op::invoke, f32, {}, {load(x, {global(0)})}, FunctionId{1}});
    kernel.module.kernel().body = {store(x, {global(0)}, call, {})};
    kernel.block[0] = 64;
    EXPECT_DOUBLE_EQ(kernel.cost().flops, 64);
}

TEST(Cost, NothingLaunchedCostsNothing) {
    auto kernel = matmul(0, 50, 30);
    kernel.grid[0] = 0;
    const Cost c = kernel.cost();
    EXPECT_DOUBLE_EQ(c.flops + c.bytes_read + c.bytes_written, 0);
}

}  // namespace
}  // namespace xcuda::passes
