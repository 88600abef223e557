// Where threads of a warp or a block meet, and what else has its place in the order of statements: fences, clocks.
#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

using ir::Effect;

constexpr DType values[] = {DType::i32, DType::u32, DType::f32, DType::i64, DType::u64, DType::f64};

std::string cpp(DType d) { return std::string(info(d).cpp); }

void shuffle(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, const char* by,
             const char* doc, const std::string& mode) {
    t.begin(name, std::move(spellings), "", doc);
    t.takes({"mask", "value", by});
    t.has(Effect::warp, true);
    for (const DType d : values)
        t.add({DType::i64, d, DType::i64, DType::i64}, d,
              "xc_warp_shfl<" + cpp(d) + ">($0, $1, $2, " + mode + ", $3, XC_HERE)");
}

void vote(FunctionTable& t, const char* name, const char* spelling, DType out, const char* doc,
          const char* function) {
    t.begin(name, {spelling}, "", doc);
    t.takes({"mask", "predicate"});
    t.has(Effect::warp, true);
    t.add({DType::i64, DType::b1, DType::i64}, out, std::string(function) + "($0, $1, $2, XC_HERE)");
}

void match(FunctionTable& t, const char* name, std::vector<std::string_view> spellings, DType out,
           const char* doc, const char* function) {
    t.begin(name, std::move(spellings), "", doc);
    t.takes({"mask", "value"});
    t.has(Effect::warp, true);
    for (const DType d : values)
        t.add({DType::i64, d, DType::i64}, out,
              std::string(function) + "<" + cpp(d) + ">($0, $1, $2, XC_HERE)");
}

void block_vote(FunctionTable& t, const char* name, const char* spelling, const char* doc,
                const char* function) {
    t.begin(name, {spelling}, "", doc);
    t.takes({"predicate"});
    t.has(Effect::block, true);
    t.add({DType::b1, DType::i64}, DType::i32, std::string(function) + "($0, $1, XC_HERE)");
}

void ordered(FunctionTable& t, const char* name, const char* spelling, const char* doc, const char* text) {
    t.begin(name, {spelling}, "", doc);
    t.has(Effect::order, false, false);
    t.add({}, DType::i64, text);
}

}  // namespace

void add_warps(FunctionTable& t) {
    shuffle(t, "shfl_sync", {"cuda.shfl_sync"}, "src_lane",
            "The value of lane src_lane % 32, of those in mask.", "0, 31");
    shuffle(t, "shfl_up_sync", {"cuda.shfl_up_sync"}, "delta",
            "The value of the lane delta below; the own one where there is none.", "1, 0");
    shuffle(t, "shfl_down_sync", {"cuda.shfl_down_sync"}, "delta",
            "The value of the lane delta above; the own one where there is none.", "2, 31");
    shuffle(t, "shfl_xor_sync", {"cuda.shfl_xor_sync"}, "lane_mask",
            "The value of the lane whose number is this one's ^ lane_mask.", "3, 31");

    static constexpr const char* modes[] = {"shfl_idx", "shfl_up", "shfl_down", "shfl_xor"};
    for (int mode = 0; mode < 4; ++mode) {  // shfl_sync_intrinsic, with its own clamp
        t.begin(modes[mode], {}, "", "A shuffle with a clamp and segment mask.");
        t.has(Effect::warp, true);
        for (const DType d : values)
            t.add({DType::i64, d, DType::i64, DType::i64, DType::i64}, d,
                  "xc_warp_shfl<" + cpp(d) + ">($0, $1, $2, " + std::to_string(mode) + ", $3, $4, XC_HERE)");
    }
    t.begin("shfl_within", {}, "", "Whether a shuffle's source lane lies within its segment.");
    t.add({DType::i64, DType::i64, DType::i64, DType::i64}, DType::b1,
          "xc_shuffle_within((i32)$0, (u32)$1, (u32)$2, (u32)$3)");

    vote(t, "all_sync", "cuda.all_sync", DType::b1, "True where the predicate holds in every lane of mask.",
         "xc_warp_all");
    vote(t, "any_sync", "cuda.any_sync", DType::b1, "True where the predicate holds in a lane of mask.",
         "xc_warp_any");
    vote(t, "eq_sync", "cuda.eq_sync", DType::b1,
         "True where the predicate is the same in every lane of mask.", "xc_warp_eq");
    vote(t, "ballot_sync", "cuda.ballot_sync", DType::i32,
         "A bit for each lane of mask whose predicate holds, as an int32.", "xc_warp_ballot");
    match(t, "match_any_sync", {"cuda.match_any_sync"}, DType::i32,
          "A bit for each lane of mask that has the same value (bit for bit), as an int32.",
          "xc_warp_match_any");
    match(t, "match_all_sync", {"cuda.match_all_sync"}, DType::i64,
          "(mask, True) where all lanes of mask have the same value, else (0, False).", "xc_warp_match_all");

    t.begin("syncwarp", {"cuda.syncwarp"}, "", "Waits for the lanes of mask; memory written before is seen.");
    t.takes({"mask"});
    t.has(Effect::warp, true, false);
    t.add({DType::i64, DType::i64}, DType::i64, "xc_warp_sync($0, $1, XC_HERE)");

    t.begin("activemask", {"cuda.activemask"}, "",
            "A bit for each lane of the warp that is here with this one, as an int32.");
    t.has(Effect::warp, true);
    t.add({DType::i64}, DType::i32, "xc_warp_active($0, XC_HERE)");

    t.begin("laneid", {"cuda.laneid"}, "", "This thread's lane in its warp, 0 to 31.");
    t.add({DType::i64, DType::i64, DType::i64, DType::i64, DType::i64}, DType::i32,
          "(i32)(($0 + $3 * ($1 + $4 * $2)) & 31)", "xc_laneid()", "");
    t.begin("lanemask_lt", {"cuda.lanemask_lt"}, "", "A bit for each lane below this thread's, as an int32.");
    t.add({DType::i64, DType::i64, DType::i64, DType::i64, DType::i64}, DType::i32,
          "(i32)((1u << (($0 + $3 * ($1 + $4 * $2)) & 31)) - 1)", "(i32)((1u << xc_laneid()) - 1)", "");

    block_vote(t, "syncthreads_count", "cuda.syncthreads_count",
               "syncthreads(), and the number of threads whose predicate holds, as an int32.",
               "xc_block_count");
    block_vote(t, "syncthreads_and", "cuda.syncthreads_and",
               "syncthreads(), and 1 where the predicate holds in every thread, else 0.", "xc_block_and");
    block_vote(t, "syncthreads_or", "cuda.syncthreads_or",
               "syncthreads(), and 1 where the predicate holds in a thread, else 0.", "xc_block_or");

    t.begin("grid_sync", {"cuda.cg.grid_group.sync"}, "",
            "cuda.cg.this_grid().sync(): waits until every thread of the grid is here.");
    t.has(Effect::grid, true, false);
    t.add({DType::i64}, DType::i64, "xc_grid_sync($0)");

    ordered(t, "threadfence", "cuda.threadfence",
            "What this thread wrote before is seen by the device before what it writes after.",
            "xc_order_fence()");
    ordered(t, "threadfence_block", "cuda.threadfence_block", "threadfence() for the block's threads.",
            "xc_order_fence_block()");
    ordered(t, "threadfence_system", "cuda.threadfence_system", "threadfence() for the host and other GPUs.",
            "xc_order_fence_system()");
    t.begin("nanosleep", {"cuda.nanosleep"}, "", "Suspends the thread for about ns nanoseconds.");
    t.takes({"ns"});
    t.has(Effect::order, false, false);
    t.add({DType::i64}, DType::i64, "xc_order_sleep((u32)$0)");
    t.begin("clock64", {"cuda.clock64"}, "", "A counter of clock cycles, as an int64.");
    t.has(Effect::order);
    t.add({}, DType::i64, "xc_order_clock()");
    t.begin("clock", {"cuda.clock"}, "", "The low 32 bits of clock64(), as an int32.");
    t.has(Effect::order);
    t.add({}, DType::i32, "(i32)xc_order_clock()");
}

}  // namespace xcuda::frontend
