#include "tiles/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "device/blas.hpp"
#include "ir/tile.hpp"
#include "ir/walk.hpp"
#include "tiles/frame.hpp"
#include "tiles/instructions.hpp"
#include "tiles/measured.hpp"

namespace xcuda::tiles {

using namespace ir;

namespace {

struct Facts {
    bool products = false, half = false, wide = false;  // wide: products of float64
    bool small = false;                                 // of 8-bit numbers
    DType in = DType::f32;                              // that products multiply
    std::size_t axes = 0;                               // of the largest tile
    std::int64_t elements = 1;                          // of it
    std::int64_t bytes = 1;                             // of the largest in bytes
};

Facts facts_of(const Module& module) {
    Facts facts;
    for (const Var& v : module.kernel().vars)
        if (v.type.is_tile()) {
            facts.axes = std::max(facts.axes, v.type.extents.size());
            facts.elements = std::max(facts.elements, elements(v.type.extents));
            facts.bytes = std::max(
                facts.bytes, elements(v.type.extents) * static_cast<std::int64_t>(info(v.type.dtype).size));
        }
    each_stmt(module.kernel().body, [&](const Stmt& s) {
        if (!is_product(s)) return;
        facts.products = true;
        facts.in = s.exprs[0]->type.dtype;
        facts.half |= is_half(s.exprs[0]->type.dtype);
        facts.wide |= info(s.exprs[0]->type.dtype).size == 8;
        facts.small |= info(s.exprs[0]->type.dtype).size == 1;
    });
    return facts;
}

// The rows of all products where one takes what another gave, and a warp can have sixteen of them with all columns; else 0.
std::int64_t chained_rows(const Function& f, const Plan& plan) {
    std::set<VarId> given;  // by products, or made of that
    std::set<VarId> sums;
    std::int64_t rows = 0, columns = 0;
    bool fits = true, chained = false;
    const auto of_products = [&](const ExprP& e) {
        const auto read = tiles_read(e);
        return std::any_of(read.begin(), read.end(), [&](VarId v) { return given.count(v) > 0; });
    };
    // Twice: what a loop's turn gives, the next one takes.
    for (int turn = 0; turn < 2; ++turn)
        each_stmt(f.body, [&](const Stmt& s) {
            if (s.kind == Stmt::Kind::tile && s.tile.atomic) fits = false;
            const bool mma = is_product(s);
            if (s.var < 0 || !f.vars[static_cast<std::size_t>(s.var)].type.is_tile()) return;
            const bool takes = std::any_of(s.exprs.begin(), s.exprs.end(), of_products);
            if (mma) {
                const Extents& extents = f.vars[static_cast<std::size_t>(s.var)].type.extents;
                const std::int64_t here = extents.size() == 2 ? extents[0] : 0;
                fits &= here > 0 && (rows == 0 || rows == here) && extents[1] % 8 == 0 && extents[1] >= 16 &&
                        matrix_kind(f, s, plan).has_value();
                rows = here;
                if (sums.insert(s.var).second && extents.size() == 2) columns += extents[1];
                const ExprP& a = s.exprs[0];
                const bool turned = a->op == Op::element && a->args.size() > 1;
                chained |= of_products(a) && !turned && info(a->type.dtype).size == 2;
            }
            if (mma || takes) given.insert(s.var);
        });
    // A thread of so many has half a register for each column of a sum.
    return fits && chained && rows >= 16 && rows <= 256 && columns <= 320 ? rows : 0;
}

// Chains that were faster by the copy engine, on an H200: float16, tiles of 128 x 128, heads of 128 and of 64, TFLOP/s 544 and 410 (by
// threads 384 and 294), causal 375 and 275 (253 and 209). Late waits are slower with it (521). Of other tiles nothing is known.
bool flows_best(const Function& f, const Plan& plan) {
    bool best = plan.tall == 128, wide = false;
    each_stmt(f.body, [&](const Stmt& s) {
        if (!is_product(s)) return;
        const Extents& extents = f.vars[static_cast<std::size_t>(s.var)].type.extents;
        wide |= extents == Extents{128, 128};
        best &= (extents == Extents{128, 128} || extents == Extents{128, 64}) &&
                is_half(s.exprs[0]->type.dtype) &&
                // The first product has as many columns as there are keys in a tile.
                (wide || extents.back() == 128);
    });
    return best;
}

int architecture(const std::string& target) {
    return target.starts_with("sm_") ? std::atoi(target.c_str() + 3) : 0;
}

bool power_of_two(std::int64_t n) { return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)); }

[[noreturn]] void no_plan(const std::string& found, const std::string& instead) {
    throw Error(Fault::user, "ValueError", "a plan of tiles can't have " + found, std::nullopt, instead);
}

constexpr std::pair<const char*, Instructions> instruction_names[] = {{"fma", Instructions::fma},
                                                                      {"mma", Instructions::mma},
                                                                      {"wgmma", Instructions::wgmma},
                                                                      {"tcgen05", Instructions::tcgen05}};

}  // namespace

int size_class(std::int64_t elements) {
    return elements < 128 * 128 ? 0 : elements < 1024 * 1024 ? 1 : elements < 2048 * 2048 ? 2 : 3;
}

bool is_few(std::int64_t elements) { return elements < std::int64_t{128} * 128 * 128; }

namespace {

// What was fastest on such a device, as hints; those that the user gave come before.
Hints measured_hints(const Facts& facts, const std::string& target, Size size, Hints hints) {
    if (hints.products || hints.bulk || !hints.unit.empty() || hints.depth || hints.threads || hints.stages)
        return hints;
    for (const Measured& m : measured_plans)
        if (m.target == target && m.in == facts.in && m.size == size.largest && m.few == size.few) {
            hints.unit = {m.rows, m.columns};
            hints.depth = m.depth;
            hints.threads = m.threads;
            hints.stages = m.stages;
            hints.products = m.products;
            hints.bulk = m.bulk;
        }
    return hints;
}

constexpr std::int64_t shared_room =
    226 * 1024;  // of a block of sm_90, but for what moves arrays to multiples of 1024

// Products by four warps' instructions (sm_90), a warp sixteen rows. Measured on an H200 in float16 at 4096^3, of cuBLAS' 850
// TFLOP/s: with bulk copies 128 x 256 has 0.83, 256 x 128 0.82, 128 x 128 0.68; with threads' copies 128 x 128 and three
// stages 0.55, and where tiles are few 64 x 128 with four is faster (at 1024^3 1.19, where 128 x 128 has 0.91).
void take_four_warps(Plan& plan, DType in, bool few) {
    const std::int64_t tall = few ? 64 : 128;
    plan.unit = {{tall, plan.bulk && !few ? 256 : 128}, 128 / static_cast<std::int64_t>(info(in).size)};
    plan.threads = static_cast<int>(tall) * 2;
    plan.stages = few ? 4 : 3;
}

// Products whose sums lie in tensor memory (sm_100), reasoned: nothing was run on such a device. An instruction has 128 rows at
// its full rate and up to 256 columns; where tiles are few, narrower ones give every multiprocessor some.
void take_tensor_memory(Plan& plan, DType in, bool few) {
    const auto size = static_cast<std::int64_t>(info(in).size);
    plan.unit = {{128, few ? std::max<std::int64_t>(64, 128 / size) : 256}, 128 / size};
    plan.threads = few ? 128 : 256;
}

// As many stages as there is room for: they cost nothing else.
void take_stages(Plan& plan, DType in) {
    const std::int64_t of_one = (plan.unit.extents[0] + plan.unit.extents[1]) * plan.unit.depth *
                                static_cast<std::int64_t>(info(in).size);
    plan.stages = static_cast<int>(std::clamp<std::int64_t>(shared_room / of_one, 1, 8));
}

Plan chosen(const Module& module, const std::string& target, Size size_of, const Hints& hints) {
    const Facts facts = facts_of(module);
    const int size = size_of.largest;
    Plan plan;
    plan.target = target;
    if (target == "cpu") {
        const bool free_unit = module.programs && module.programs->free_unit;
        const bool real_plain = facts.in == DType::f32 || facts.in == DType::f64;
        // 0.7 to 0.9 of OpenBLAS by loops of our own, and small ones are over before its threads wake.
        plan.blas = facts.products && free_unit && real_plain && size > 0 && hints.blas &&
                    hints.unit.empty() && !hints.depth && !hints.products && device::cpu_has_blas();
        if (facts.products) {
            // Measured on AVX-512, 2 cores, where no BLAS is called. An operand is copied once for each
            // tile that it is part of, so that larger ones copy less: float64 at 1024^3 13.9 ms by 128 x 128, 13.0 by 256 x
            // 128; at 2048^3 111, 104 and 100 by 256 x 256, float32 54, 50 and 47.
            const bool real = facts.in == DType::f32 || facts.in == DType::f64;
            const std::int64_t n = size == 0 ? 32 : size == 1 && !real && !facts.wide ? 64 : 128;
            plan.unit = {{real && size >= 2 ? 256 : n, real && size == 3 ? 256 : n}, facts.wide ? 64 : 128};
        } else {
            plan.unit = {{8, 1024}, 0};
        }
        return plan;
    }
    // cp.async and bfloat16: from sm_80 on.
    const int arch = architecture(target);
    const bool free = module.programs && module.programs->free_unit;
    plan.tf32 = hints.tf32;
    plan.unrolled = hints.unrolled.value_or(false);
    plan.blocks = hints.blocks;
    if (hints.split && arch >= 90 && facts.products && free) plan.split = hints.split;
    // Measured on an H200, float16, 128 x 256 tiles: 651 TFLOP/s against 497 by pairs at 16384x1024 @ 1024x1024, 220 against
    // 211 at 1024x16384 @ 16384x1024.
    plan.lines = hints.lines.value_or(arch / 10 == 9 && free);
    const bool large = free && facts.products && size > 0 &&
                       (facts.half || facts.small || (facts.in == DType::f32 && plan.tf32));
    const bool four = arch / 10 == 9 && large;
    // sm_100a is asked for by name; a device of capability 10.0 has the plan of sm_100 until that was run on one.
    const bool tensor = target == "sm_100a" && large && hints.bulk.value_or(true);
    // sm_75 has matrix instructions of float16 and of 8-bit integers.
    const bool early =
        arch == 75 && (facts.in == DType::f16 || facts.in == DType::i8 || facts.in == DType::u8);
    if (arch >= 80 || (early && facts.products))
        plan.products = hints.products.value_or(four     ? Instructions::wgmma
                                                : tensor ? Instructions::tcgen05
                                                         : Instructions::mma);
    if (plan.products == Instructions::wgmma && arch / 10 != 9) plan.products = Instructions::mma;
    if (plan.products == Instructions::tcgen05 &&
        (arch != 100 || !free || !facts.products || facts.wide || !hints.bulk.value_or(true)))
        plan.products = Instructions::mma;
    plan.stages = facts.products && arch >= 80 ? 3 : 1;
    plan.bulk =
        plan.products == Instructions::tcgen05 ||
        (plan.products == Instructions::wgmma && facts.products && !facts.wide && hints.bulk.value_or(four));
    if (plan.products == Instructions::tcgen05) plan.lines = hints.lines.value_or(true);
    if (facts.products) {
        // Of float32 each thread multiplies: where tiles are few, small ones give every multiprocessor some.
        const bool small = size == 1 || (size_of.few && facts.in == DType::f32 && !plan.tf32);
        const std::int64_t n = size == 0 ? 32 : small || facts.wide ? 64 : 128;
        // Rows of 128 bytes of 16-bit numbers: what swizzled shared memory is made of.
        plan.unit = {{n, n}, facts.wide ? 16 : size == 0 ? 32 : facts.small ? 128 : facts.half ? 64 : 32};
        plan.threads = size == 0 ? 64 : small ? 128 : 256;
        // float32 by each thread's own products. Measured on an H200, TFLOP/s: where tiles are few 36.0 without a step's loop and 30.7
        // with it at 1024^3, 39.3 and 33.2 at 1024x16384 @ 16384x1024; else 40.4 by steps of 8, 38.5 by looped ones of 32 at
        // 4096^3. (256 x 128 by 16 has 41.9, and takes half a second more to compile.)
        const bool alone = arch / 10 == 9 && free && facts.in == DType::f32 && !plan.tf32 && size > 0;
        if (alone && hints.unit.empty() && !hints.threads && !hints.depth && !hints.stages) {
            plan.unrolled = hints.unrolled.value_or(true);
            if (!hints.blocks) plan.blocks = 2;
            if (!size_of.few && plan.unit.extents == Extents{128, 128}) {
                plan.unit.depth = 8;
                plan.stages = 5;
            }
        }
        if (plan.products == Instructions::wgmma && (four || plan.bulk))
            take_four_warps(plan, facts.in, size_of.few);
        if (plan.products == Instructions::tcgen05) take_tensor_memory(plan, facts.in, size_of.few);
    } else {
        plan.unit = {{4, 1024}, 0};
        plan.threads = 256;
    }
    if (!free && !hints.threads && plan.products != Instructions::fma)
        plan.tall = chained_rows(module.kernel(), plan);
    if (plan.tall) {
        plan.threads = static_cast<int>(plan.tall) * 2;
        if (arch / 10 == 9 && plan.tall % 64 == 0 && !hints.products) plan.products = Instructions::wgmma;
        const bool best =
            plan.products == Instructions::wgmma && arch / 10 == 9 && flows_best(module.kernel(), plan);
        plan.bulk = plan.products == Instructions::wgmma && plan.tall % 64 == 0 && hints.bulk.value_or(best);
        plan.late = hints.late.value_or(false);
    } else if (!free) {
        plan.threads = static_cast<int>(std::clamp<std::int64_t>(facts.elements / 8, 32, 256));
        // A thread of 1024 has 64 registers in all, one of 512 has 128.
        const int most = facts.products ? 512 : 1024, held = facts.products ? 64 : 32;
        while (plan.threads < most && facts.bytes / 4 / plan.threads > held) plan.threads *= 2;
    }
    return plan;
}

}  // namespace

Plan choose(const Module& module, const std::string& target, Size size, const Hints& asked) {
    const Facts facts = facts_of(module);
    const bool free = facts.products && module.programs && module.programs->free_unit;
    const Hints hints = free && asked.measured ? measured_hints(facts, target, size, asked) : asked;
    Plan plan = chosen(module, target, size, hints);
    if (!hints.unit.empty()) {
        plan.unit.extents = hints.unit;
        if (!facts.products) plan.unit.depth = 0;
        if (plan.products == Instructions::tcgen05 && hints.unit.size() == 2)  // a thread of 256 has 128 sums
            plan.threads = hints.unit[0] > 128 || hints.unit[0] * hints.unit[1] > 128 * 128 ? 256 : 128;
        if (plan.products == Instructions::wgmma && hints.unit.size() == 2 && free)
            plan.threads = static_cast<int>(std::clamp<std::int64_t>(hints.unit[0] * 2, 128, 512));
    }
    if (hints.depth && plan.unit.depth) plan.unit.depth = hints.depth;
    if (target == "cpu") return plan;
    if (hints.threads) plan.threads = hints.threads;
    if (plan.bulk && !plan.tall && plan.unit.extents.size() == 2) take_stages(plan, facts.in);
    if (hints.stages) plan.stages = architecture(target) >= 80 ? hints.stages : 1;
    return plan;
}

Hints hints_from(const std::string& text) {
    Hints hints;
    const auto given = nlohmann::json::parse(text.empty() ? "{}" : text);
    const auto length = [](const nlohmann::json& n, const char* what, std::int64_t most) {
        const std::int64_t v = n.is_number_integer() ? n.get<std::int64_t>() : -1;
        if (!power_of_two(v) || v > most)
            no_plan(fmt::format("{} of {}", what, n.dump()),
                    fmt::format("give a power of two up to {}", most));
        return v;
    };
    const auto one_to_eight = [](const nlohmann::json& n, const char* what) {
        const std::int64_t v = n.is_number_integer() ? n.get<std::int64_t>() : -1;
        if (v < 1 || v > 8) no_plan(fmt::format("{} of {}", what, n.dump()), "give 1 to 8");
        return static_cast<int>(v);
    };
    for (const auto& [key, value] : given.items()) {
        if (key == "unit") {
            if (!value.is_array() || value.empty() || value.size() > 3)
                no_plan("a unit of " + value.dump(), "give 1 to 3 lengths, as (128, 128)");
            for (const auto& n : value) hints.unit.push_back(length(n, "a unit with a length", 4096));
        } else if (key == "depth") {
            hints.depth = length(value, "a depth", 1024);
        } else if (key == "threads") {
            hints.threads = static_cast<int>(length(value, "a number of threads", 1024));
            if (hints.threads < 32) no_plan("fewer than 32 threads", "give 32, 64, 128, 256, 512 or 1024");
        } else if (key == "stages") {
            hints.stages = one_to_eight(value, "stages");
        } else if (key == "blocks") {
            hints.blocks = one_to_eight(value, "blocks");
        } else if (key == "split") {
            hints.split = static_cast<int>(length(value, "a split", 8));
        } else if (key == "products") {
            for (const auto& [name, which] : instruction_names)
                if (value == name) hints.products = which;
            if (!hints.products)
                no_plan("products by " + value.dump(), "give \"fma\", \"mma\", \"wgmma\" or \"tcgen05\"");
        } else if (key == "copies") {
            if (value != "threads" && value != "bulk")
                no_plan("copies by " + value.dump(), "give \"threads\" or \"bulk\"");
            hints.bulk = value == "bulk";
        } else if (key == "waits") {
            if (value != "early" && value != "late")
                no_plan("waits that are " + value.dump(), "give \"early\" or \"late\"");
            hints.late = value == "late";
        } else if (key == "stores") {
            if (value != "pairs" && value != "lines")
                no_plan("stores by " + value.dump(), "give \"pairs\" or \"lines\"");
            hints.lines = value == "lines";
        } else if (key == "steps") {
            if (value != "looped" && value != "unrolled")
                no_plan("steps that are " + value.dump(), "give \"looped\" or \"unrolled\"");
            hints.unrolled = value == "unrolled";
        } else if (key == "tf32") {
            hints.tf32 = value.get<bool>();
        } else {
            no_plan("'" + key + "'",
                    "there are unit, depth, threads, stages, blocks, split, products, copies, waits, stores, "
                    "steps and tf32");
        }
    }
    return hints;
}

std::string words(const Plan& plan) {
    if (plan.blas) return "the whole product at once";
    std::string text;
    for (const std::int64_t n : plan.unit.extents) text += (text.empty() ? "" : "x") + std::to_string(n);
    if (plan.unit.depth) text += fmt::format("x{}", plan.unit.depth);
    if (!text.empty()) text += " tiles, ";
    text += plan.threads == 1 ? "a thread a program" : fmt::format("{} threads a program", plan.threads);
    if (plan.stages > 1) text += fmt::format(", {} stages", plan.stages);
    if (plan.split > 1) text += fmt::format(", {} programs share a tile's inner dimension", plan.split);
    return text;
}

}  // namespace xcuda::tiles
