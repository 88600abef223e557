#include "passes/cpu_blocks.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_lane_loops.hpp"
#include "passes/cpu_tile_plan.hpp"
#include "passes/guard.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

bool has_barrier(const Body& body) {
    bool found = false;
    each_stmt(body, [&](const Stmt& s) { found |= s.kind == Stmt::Kind::barrier; });
    return found;
}
bool has_barrier(const Stmt& s) {
    return s.kind == Stmt::Kind::barrier || has_barrier(s.body) || has_barrier(s.orelse);
}

// Barriers stand under uniform control only: every branch and loop around one goes the same way in all threads.
bool uniform_control(const Body& body, const Varying& vary) {
    return std::all_of(body.begin(), body.end(), [&](const Stmt& s) {
        if (!has_barrier(s) || s.kind == Stmt::Kind::barrier) return true;
        for (const ExprP& e : s.exprs)
            if (vary.of(*e) != 0 || has_effect(*e)) return false;
        return uniform_control(s.body, vary) && uniform_control(s.orelse, vary);
    });
}

// A jump out of a loop that holds a barrier, from under divergent control, parts the threads.
bool divergent_jump(const Body& body, const Varying& vary, bool divergent) {
    return std::any_of(body.begin(), body.end(), [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::break_loop || s.kind == Stmt::Kind::continue_loop) return divergent;
        if (s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while)
            return has_barrier(s)
                       ? divergent_jump(s.body, vary, false) || divergent_jump(s.orelse, vary, divergent)
                       : divergent_jump(s.orelse, vary, divergent);
        const bool parts = s.kind == Stmt::Kind::branch && vary.of(*s.exprs[0]) != 0;
        return divergent_jump(s.body, vary, divergent || parts) ||
               divergent_jump(s.orelse, vary, divergent || parts);
    });
}

// Reads and writes of one region, by variable.
struct Uses {
    std::vector<bool> reads, writes;
    bool touches(VarId v) const { return reads[v] || writes[v]; }
};

struct Regions {
    Function& f;
    const CpuOptions& options;
    const Varying& vary;
    std::vector<bool> common;  // variables with one value for the whole block, kept outside the lanes
    std::vector<Body> regions;
    std::vector<Uses> uses;
    std::vector<VarId> kept;  // by variable: its per-thread array, or -1
    Lanes lanes{};
    bool fits = true;
    std::string how{};
    bool loops = false;
    std::vector<VarId> shared_loops{};  // counters of loops whose turns all lanes take together

    Regions(Function& function, const CpuOptions& o, const Varying& v)
        : f(function),
          options(o),
          vary(v),
          common(function.vars.size(), false) {
        for (VarId p : f.params) common[p] = true;
    }

    // --- which variables are common to the block -------------------------------------------------------------
    bool over_common(const Expr& e) const {
        if (e.op == Op::var) return e.type.is_array() || common[var_of(e)];
        if (e.op == Op::coord &&
            (coord_of(e).kind == Coord::Kind::thread || coord_of(e).kind == Coord::Kind::global))
            return false;
        return std::all_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return over_common(*a); });
    }

    bool is_frame(const Stmt& s) const {
        if (s.kind == Stmt::Kind::loop_range && std::count(shared_loops.begin(), shared_loops.end(), s.var))
            return true;
        return has_barrier(s) && s.kind != Stmt::Kind::barrier;
    }

    void demote(const Body& body, bool frame,
                bool& changed) {  // variables that a lane may set are not common
        for (const Stmt& s : body) {
            const bool inner = frame && is_frame(s);
            const bool sets = s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::loop_range;
            if (sets && common[s.var]) {
                const bool whole = s.kind == Stmt::Kind::assign ? frame : inner;
                const bool good = whole && std::all_of(s.exprs.begin(), s.exprs.end(), [&](const ExprP& e) {
                                      return over_common(*e) && !has_effect(*e);
                                  });
                if (!good) {
                    common[s.var] = false;
                    changed = true;
                }
            }
            demote(s.body, inner, changed);
            demote(s.orelse, inner, changed);
        }
    }

    void find_common(const Body& body) {
        // Variables that came after the analysis are the lanes' own coordinates.
        for (std::size_t v = 0; v < vary.vars.size(); ++v)
            common[v] = f.vars[v].type.is_scalar() && vary.vars[v] == 0;
        for (bool changed = true; changed;) {
            changed = false;
            demote(body, true, changed);
        }
    }

    // --- cutting at the barriers -----------------------------------------------------------------------------
    void flush(Body& region, Body& out) {
        if (region.empty()) return;
        Stmt mark = simple(Stmt::Kind::scope);
        mark.site = static_cast<int>(regions.size());  // replaced once all regions are known
        regions.push_back(std::move(region));
        region.clear();
        out.push_back(std::move(mark));
    }

    bool independent(const Stmt& s, const Body& region) const {
        bool loads = false, clash = false;
        each_expr(s.exprs[0], [&](const Expr& e) { loads |= e.op == Op::load || may_fault(e); });
        const std::vector<bool> written = assigned_vars(f, region);
        each_expr(region, [&](const Expr& e) { clash |= e.op == Op::var && var_of(e) == s.var; });
        return !loads && !clash && !written[s.var];
    }

    Body cut(const Body& body) {
        Body out, region;
        for (const Stmt& s : body) {
            if (s.kind == Stmt::Kind::barrier) {
                flush(region, out);
            } else if (is_frame(s)) {
                flush(region, out);
                Stmt copy = s;
                copy.body = cut(s.body);
                copy.orelse = cut(s.orelse);
                if (s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while)
                    copy.body.insert(copy.body.begin(), simple(Stmt::Kind::poll));
                out.push_back(std::move(copy));
            } else if (s.kind == Stmt::Kind::assign && common[s.var]) {
                if (!independent(s, region)) flush(region, out);
                out.push_back(s);
            } else if (s.kind == Stmt::Kind::break_loop || s.kind == Stmt::Kind::continue_loop ||
                       (s.kind == Stmt::Kind::branch && jumps_out(s))) {
                flush(region, out);  // a uniform jump of a frame's loop
                Stmt copy = s;
                copy.body = cut(s.body);
                copy.orelse = cut(s.orelse);
                out.push_back(std::move(copy));
            } else if (bounds_lanes(s)) {
                flush(region, out);
                region.push_back(s);
                flush(region, out);
            } else {
                region.push_back(s);
            }
        }
        flush(region, out);
        return out;
    }

    // `if t >= step:` with other statements beside it: a region of its own, whose loops run over these lanes alone.
    bool bounds_lanes(const Stmt& s) const {
        if (s.kind != Stmt::Kind::branch || !s.orelse.empty()) return false;
        bool common_alone = true;
        each_expr(s.exprs[0], [&](const Expr& e) {
            common_alone &= e.op != Op::load && e.op != Op::atomic && e.op != Op::call && e.op != Op::invoke;
            common_alone &= e.op != Op::var || e.type.is_array() || common[var_of(e)];
        });
        if (!common_alone) return false;
        Body alone{s};
        Box box;
        for (int axis = 0; axis < 3; ++axis) {
            box.low[axis] = int_constant(0);
            box.high[axis] = block_dim(options, axis);
        }
        const Box whole = box;
        strip_guard(f, alone, box);
        return box.low != whole.low || box.high != whole.high;
    }

    static bool jumps_out(const Stmt& s) {
        const auto any = [](const Body& b) {
            return std::any_of(b.begin(), b.end(), [](const Stmt& i) {
                return i.kind == Stmt::Kind::break_loop || i.kind == Stmt::Kind::continue_loop ||
                       (i.kind == Stmt::Kind::branch && jumps_out(i));
            });
        };
        return any(s.body) || any(s.orelse);
    }

    // --- values that live across a barrier -------------------------------------------------------------------
    void find_kept(const Body& frame) {
        for (const Body& region : regions) {
            Uses u{std::vector<bool>(f.vars.size(), false), assigned_vars(f, region)};
            const std::vector<int> reads = read_counts(f, region);
            for (std::size_t v = 0; v < f.vars.size(); ++v) u.reads[v] = reads[v] > 0;
            uses.push_back(std::move(u));
        }
        const std::vector<int> frame_reads = read_counts(f, frame);
        const std::size_t count = f.vars.size();
        kept.assign(count, -1);
        for (std::size_t v = 0; v < count; ++v) {
            if (common[v] || !f.vars[v].type.is_scalar()) {
                if (f.vars[v].role == Var::Role::local_array && touched_by(static_cast<VarId>(v)) > 1)
                    fits = false;
                continue;
            }
            bool written = false;
            for (const Uses& u : uses) written |= u.writes[v];
            const bool across =
                touched_by(static_cast<VarId>(v)) > 1 || frame_reads[v] > 0 || f.vars[v].maybe_unbound;
            if (written && across) kept[v] = thread_array(static_cast<VarId>(v));
        }
    }

    int touched_by(VarId v) const {
        return static_cast<int>(
            std::count_if(uses.begin(), uses.end(), [&](const Uses& u) { return u.touches(v); }));
    }

    VarId thread_array(VarId v) {
        std::vector<std::int64_t> extents;
        for (int axis : loop_order(lanes.vector_axis)) extents.push_back(options.block[axis]);
        return f.add({f.vars[v].name + "_kept",
                      fixed_array(f.vars[v].type.dtype, extents, Space::shared),
                      Var::Role::hidden,
                      {}});
    }

    ExprP kept_value(VarId v, bool first_thread) const {
        std::vector<ExprP> args{var(kept[v], f.vars[kept[v]].type)};
        for (int axis : loop_order(lanes.vector_axis))
            args.push_back(first_thread ? int_constant(0) : coord(Coord::Kind::thread, axis));
        auto node = std::make_shared<Expr>(*make(Op::load, f.vars[v].type, std::move(args)));
        node->payload = Access{};
        return node;
    }

    Body with_kept(Body region, const Uses& u) {
        Body before, after;
        for (std::size_t v = 0; v < kept.size(); ++v) {
            const auto id = static_cast<VarId>(v);
            if (kept[v] < 0 || !u.touches(id)) continue;
            before.push_back(assign(id, kept_value(id, false)));
            if (!u.writes[v]) continue;
            std::vector<ExprP> indices;
            for (int axis : loop_order(lanes.vector_axis))
                indices.push_back(coord(Coord::Kind::thread, axis));
            after.push_back(store(var(kept[v], f.vars[kept[v]].type), std::move(indices),
                                  var(id, f.vars[v].type), Access{}));
        }
        if (before.empty()) return region;
        // Inside a lone guard, so that the guard can still bound the box.
        Body* target = &region;
        while (target->size() == 1 && target->front().kind == Stmt::Kind::branch &&
               target->front().orelse.empty() && !reads_kept(*target->front().exprs[0]))
            target = &target->front().body;
        for (Stmt& s : *target) before.push_back(std::move(s));
        for (Stmt& s : after) before.push_back(std::move(s));
        *target = std::move(before);
        return region;
    }

    bool reads_kept(const Expr& e) const {
        if (e.op == Op::var && !e.type.is_array() && kept[var_of(e)] >= 0) return true;
        return std::any_of(e.args.begin(), e.args.end(), [&](const ExprP& a) { return reads_kept(*a); });
    }

    // --- back together ---------------------------------------------------------------------------------------
    void finish(Body& frame) {
        Body out;
        for (Stmt& s : frame) {
            if (s.kind == Stmt::Kind::scope) {
                for (Stmt& lowered : region_loops(s.site)) out.push_back(std::move(lowered));
                continue;
            }
            for (ExprP& e : s.exprs) {
                e = rewrite(e, [&](const ExprP& n) -> ExprP {
                    const bool is_kept = n->op == Op::var && !n->type.is_array() &&
                                         static_cast<std::size_t>(var_of(*n)) < kept.size() &&
                                         kept[var_of(*n)] >= 0;
                    return is_kept ? kept_value(var_of(*n), true) : n;
                });
            }
            finish(s.body);
            finish(s.orelse);
            out.push_back(std::move(s));
        }
        frame = std::move(out);
    }

    Body region_loops(int index) {
        Body region = with_kept(std::move(regions[index]), uses[index]);
        Box box;
        for (int axis = 0; axis < 3; ++axis) {
            box.low[axis] = int_constant(0);
            box.high[axis] = block_dim(options, axis);
        }
        strip_guard(f, region, box);
        for (int axis = 0; axis < 3; ++axis) {  // a guard may reach past the block
            box.low[axis] = maximum(box.low[axis], int_constant(0));
        }
        add_polls(region);
        LoweredRegion lowered = lower_region(f, region, box, lanes);
        if (how.empty() || (lowered.loops && !loops))
            how = lowered.how;  // the region with the most work speaks
        loops |= lowered.loops;
        return std::move(lowered.body);
    }
};

}  // namespace

bool frame_blocks(Module& module, const CpuOptions& options) {
    Function f = module.kernel();
    const bool barriers = has_barrier(f.body);
    if (barriers && !options.block_fixed) throw bug("a kernel with barriers needs its block's dimensions");

    std::array<VarId, 3> block{hidden(f, "block_x"), hidden(f, "block_y"), hidden(f, "block_z")};
    rewrite_exprs(f.body, [&](const ExprP& e) -> ExprP {
        if (e->op != Op::coord) return e;
        const Coord& c = coord_of(*e);
        switch (c.kind) {
            case Coord::Kind::block: return read(f, block[c.axis]);
            case Coord::Kind::block_dim: return block_dim(options, c.axis);
            case Coord::Kind::global:
                return add(mul(read(f, block[c.axis]), block_dim(options, c.axis)),
                           coord(Coord::Kind::thread, c.axis, e->place));
            default: return e;
        }
    });
    std::vector<VarId> shared_loops;
    if (barriers) shared_loops = share_lane_loops(f, options);
    const Varying vary = varying(f, f.body);
    if (barriers &&
        (has_leave(f.body) || !uniform_control(f.body, vary) || divergent_jump(f.body, vary, false)))
        return false;

    Regions regions(f, options, vary);
    regions.shared_loops = std::move(shared_loops);
    regions.lanes = {
        {hidden(f, "x"), hidden(f, "y"), hidden(f, "z")}, best_vector_axis(f, f.body), options.vector_bytes};
    f.where.clear();
    for (VarId v : regions.lanes.coordinate) f.where.push_back(read(f, v));
    for (VarId v : block) f.where.push_back(read(f, v));

    Body frame;
    if (barriers) {
        regions.common.resize(f.vars.size(), false);
        regions.find_common(f.body);
        frame = regions.cut(f.body);
    } else {
        regions.common.assign(f.vars.size(), false);
        for (VarId p : f.params) regions.common[p] = true;
        regions.flush(f.body, frame);
    }
    regions.find_kept(frame);
    if (!regions.fits) return false;
    regions.finish(frame);

    const auto grid = [](int axis) { return coord(Coord::Kind::grid_dim, axis); };
    const VarId index = hidden(f, "piece");
    Body run;
    for (VarId v : regions.lanes.coordinate) run.push_back(assign(v, int_constant(0)));
    run.push_back(assign(block[0], mod_floor(read(f, index), grid(0))));
    run.push_back(assign(block[1], mod_floor(div_floor(read(f, index), grid(0)), grid(1))));
    run.push_back(assign(block[2], div_floor(read(f, index), mul(grid(0), grid(1)))));
    for (Stmt& s : frame) run.push_back(std::move(s));
    f.body = piece_loop(f, index, std::move(run));
    module.kernel() = std::move(f);
    module.how = barriers ? "regions, " + regions.how : regions.how;
    return true;
}

}  // namespace xcuda::passes
