#include "tiles/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/lower.hpp"
#include "tiles/masks.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::integer_of;
using passes::mul;

void Threads::append_fence(Body& body, const ExprP& array) const {
    if (fenced.count(var_of(*array))) body.push_back(barrier());
}

// var = e: each thread its elements.
Body Threads::map(VarId tile, const ExprP& e, const Place& place) {
    const Extents extents = type_of(tile).extents;
    Body out = publish(elsewhere(e, extents));
    bool reads_fenced = false;
    each_expr(e,
              [&](const Expr& n) { reads_fenced |= n.op == Op::load && fenced.count(var_of(*n.args[0])); });
    if (reads_fenced) out.push_back(barrier());
    const bool to_shared = operands.count(tile) > 0;
    if (to_shared) out.push_back(barrier());
    const VarId array = to_shared ? share_of(tile) : registers_of(tile);
    const auto place_of = [&](const std::vector<ExprP>& at, const ExprP& slot) {
        return to_shared ? shared_index(tile, at) : slot;
    };
    const Layout l = to_shared ? layout_of(extents, plan, false, false) : layout(extents);
    const auto one_by_one = [&](const ExprP& value) {
        return each(l, [&](const std::vector<ExprP>& at, const ExprP& slot) {
            return Body{put(array, place_of(at, slot), value_at(value, at, extents, slot))};
        });
    };
    const auto whole = [&](const ExprP& value) -> Body {
        if (value->op != Op::load) return one_by_one(value);
        const std::vector<ExprP> indices(value->args.begin() + 1, value->args.end());
        const std::int64_t n = copied_at_once(value->args[0], indices, extents, run_of(l));
        if (n < 2) return one_by_one(value);
        return each_run(
            l, thread_id(), [this] { return counter(); }, [this](VarId v) { return read(v); },
            [&](const std::vector<ExprP>& at, const ExprP& slot) {
                Body copies;
                for (std::int64_t i = 0; i < run_of(l); i += n) {
                    std::vector<ExprP> here = at;
                    here.back() = add(here.back(), int_constant(i));
                    const ExprP moved_slot = add(slot, int_constant(i));
                    Expr from = *value_at(value, here, extents, moved_slot);
                    from.op = Op::address;
                    Stmt s = simple(Stmt::Kind::machine, place);
                    s.text = fmt::format("xc_tile_{}<{}>", to_shared ? "move" : "load", n);
                    s.exprs = {address(array, place_of(here, moved_slot)),
                               std::make_shared<const Expr>(std::move(from))};
                    copies.push_back(std::move(s));
                }
                return copies;
            });
    };
    const auto parts = guarded(e);
    const auto all = parts ? holds_everywhere(parts->inside, extents) : std::nullopt;
    const auto open = all ? std::nullopt : unmasked(e);
    if (all)
        out.push_back(branch(*all, whole(parts->value), one_by_one(e)));
    else if (open)
        out.push_back(branch(open->all, one_by_one(open->value), one_by_one(e)));
    else
        append(out, e->op == Op::spread && e->args[0]->op == Op::load ? whole(e->args[0]) : whole(e));
    if (to_shared) written_barrier(out);
    return out;
}

Body Threads::store_tile(const Stmt& s) {
    const ExprP& value = s.exprs[s.exprs.size() - 2];
    const ExprP& inside = s.exprs.back();
    const ExprP& array = s.exprs[0];
    const Extents extents = value->type.extents;
    const std::vector<ExprP> indices(s.exprs.begin() + 1, s.exprs.end() - 2);
    std::vector<VarId> others;
    for (std::size_t i = 1; i < s.exprs.size(); ++i)
        for (const VarId v : elsewhere(s.exprs[i], extents)) others.push_back(v);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    Body out = publish(others);
    const bool one = elements(extents) == 1;  // every thread has it, one writes

    const auto one_by_one = [&](bool tested) {
        return each(extents, [&](const std::vector<ExprP>& at, const ExprP& slot) {
            std::vector<ExprP> where;
            for (const ExprP& i : indices) where.push_back(value_at(i, at, extents, slot));
            const ExprP v = value_at(value, at, extents, slot);
            Body body;
            if (!s.tile.atomic) {
                body.push_back(store(array, std::move(where), v, s.access, s.place));
            } else {
                std::vector<ExprP> args{array};
                for (ExprP& i : where) args.push_back(std::move(i));
                args.push_back(v);
                Expr e = *make(Op::atomic, scalar(array->type.dtype), std::move(args), s.place);
                e.payload = Atomic{*s.tile.atomic, Access{}};
                const VarId old = scalar_var(scalar(array->type.dtype), "old");
                body.push_back(assign(old, std::make_shared<const Expr>(std::move(e)), s.place));
                body.push_back(put(registers_of(s.var), slot, read(old)));
            }
            if (!tested) return body;
            return Body{branch(value_at(inside, at, extents, slot), std::move(body))};
        });
    };
    // Sums of 16-bit numbers lie two and two over four lanes, which exchange them for 16 bytes of a row each.
    const auto in_eights = [&](const Layout& l) {
        const VarId moved = local(array->type.dtype, 8, "moved");
        const ExprP lane = passes::mod_floor(thread_id(), int_constant(32));
        const ExprP quad = passes::mod_floor(lane, int_constant(4));
        const auto [first_row, left_column] = warp_place(l, thread_id());
        const ExprP top = add(first_row, passes::div_floor(lane, int_constant(4))), left = left_column;
        const auto loop = [&](std::int64_t n, const std::function<Body(const ExprP&)>& body) {
            return unrolled(n, [this] { return counter(); }, [this](VarId v) { return read(v); }, body);
        };
        const auto place = [&](const ExprP& row, const ExprP& column) {
            std::vector<ExprP> at(extents.size() - 2, int_constant(0));
            at.push_back(row);
            at.push_back(column);
            return at;
        };
        return loop(l.rows / 16, [&](const ExprP& i) {
            return loop(l.columns / 32, [&](const ExprP& four) {
                return loop(2, [&](const ExprP& half) {
                    const ExprP row = add(top, add(mul(i, int_constant(16)), mul(half, int_constant(8))));
                    const ExprP first = add(left, mul(four, int_constant(32)));
                    Body body;
                    for (std::int64_t k = 0; k < 8; ++k) {
                        const ExprP block = add(mul(four, int_constant(4)), int_constant(k / 2));
                        const ExprP slot =
                            add(mul(add(mul(i, int_constant(l.columns / 8)), block), int_constant(4)),
                                add(mul(half, int_constant(2)), int_constant(k % 2)));
                        const ExprP column =
                            add(add(first, mul(quad, int_constant(2))), int_constant(k / 2 * 8 + k % 2));
                        body.push_back(
                            put(moved, int_constant(k), value_at(value, place(row, column), extents, slot)));
                    }
                    Stmt exchange = simple(Stmt::Kind::machine, s.place);
                    exchange.text = "xc_tile_quad";
                    exchange.exprs = {address(moved, int_constant(0)), thread_id()};
                    body.push_back(std::move(exchange));
                    std::vector<ExprP> args{array};
                    for (const ExprP& index : indices)
                        args.push_back(value_at(index, place(row, add(first, mul(quad, int_constant(8)))),
                                                extents, int_constant(0)));
                    Expr to = *make(Op::address, scalar(array->type.dtype), std::move(args));
                    to.payload = Access{};
                    Stmt copy = simple(Stmt::Kind::machine, s.place);
                    copy.text = "xc_tile_store<8>";
                    copy.exprs = {std::make_shared<const Expr>(std::move(to)),
                                  address(moved, int_constant(0))};
                    body.push_back(std::move(copy));
                    return body;
                });
            });
        });
    };
    const auto in_runs = [&]() -> Body {
        const Layout l = layout(extents);
        if (plan.lines && l.kind == Layout::Kind::matrix && !plan.acted && !s.tile.atomic &&
            l.columns % 32 == 0 && info(array->type.dtype).size == 2 &&
            copied_at_once(array, indices, extents, 8) == 8)
            return in_eights(l);
        const std::int64_t n = s.tile.atomic ? 1 : copied_at_once(array, indices, extents, run_of(l));
        if (n < 2) return one_by_one(false);
        const VarId moved = local(array->type.dtype, n, "moved");
        return each_run(
            l, thread_id(), [this] { return counter(); }, [this](VarId v) { return read(v); },
            [&](const std::vector<ExprP>& at, const ExprP& slot) {
                Body copies;
                for (std::int64_t i = 0; i < run_of(l); i += n) {
                    std::vector<ExprP> here = at;
                    here.back() = add(here.back(), int_constant(i));
                    std::vector<ExprP> args{array};
                    for (const ExprP& index : indices)
                        args.push_back(value_at(index, here, extents, add(slot, int_constant(i))));
                    for (std::int64_t k = 0; k < n; ++k) {
                        std::vector<ExprP> there = at;
                        there.back() = add(there.back(), int_constant(i + k));
                        copies.push_back(put(moved, int_constant(k),
                                             value_at(value, there, extents, add(slot, int_constant(i + k)))));
                    }
                    Expr to = *make(Op::address, scalar(array->type.dtype), std::move(args));
                    to.payload = Access{};
                    Stmt copy = simple(Stmt::Kind::machine, s.place);
                    copy.text = fmt::format("xc_tile_store<{}>", n);
                    copy.exprs = {std::make_shared<const Expr>(std::move(to)),
                                  address(moved, int_constant(0))};
                    copies.push_back(std::move(copy));
                }
                return copies;
            });
    };
    Body stores;
    const auto all = holds_everywhere(inside, extents);
    if (!all)
        stores = one_by_one(true);
    else if ((*all)->op == Op::constant)
        stores = in_runs();
    else
        stores.push_back(branch(*all, in_runs(), one_by_one(true)));
    if (!one) {
        append(out, std::move(stores));
    } else if (!s.tile.atomic) {
        out.push_back(
            branch(passes::compare(Op::eq, thread_id(), int_constant(0)), std::move(stores), {}, s.place));
    } else {  // the old value goes to all
        const VarId old = shared(array->type.dtype, 1, "old_s"), own = registers_of(s.var);
        stores.push_back(put(old, int_constant(0), load(own, int_constant(0))));
        out.push_back(barrier());
        out.push_back(
            branch(passes::compare(Op::eq, thread_id(), int_constant(0)), std::move(stores), {}, s.place));
        out.push_back(barrier());
        out.push_back(put(own, int_constant(0), load(old, int_constant(0))));
    }
    append_fence(out, array);
    return out;
}

std::optional<std::int64_t> Threads::multiple_of(const ExprP& e) const {
    if (e->op != Op::var) return integer_of(e);
    const auto known = multiples.find(var_of(*e));
    return known == multiples.end() ? std::nullopt : std::optional(known->second);
}

Body Threads::lower(const Stmt& s) {
    if (s.kind == Stmt::Kind::assign && type_of(s.var).is_tile()) return map(s.var, s.exprs[0], s.place);
    if (s.kind != Stmt::Kind::tile) {
        if (s.kind == Stmt::Kind::loop_range) {
            const auto start = multiple_of(s.exprs[0]), step = integer_of(s.exprs[2]);
            if (start && step) multiples[s.var] = std::gcd(*start, *step);
            if (auto made = pipelined(s)) return std::move(*made);
        }
        Stmt copy = s;
        copy.body = lower(s.body);
        copy.orelse = lower(s.orelse);
        Body out;
        out.push_back(std::move(copy));
        return out;
    }
    switch (s.tile.kind) {
        case TileOp::Kind::store: return store_tile(s);
        case TileOp::Kind::reduce: return reduce(s);
        case TileOp::Kind::scan: return scan(s);
        case TileOp::Kind::mma: return product(s);
        case TileOp::Kind::none: break;
    }
    throw bug("a tile statement of no kind");
}

Body Threads::lower(const Body& body) {
    return placed(body, [&](const Stmt& s) { return lower(s); });
}

namespace {

// Arrays that are read and written: what one thread wrote, another may read.
std::set<VarId> read_and_written(const Function& f) {
    std::set<VarId> reads, writes, both;
    each_expr(f.body, [&](const Expr& e) {
        if (e.op == Op::load) reads.insert(var_of(*e.args[0]));
    });
    each_stmt(f.body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::tile && s.tile.kind == TileOp::Kind::store)
            writes.insert(var_of(*s.exprs[0]));
    });
    std::set_intersection(reads.begin(), reads.end(), writes.begin(), writes.end(),
                          std::inserter(both, both.end()));
    return both;
}

bool is_element_of(const ExprP& e, VarId tile) { return e->op == Op::element && var_of(*e->args[0]) == tile; }

// Tiles that products alone read, as they are or transposed, and that are loaded from memory.
std::set<VarId> operands_only(const Function& f) {
    std::map<VarId, int> reads, operand_reads, loads, writes;
    each_stmt(f.body, [&](const Stmt& s) {
        const bool mma = is_product(s);
        if (s.kind == Stmt::Kind::tile && s.var >= 0) ++writes[s.var];
        for (std::size_t i = 0; i < s.exprs.size(); ++i) {
            for (const VarId v : tiles_read(s.exprs[i])) {
                ++reads[v];
                if (mma && i < 2 && is_element_of(s.exprs[i], v)) ++operand_reads[v];
            }
        }
        if (s.kind == Stmt::Kind::assign && f.vars[static_cast<std::size_t>(s.var)].type.is_tile()) {
            ++writes[s.var];
            bool memory = false;
            each_expr(s.exprs[0], [&](const Expr& n) { memory |= n.op == Op::load; });
            if (memory && tiles_read(s.exprs[0]).empty()) ++loads[s.var];
        }
    });
    std::set<VarId> out;
    for (const auto& [v, n] : operand_reads)
        if (n == reads[v] && writes[v] == loads[v] && loads[v] > 0 &&
            elements(f.vars[static_cast<std::size_t>(v)].type.extents) > 1)
            out.insert(v);
    return out;
}

}  // namespace

void Threads::run(Module& module) {
    thread = scalar_var(scalar(DType::i64, true), "xc_t");
    each_stmt(f.body, [&](const Stmt& s) {
        if (!is_product(s)) return;
        const Extents extents = type_of(s.var).extents;
        products.insert(extents);
        if (matrix_kind(s)) matrices.insert(extents);
    });
    operands = operands_only(f);
    find_swizzled();
    fenced = read_and_written(f);
    this->module = &module;
    auto flowing = flow(module);
    if (!flowing) flowing = chained();
    if (!flowing) flowing = split(module);
    Body body = flowing ? std::move(*flowing) : lower(f.body);
    body.insert(body.begin(), assign(thread, coord(Coord::Kind::thread, 0)));
    f.body = std::move(body);
}

Module lower_to_threads(Module module, const Plan& plan) {
    Threads(module.kernel(), plan).run(module);
    return module;
}

}  // namespace xcuda::tiles
