#include "tiles/instructions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <iterator>
#include <vector>

#include "ir/walk.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

struct MatrixKind {
    DType in, sum;
    int architecture;  // from which on
    const char* shape;
};
constexpr MatrixKind matrix_kinds[] = {
    {DType::f16, DType::f32, 80, "m16n8k16"},    {DType::bf16, DType::f32, 80, "m16n8k16"},
    {DType::i8, DType::i32, 80, "m16n8k32"},     {DType::u8, DType::i32, 80, "m16n8k32"},
    {DType::f8e4m3, DType::f32, 89, "m16n8k32"}, {DType::f8e5m2, DType::f32, 89, "m16n8k32"},
    {DType::f32, DType::f32, 80, "m16n8k8"},  // as TF32
    {DType::f64, DType::f64, 80, "m8n8k4"},
};

}  // namespace

std::optional<int> matrix_kind(const Function& f, const Stmt& s, const Plan& plan) {
    if (plan.products == Instructions::fma) return std::nullopt;
    const DType in = s.exprs[0]->type.dtype, sum = f.vars[static_cast<std::size_t>(s.var)].type.dtype;
    const std::int64_t depth = extents_of(*s.exprs[0]).back();
    if (depth % (32 / static_cast<std::int64_t>(info(in).size)) != 0) return std::nullopt;
    const int architecture = std::atoi(plan.target.c_str() + 3);
    for (std::size_t i = 0; i < std::size(matrix_kinds); ++i) {
        const MatrixKind& k = matrix_kinds[i];
        if (k.in == in && k.sum == sum && architecture >= k.architecture && (in != DType::f32 || plan.tf32))
            return static_cast<int>(i);
    }
    return std::nullopt;
}

std::string instruction_words(int kind) {
    const MatrixKind& k = matrix_kinds[kind];
    return fmt::format("mma.sync {}, {}", k.shape, k.in == DType::f32 ? "TF32" : info(k.in).name);
}

std::string instructions_of(const Function& f, const Plan& plan) {
    std::vector<std::string> found;
    each_stmt(f.body, [&](const Stmt& s) {
        if (s.kind != Stmt::Kind::tile || s.tile.kind != TileOp::Kind::mma) return;
        const auto kind = matrix_kind(f, s, plan);
        std::string words = kind ? instruction_words(*kind)
                                 : fmt::format("{}, {}", plan.target == "cpu" ? "vector registers" : "fma",
                                               info(s.exprs[0]->type.dtype).name);
        if (kind && *kind <= 1 && plan.products == Instructions::wgmma) words = "wgmma or " + words;
        if (std::find(found.begin(), found.end(), words) == found.end()) found.push_back(std::move(words));
    });
    return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace xcuda::tiles
