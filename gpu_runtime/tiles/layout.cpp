#include "tiles/layout.hpp"

#include <algorithm>

#include "passes/build.hpp"
#include "tiles/tensor_memory.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::div_floor;
using passes::mod_floor;
using passes::mul;

namespace {

// Threads over a product's tile so that each has about as many rows as columns.
Layout blocks(const Extents& extents, std::int64_t threads) {
    const std::int64_t m = extents[extents.size() - 2], n = extents.back();
    Layout l;
    l.kind = Layout::Kind::blocks;
    l.extents = extents;
    l.threads = threads;
    l.across = 1;
    while (l.across < n && l.across * l.across < threads) l.across *= 2;
    while (threads / l.across > m) l.across *= 2;
    l.down = threads / l.across;
    l.rows = m / l.down;
    l.columns = n / l.across;
    l.row_run = std::min<std::int64_t>(4, l.rows);
    l.column_run = std::min<std::int64_t>(4, l.columns);
    l.slots = l.rows * l.columns;
    return l;
}

// `tall`: as four warps' instructions have it, sixteen rows a warp.
Layout matrix_layout(const Extents& extents, std::int64_t threads, bool tall) {
    const std::int64_t m = extents[extents.size() - 2], n = extents.back(), warps = threads / 32;
    Layout l;
    l.kind = Layout::Kind::matrix;
    l.extents = extents;
    l.threads = threads;
    l.down = 1;
    // Warps as square as they can be: what a warp reads of both operands is then the least.
    while (l.down * 2 <= warps && m / (l.down * 2) >= 16 &&
           (m / l.down > n / (warps / l.down) || n / (warps / l.down) < 8))
        l.down *= 2;
    if (tall && m == 16 * warps) l.down = warps;
    l.across = warps / l.down;
    l.rows = m / l.down;
    l.columns = n / l.across;
    l.slots = l.rows * l.columns / 32;
    return l;
}

}  // namespace

std::optional<Layout> chained_layout(const Extents& extents, const Plan& plan) {
    if (plan.tall == 0 || extents.empty() || extents.size() > 2 || extents[0] != plan.tall)
        return std::nullopt;
    if (extents.size() == 2 && extents[1] > 1) {
        if (extents[1] % 8 != 0) return std::nullopt;
        return matrix_layout(extents, plan.threads, true);
    }
    Layout l;
    l.kind = Layout::Kind::rows;
    l.extents = extents;
    l.threads = plan.threads;
    l.slots = 2;
    return l;
}

Layout layout_of(const Extents& extents, const Plan& plan, bool product, bool matrix) {
    const std::int64_t n = elements(extents), threads = plan.threads;
    Layout l;
    l.extents = extents;
    l.threads = threads;
    if (n == 1) {
        l.kind = Layout::Kind::whole;
        return l;
    }
    const bool one_matrix = extents.size() >= 2 && std::all_of(extents.begin(), extents.end() - 2,
                                                               [](std::int64_t e) { return e == 1; });
    if (product && one_matrix) {
        const std::int64_t rows = extents[extents.size() - 2], columns = extents.back(), warps = threads / 32;
        if (matrix && plan.products == Instructions::tcgen05)
            if (auto made = tensor_layout(extents, threads)) return *made;
        if (matrix && rows >= 16 && columns >= 8 && rows / 16 * (columns / 8) >= warps)
            return matrix_layout(extents, threads, plan.products == Instructions::wgmma);
        if (rows * columns >= threads && rows * columns / threads <= 128) return blocks(extents, threads);
    }
    if (n >= threads) l.run = std::min<std::int64_t>({4, n / threads, extents.back()});
    l.slots = std::max<std::int64_t>(1, n / threads);
    return l;
}

std::vector<ExprP> indices_of(ExprP linear, const Extents& extents) {
    std::vector<ExprP> at(extents.size());
    std::int64_t inner = 1;
    for (std::size_t d = extents.size(); d-- > 0;) {
        ExprP here = div_floor(linear, int_constant(inner));
        inner *= extents[d];
        const bool first = inner == elements(extents);  // nothing lies beyond
        at[d] = extents[d] == 1 ? int_constant(0) : first ? here : mod_floor(here, int_constant(extents[d]));
    }
    return at;
}

std::int64_t run_of(const Layout& l) {
    switch (l.kind) {
        case Layout::Kind::whole: return 1;
        case Layout::Kind::spread: return l.run;
        case Layout::Kind::blocks: return l.column_run;
        case Layout::Kind::matrix: return 2;
        case Layout::Kind::rows: return 1;
    }
    return 1;
}

namespace {

std::vector<ExprP> matrix_at(const Layout& l, ExprP row, ExprP column) {
    std::vector<ExprP> at(l.extents.size() - 2, int_constant(0));
    at.push_back(std::move(row));
    at.push_back(std::move(column));
    return at;
}

}  // namespace

// A warp is four threads down and eight across where it can be: what it reads of both operands is the least then. Lane
// bits are, from the lowest: y, x, x, x, y. Shared memory gives 16 bytes a lane to a quarter of a warp at a time, and to
// half of it where each lane has a neighbour (its number with bit 0 or bit 1 turned) that reads the same.
std::pair<ExprP, ExprP> block_place(const Layout& l, const ExprP& thread) {
    const auto c = [](std::int64_t n) { return int_constant(n); };
    if (l.across % 8 != 0 || l.down % 4 != 0)
        return {div_floor(thread, c(l.across)), mod_floor(thread, c(l.across))};
    const ExprP warp = div_floor(thread, c(32)), lane = mod_floor(thread, c(32));
    const std::int64_t warps_across = l.across / 8;
    ExprP y = add(mul(div_floor(lane, c(16)), c(2)), mod_floor(lane, c(2)));
    ExprP x = mod_floor(div_floor(lane, c(2)), c(8));
    return {add(mul(div_floor(warp, c(warps_across)), c(4)), std::move(y)),
            add(mul(mod_floor(warp, c(warps_across)), c(8)), std::move(x))};
}

std::pair<ExprP, ExprP> warp_place(const Layout& l, const ExprP& thread) {
    const auto c = [](std::int64_t n) { return int_constant(n); };
    const ExprP warp = div_floor(thread, c(32));
    const ExprP y = l.down_first ? mod_floor(warp, c(l.down)) : div_floor(warp, c(l.across)),
                x = l.down_first ? div_floor(warp, c(l.down)) : mod_floor(warp, c(l.across));
    return {mul(y, c(l.rows)), mul(x, c(l.columns))};
}

Body unrolled(std::int64_t n, const std::function<VarId()>& counter, const std::function<ExprP(VarId)>& read,
              const std::function<Body(const ExprP&)>& body) {
    if (n == 1) return body(int_constant(0));
    const VarId v = counter();
    Stmt s = loop_range(v, int_constant(0), int_constant(n), int_constant(1), body(read(v)));
    s.hint = Stmt::Hint::unroll;
    Body out;
    out.push_back(std::move(s));
    return out;
}

Body each_run(const Layout& l, const ExprP& thread, const std::function<VarId()>& counter,
              const std::function<ExprP(VarId)>& read,
              const std::function<Body(const std::vector<ExprP>&, const ExprP&)>& body) {
    const auto loop = [&](std::int64_t n, const std::function<Body(const ExprP&)>& turn) {
        return unrolled(n, counter, read, turn);
    };
    const auto c = [](std::int64_t n) { return int_constant(n); };
    switch (l.kind) {
        case Layout::Kind::whole:
            return body(std::vector<ExprP>(l.extents.size(), int_constant(0)), int_constant(0));
        case Layout::Kind::spread: {
            const auto run = [&](const ExprP& j) {
                const ExprP first = mul(add(mul(j, c(l.threads)), thread), c(l.run));
                return body(indices_of(first, l.extents), mul(j, c(l.run)));
            };
            Body all = loop(std::max<std::int64_t>(1, l.slots / l.run), run);
            if (l.owns_all()) return all;
            return Body{branch(passes::compare(Op::lt, thread, c(elements(l.extents))), std::move(all))};
        }
        case Layout::Kind::blocks: {
            const auto [y, x] = block_place(l, thread);
            return loop(l.rows, [&](const ExprP& i) {
                const ExprP group = div_floor(i, c(l.row_run)), inner = mod_floor(i, c(l.row_run));
                const ExprP row = add(mul(add(mul(group, c(l.down)), y), c(l.row_run)), inner);
                return loop(l.columns / l.column_run, [&](const ExprP& j) {
                    const ExprP column = mul(add(mul(j, c(l.across)), x), c(l.column_run));
                    return body(matrix_at(l, row, column),
                                add(mul(i, c(l.columns)), mul(j, c(l.column_run))));
                });
            });
        }
        case Layout::Kind::rows:
            return loop(2, [&](const ExprP& half) {
                const ExprP lane = mod_floor(thread, c(32)), top = mul(div_floor(thread, c(32)), c(16));
                const ExprP row = add(add(top, mul(half, c(8))), div_floor(lane, c(4)));
                std::vector<ExprP> at{row};
                if (l.extents.size() == 2) at.push_back(c(0));
                return body(at, half);
            });
        case Layout::Kind::matrix: {  // PTX: lane/4 is the row, 2 * (lane % 4) the first of two columns
            const ExprP lane = mod_floor(thread, c(32));
            const auto [first_row, first_column] = warp_place(l, thread);
            const ExprP top = add(first_row, div_floor(lane, c(4)));
            const ExprP left = add(first_column, mul(mod_floor(lane, c(4)), c(2)));
            return loop(l.rows / 16, [&](const ExprP& i) {
                return loop(l.columns / 8, [&](const ExprP& j) {
                    return loop(2, [&](const ExprP& half) {
                        const ExprP row = add(top, add(mul(i, c(16)), mul(half, c(8))));
                        const ExprP column = add(left, mul(j, c(8)));
                        const ExprP slot = add(mul(add(mul(i, c(l.columns / 8)), j), c(4)), mul(half, c(2)));
                        return body(matrix_at(l, row, column), slot);
                    });
                });
            });
        }
    }
    return {};
}

Body each_slot(const Layout& l, const ExprP& thread, const std::function<VarId()>& counter,
               const std::function<ExprP(VarId)>& read,
               const std::function<Body(const std::vector<ExprP>&, const ExprP&)>& body) {
    const auto loop = [&](std::int64_t n, const std::function<Body(const ExprP&)>& turn) {
        return unrolled(n, counter, read, turn);
    };
    return each_run(l, thread, counter, read, [&](const std::vector<ExprP>& at, const ExprP& slot) {
        return loop(run_of(l), [&](const ExprP& i) {
            std::vector<ExprP> here = at;
            if (!here.empty()) here.back() = add(here.back(), i);
            return body(here, add(slot, i));
        });
    });
}

}  // namespace xcuda::tiles
