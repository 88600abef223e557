#include "tiles/instructions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
    const char* early = nullptr;  // what sm_75 makes it of
};
constexpr MatrixKind matrix_kinds[] = {
    {DType::f16, DType::f32, 75, "m16n8k16", "m16n8k8"},
    {DType::bf16, DType::f32, 80, "m16n8k16"},
    {DType::i8, DType::i32, 75, "m16n8k32", "m8n8k16"},
    {DType::u8, DType::i32, 75, "m16n8k32", "m8n8k16"},
    {DType::f8e4m3, DType::f32, 89, "m16n8k32"},
    {DType::f8e5m2, DType::f32, 89, "m16n8k32"},
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

bool is_for_four_warps(int kind, bool a_turned, bool b_turned) {
    const DType in = matrix_kinds[kind].in;
    return in != DType::f64 && (info(in).size == 2 || (!a_turned && b_turned));
}

bool by_four_warps(const Function& lowered) {
    bool found = false;
    each_stmt(lowered.body, [&](const Stmt& s) {
        found |= s.kind == Stmt::Kind::machine &&
                 (s.text.starts_with("xc_tile_wgmma") || s.text.starts_with("xc_tile_flow_take<"));
    });
    return found;
}

namespace {

// "mma.sync m16n8k16, float16" of "xc_tile_mma<0, 32, 64, ...>"; empty for a statement that multiplies nothing.
std::string words_of(const std::string& machine, const Plan& plan) {
    const auto open = machine.find('<');
    if (open == std::string::npos) return {};
    const std::string name = machine.substr(0, open);
    const bool held = name.ends_with("_held");
    const bool four = name.starts_with("xc_tile_wgmma") || name == "xc_tile_flow_take";
    const bool one = name == "xc_tile_tensor_mma" || name == "xc_tile_tensor_now";
    if (!four && !one && name != "xc_tile_mma" && name != "xc_tile_mma_held") return {};
    const char* const from = held && machine.ends_with(", 0>")
                                 ? " from registers, beside the next turn's first"
                             : held                               ? " from registers"
                             : one || name == "xc_tile_flow_take" ? " from bulk tensor copies"
                                                                  : "";
    const MatrixKind& k = matrix_kinds[std::atoi(machine.c_str() + open + 1)];
    const std::string type = k.in == DType::f32 ? "TF32" : std::string(info(k.in).name);
    if (!four && !one)
        return fmt::format("mma.sync {}, {}{}", plan.target == "sm_75" ? k.early : k.shape, type, from);
    const auto second = machine.find(',');
    const int columns = std::atoi(machine.c_str() + second + 1);
    if (one) {
        const int rows = std::min(columns, 128),
                  n = std::atoi(machine.c_str() + machine.find(',', second + 1) + 1);
        return fmt::format("tcgen05.mma m{}n{}k{}, {}{}", rows, n, 32 / info(k.in).size, type, from);
    }
    return fmt::format("wgmma m64n{}k{}, {}{}", columns, 32 / info(k.in).size, type, from);
}

}  // namespace

std::string instructions_of(const Function& programs, const Function& lowered, const Plan& plan) {
    std::vector<std::string> found;
    const auto add = [&](std::string words) {
        if (!words.empty() && std::find(found.begin(), found.end(), words) == found.end())
            found.push_back(std::move(words));
    };
    each_stmt(lowered.body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::machine) add(words_of(s.text, plan));
    });
    each_stmt(programs.body, [&](const Stmt& s) {
        if (is_product(s) && plan.blas)
            add(fmt::format("OpenBLAS, {}", info(s.exprs[0]->type.dtype).name));
        else if (is_product(s) && !matrix_kind(programs, s, plan))
            add(fmt::format("{}, {}", plan.target == "cpu" ? "vector registers" : "fma",
                            info(s.exprs[0]->type.dtype).name));
    });
    return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace xcuda::tiles
