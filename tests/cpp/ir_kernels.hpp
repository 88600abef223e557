// Small kernels as typed IR, for tests of the passes: what the front end makes of a few lines of Python.
#pragma once

#include "ir/module.hpp"
#include "passes/build.hpp"

namespace xcuda::test {

using namespace xcuda::ir;
using namespace xcuda::passes;

struct Builder {
    Module module;
    Function& f;
    Place place{"cell", 1, 0, 1, 1};

    Builder() : f(module.functions.emplace_back()) {
        f.name = "k";
        module.sites.push_back({});
    }

    VarId parameter(const char* name, Type type) {
        const VarId id = f.add({name, std::move(type), Var::Role::parameter, place});
        f.params.push_back(id);
        return id;
    }
    VarId local(const char* name, Type type) {
        return f.add({name, std::move(type), Var::Role::local, place});
    }
    ExprP read(VarId id) const { return var(id, f.vars[static_cast<std::size_t>(id)].type); }
    ExprP load(VarId array, std::vector<ExprP> indices, std::uint8_t checked = 0xff) const {
        const Type& type = f.vars[static_cast<std::size_t>(array)].type;
        std::vector<ExprP> args{read(array)};
        for (ExprP& i : indices) args.push_back(std::move(i));
        auto node = std::make_shared<Expr>(*make(Op::load, scalar(type.dtype), std::move(args), place));
        node->payload = access(type.ndim, checked);
        return node;
    }
    Stmt put(VarId array, std::vector<ExprP> indices, ExprP value, std::uint8_t checked = 0xff) const {
        const int ndim = f.vars[static_cast<std::size_t>(array)].type.ndim;
        return store(read(array), std::move(indices), std::move(value), access(ndim, checked), place);
    }
    static Access access(int ndim, std::uint8_t checked) {
        const auto axes = static_cast<std::uint8_t>(checked & ((1u << ndim) - 1));
        return {0, axes, axes};
    }
};

inline ExprP global(int axis) { return coord(Coord::Kind::global, axis); }
inline Type integer() { return scalar(DType::i64, true); }

// if i < y.size: y[i] = x[i + shift] * 2
inline Module shifted_copy(std::int64_t shift) {
    Builder b;
    const VarId y = b.parameter("y", array(DType::f32, 1)), x = b.parameter("x", array(DType::f32, 1));
    const VarId i = b.local("i", integer());
    b.f.body.push_back(assign(i, global(0), b.place));
    const ExprP from = make(Op::add, integer(), {b.read(i), int_constant(shift)});
    const ExprP value =
        make(Op::mul, scalar(DType::f32), {b.load(x, {from}), constant(2.0, scalar(DType::f32))});
    Body inner;
    inner.push_back(b.put(y, {b.read(i)}, value));
    b.f.body.push_back(branch(compare(Op::lt, b.read(i), dim(b.read(y), 0)), std::move(inner), {}, b.place));
    return b.module;
}

// The article's matrix_multiply.
inline Module matrix_multiply() {
    Builder b;
    const Type matrix = array(DType::f32, 2), number = scalar(DType::f32);
    const VarId A = b.parameter("A", matrix), B = b.parameter("B", matrix), C = b.parameter("C", matrix);
    const VarId i = b.local("i", integer()), j = b.local("j", integer()), k = b.local("k", integer());
    const VarId t = b.local("temp", number);
    b.f.body.push_back(assign(i, global(0), b.place));
    b.f.body.push_back(assign(j, global(1), b.place));
    Body loop, inner;
    loop.push_back(assign(
        t, make(Op::add, number,
                {b.read(t), make(Op::mul, number,
                                 {b.load(A, {b.read(i), b.read(k)}), b.load(B, {b.read(k), b.read(j)})})})));
    inner.push_back(assign(t, constant(0.0, number)));
    inner.push_back(
        loop_range(k, int_constant(0), dim(b.read(A), 1), int_constant(1), std::move(loop), b.place));
    inner.push_back(b.put(C, {b.read(i), b.read(j)}, b.read(t)));
    b.f.body.push_back(branch(
        both(compare(Op::lt, b.read(i), dim(b.read(C), 0)), compare(Op::lt, b.read(j), dim(b.read(C), 1))),
        std::move(inner), {}, b.place));
    return b.module;
}

}  // namespace xcuda::test
