// Products of tiles by the threads of a block, from operands in shared memory: matrix instructions where the plan has
// them, else each thread its rows and columns in registers.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/instructions.hpp"
#include "tiles/tensor_memory.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::div_floor;
using passes::mod_floor;
using passes::mul;

namespace {

// An operand in shared memory: elements from a row to the next, and from a column to the next.
struct Operand {
    VarId array = -1;
    VarId tile = -1;
    ExprP base;
    std::int64_t rows = 1, columns = 1, row_step = 1, column_step = 1;
    Extents batch, strides;  // of the axes before
};

struct Operands {
    Threads& t;
    Body& out;

    Operand of(const ExprP& e) {
        Operand o;
        const bool swapped = is_turned(*e);
        o.tile = swapped ? var_of(*e->args[0]) : t.in_tile(e, out);
        const Extents& extents = t.type_of(o.tile).extents;
        const std::size_t r = extents.size();
        const std::int64_t pitch = t.pitch(o.tile);
        o.base = t.share_base(o.tile);
        o.rows = extents[r - 2];
        o.columns = extents[r - 1];
        o.row_step = pitch;
        if (swapped) {
            std::swap(o.rows, o.columns);
            std::swap(o.row_step, o.column_step);
        }
        o.batch.assign(extents.begin(), extents.end() - 2);
        std::int64_t step = pitch * extents[r - 2];
        o.strides.assign(o.batch.size(), 0);
        for (std::size_t d = o.batch.size(); d-- > 0;) {
            o.strides[d] = o.batch[d] == 1 ? 0 : step;
            step *= o.batch[d];
        }
        return o;
    }

    ExprP element(const Operand& o, const ExprP& base, const ExprP& row, const ExprP& column) const {
        if (t.is_whole(o.tile) && !t.operands.count(o.tile)) return t.load(t.registers_of(o.tile), c(0));
        return t.load(t.share_of(o.tile),
                      add(base, add(mul(row, c(o.row_step)), mul(column, c(o.column_step)))));
    }
};

ExprP base_of(const Operand& o, const std::vector<ExprP>& at) {
    ExprP base = o.base;
    for (std::size_t d = 0; d < o.strides.size(); ++d)
        if (o.strides[d]) base = add(base, mul(at[d], c(o.strides[d])));
    return base;
}

}  // namespace

bool is_turned(const Expr& e) {
    const std::size_t r = e.type.extents.size();
    if (e.op != Op::element || e.args.size() != r + 1 || r < 2) return false;
    for (std::size_t d = 0; d < r; ++d) {
        const Expr& i = *e.args[d + 1];
        const std::size_t from = d + 2 < r ? d : r - 1 - (d + 2 - r);
        if (i.op != Op::position || static_cast<std::size_t>(std::get<Axis>(i.payload).value) != from)
            return false;
    }
    return true;
}

std::optional<int> Threads::matrix_kind(const Stmt& s) const { return tiles::matrix_kind(f, s, plan); }

// Whether four warps' instructions make this product where its operands lie in swizzled memory.
bool Threads::for_four_warps(const Stmt& s) const {
    const auto kind = matrix_kind(s);
    if (plan.products != Instructions::wgmma || !kind ||
        !is_for_four_warps(*kind, is_turned(*s.exprs[0]), is_turned(*s.exprs[1])))
        return false;
    const Layout l = layout(type_of(s.var).extents);
    return l.kind == Layout::Kind::matrix && l.across == 1 && l.rows == 16 && l.down % 4 == 0 &&
           (l.columns == 64 || l.columns == 128 || l.columns == 256);
}

// Whether sm_100's instructions make this product where the copy engine brings its operands.
bool Threads::for_tensor_memory(const Stmt& s) const {
    const auto kind = matrix_kind(s);
    if (plan.products != Instructions::tcgen05 || !kind) return false;
    return in_tensor_memory(s.exprs[0]->type.dtype, is_turned(*s.exprs[0]), !is_turned(*s.exprs[1])) &&
           tensor_layout(type_of(s.var).extents, plan.threads).has_value();
}

// Whether the first operand is summed, or computed of sums, in the registers that matrix instructions take it from.
bool Threads::is_held(const Stmt& s) const {
    const ExprP& a = s.exprs[0];
    const auto kind = matrix_kind(s);
    if (!kind || info(a->type.dtype).size != 2 || is_turned(*a)) return false;
    if (a->op == Op::element && (a->args.size() > 1 || operands.count(var_of(*a->args[0])))) return false;
    const auto l = chained_layout(extents_of(*a), plan);
    return l && l->kind == Layout::Kind::matrix && l->columns % 16 == 0 &&
           chained_layout(type_of(s.var).extents, plan).has_value();
}

// Tiles of two axes and rows of whole 128 bytes that matrix instructions alone read; of 4-byte numbers only those that four
// warps' instructions read.
void Threads::find_swizzled() {
    std::set<VarId> others;
    each_stmt(f.body, [&](const Stmt& s) {
        if (!is_product(s)) return;
        const bool matrix = layout(type_of(s.var).extents).kind == Layout::Kind::matrix && matrix_kind(s);
        for (std::size_t i = 0; i < 2; ++i)
            for (const VarId v : tiles_read(s.exprs[i])) {
                const Type type = type_of(v);
                const auto size = static_cast<std::int64_t>(info(type.dtype).size);
                const std::size_t r = type.extents.size();
                const bool fits = matrix && operands.count(v) && r == 2 && (size <= 2 || for_four_warps(s)) &&
                                  type.extents[1] * size % 128 == 0 && type.extents[0] % 8 == 0 &&
                                  type.dtype == s.exprs[i]->type.dtype;
                (fits ? swizzled : others).insert(v);
            }
    });
    for (const VarId v : others) swizzled.erase(v);
}

// A warp's sixteen rows of the first operand from its registers, all columns of the second from shared memory.
Body Threads::product_of_held(const Stmt& s) {
    Body out;
    Operands from{*this, out};
    const VarId a = from.t.in_tile(s.exprs[0], out);
    const Operand b = from.of(s.exprs[1]);
    append(out, publish(std::vector<VarId>{b.tile}));
    const bool in_place = s.exprs[2]->op == Op::element && s.exprs[2]->args.size() == 1 &&
                          var_of(*s.exprs[2]->args[0]) == s.var;
    if (!in_place) append(out, map(s.var, s.exprs[2], s.place));
    const Layout l = layout(type_of(s.var).extents), held = layout(type_of(a).extents);
    const bool turned = b.column_step != 1, swizzle = swizzled.count(b.tile) > 0;
    const Extents& memory = type_of(b.tile).extents;
    const std::int64_t lying = swizzle ? -memory[memory.size() - 2] : pitch(b.tile);
    Stmt call = simple(Stmt::Kind::machine, s.place);
    call.text = fmt::format("{}<{}, {}, {}, {}, {}>",
                            for_four_warps(s) && swizzle ? "xc_tile_wgmma_held" : "xc_tile_mma_held",
                            *matrix_kind(s), l.columns, held.columns, lying, turned);
    ExprP from_registers = address(registers_of(a), c(0));
    if (plan.acted) {  // lanes are no warp there: what others hold goes through memory
        const VarId all = shared(type_of(a).dtype, held.slots * plan.threads, "held");
        const VarId slot = counter();
        const ExprP own = mul(thread_id(), c(held.slots));
        out.push_back(barrier());
        out.push_back(loop_range(slot, c(0), c(held.slots), c(1),
                                 {put(all, add(own, read(slot)), load(registers_of(a), read(slot)))}));
        out.push_back(barrier());
        from_registers = address(all, mul(div_floor(thread_id(), c(32)), c(32 * held.slots)));
    }
    call.exprs = {address(registers_of(s.var), c(0)), std::move(from_registers),
                  address(share_of(b.tile), b.base), thread_id()};
    out.push_back(std::move(call));
    return out;
}

Body Threads::product(const Stmt& s) {
    Body out;
    if (is_held(s)) return product_of_held(s);
    Operands from{*this, out};
    const Operand a = from.of(s.exprs[0]), b = from.of(s.exprs[1]);
    std::vector<VarId> both{a.tile};
    if (b.tile != a.tile) both.push_back(b.tile);
    const Type type = type_of(s.var);
    const Layout l = layout(type.extents);
    append(out, publish(both));
    const bool in_place = s.exprs[2]->op == Op::element && s.exprs[2]->args.size() == 1 &&
                          var_of(*s.exprs[2]->args[0]) == s.var;
    if (!in_place) append(out, map(s.var, s.exprs[2], s.place));
    const VarId acc = registers_of(s.var);
    const Type sum = scalar(type.dtype);
    const std::int64_t depth = a.columns;

    const auto kind = matrix_kind(s);
    if (l.kind == Layout::Kind::matrix && kind) {
        const auto [top, left] = warp_place(l, thread_id());
        Stmt call = simple(Stmt::Kind::machine, s.place);
        const bool a_turned = a.column_step != 1, b_turned = b.column_step != 1;
        const bool grouped = for_four_warps(s) && swizzled.count(a.tile) && swizzled.count(b.tile);
        // Elements from a row of memory to the next; of swizzled memory: its rows, below 0.
        const auto pitched = [&](const Operand& o) {
            const Extents& extents = type_of(o.tile).extents;
            return swizzled.count(o.tile) ? -extents[extents.size() - 2] : pitch(o.tile);
        };
        call.text = grouped ? fmt::format("xc_tile_wgmma<{}, {}, {}, {}, {}, {}, {}>", *kind, l.columns,
                                          depth, -pitched(a), a_turned, -pitched(b), b_turned)
                            : fmt::format("xc_tile_mma<{}, {}, {}, {}, {}, {}, {}, {}>", *kind, l.rows,
                                          l.columns, depth, pitched(a), a_turned, pitched(b), b_turned);
        call.exprs = {address(acc, c(0)), address(share_of(a.tile), a.base),
                      address(share_of(b.tile), b.base), top};
        if (!grouped) call.exprs.push_back(left);
        call.exprs.push_back(thread_id());
        out.push_back(std::move(call));
        return out;
    }

    const auto product_of = [&](ExprP x, ExprP y, const ExprP& before) {
        return make(Op::add, sum,
                    {before, make(Op::mul, sum, {cast(std::move(x), sum), cast(std::move(y), sum)})});
    };
    if (l.kind == Layout::Kind::blocks) {
        const auto unrolled = [&](std::int64_t n, const std::function<Body(const ExprP&)>& body) {
            const VarId v = counter();
            Stmt loop = loop_range(v, c(0), c(n), c(1), body(read(v)));
            loop.hint = Stmt::Hint::unroll;
            return loop;
        };
        const std::vector<ExprP> first(type.extents.size() - 2, c(0));
        const ExprP a_base = base_of(a, first), b_base = base_of(b, first);
        const auto [y, x] = block_place(l, thread_id());
        // Neighbours in shared memory come together: of a along the inner dimension, of b along a thread's columns.
        const std::int64_t size = static_cast<std::int64_t>(info(s.exprs[0]->type.dtype).size);
        const auto together = [&](const Operand& o, std::int64_t step, std::int64_t n) {
            const bool whole = is_whole(o.tile) && !operands.count(o.tile);
            if (step != 1 || whole) return std::int64_t{1};
            while (n > 1 && (n * size > 16 || depth % n != 0 || pitch(o.tile) % n != 0)) n /= 2;
            return n;
        };
        const std::int64_t deep = together(a, a.column_step, 4),
                           wide = together(b, b.column_step, l.column_run);
        const DType given = s.exprs[0]->type.dtype;
        const VarId left = local(given, l.rows * deep, "rows"), right = local(given, l.columns, "columns");
        const VarId k = counter();
        const auto fetch = [&](VarId to, const ExprP& slot, const Operand& o, const ExprP& base,
                               const ExprP& row, const ExprP& column, std::int64_t n) {
            if (n == 1) return put(to, slot, from.element(o, base, row, column));
            Stmt load = simple(Stmt::Kind::machine);
            load.text = fmt::format("xc_tile_load<{}>", n);
            load.exprs = {address(to, slot),
                          address(share_of(o.tile),
                                  add(base, add(mul(row, c(o.row_step)), mul(column, c(o.column_step)))))};
            return load;
        };
        Body turn;
        turn.push_back(unrolled(l.rows, [&](const ExprP& i) {
            const ExprP row = add(mul(add(mul(div_floor(i, c(l.row_run)), c(l.down)), y), c(l.row_run)),
                                  mod_floor(i, c(l.row_run)));
            return Body{fetch(left, mul(i, c(deep)), a, a_base, row, read(k), deep)};
        }));
        turn.push_back(unrolled(deep, [&](const ExprP& inner) {
            Body step;
            step.push_back(unrolled(l.columns / wide, [&](const ExprP& j) {
                const ExprP at = mul(j, c(wide));
                const ExprP column =
                    add(mul(add(mul(div_floor(at, c(l.column_run)), c(l.across)), x), c(l.column_run)),
                        mod_floor(at, c(l.column_run)));
                return Body{fetch(right, at, b, b_base, add(read(k), inner), column, wide)};
            }));
            step.push_back(unrolled(l.rows, [&](const ExprP& i) {
                return Body{unrolled(l.columns, [&](const ExprP& j) {
                    const ExprP slot = add(mul(i, c(l.columns)), j);
                    return Body{put(acc, slot,
                                    product_of(load(left, add(mul(i, c(deep)), inner)), load(right, j),
                                               load(acc, slot)))};
                })};
            }));
            return step;
        }));
        Stmt turns = loop_range(k, c(0), c(depth), c(deep), std::move(turn));
        if (plan.unrolled) turns.hint = Stmt::Hint::unroll;
        out.push_back(std::move(turns));
        return out;
    }
    // Few elements, or a stack of matrices: each thread the dot products of its own.
    append(
        out, each(l, [&](const std::vector<ExprP>& at, const ExprP& slot) {
            const VarId k = counter(), dot = scalar_var(sum, "dot");
            const ExprP row = at[at.size() - 2], column = at.back();
            Body turn{assign(dot, product_of(from.element(a, base_of(a, at), row, read(k)),
                                             from.element(b, base_of(b, at), read(k), column), read(dot)))};
            return Body{assign(dot, load(acc, slot)), loop_range(k, c(0), c(depth), c(1), std::move(turn)),
                        put(acc, slot, read(dot))};
        }));
    return out;
}

}  // namespace xcuda::tiles
