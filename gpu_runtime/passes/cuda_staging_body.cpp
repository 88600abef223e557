#include "passes/cuda_staging.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_region.hpp"
#include "passes/guard.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::int64_t most_written_out = 32;  // loads of a thread for one tile
constexpr int turns_at_once = 8;               // of a staged stretch: its loads of a row become wide ones

const Type& whole_number() {
    static const Type type = scalar(DType::i64, true);
    return type;
}

struct Maker {
    Function& f;
    const Staging& staging;
    const StagingFrame& frame;
    const std::array<VarId, 3>& base;
    ExprP thread{};                // its number in the block
    std::map<VarId, VarId> now{};  // the variables of marked loops, as they are called in this body

    ExprP renamed(const ExprP& e) const {
        return rewrite(e, [&](const ExprP& n) -> ExprP {
            if (n->op != Op::var) return n;
            const auto at = now.find(var_of(*n));
            return at == now.end() ? n : read(f, at->second);
        });
    }

    ExprP hold(Body& to, const char* name, ExprP value) {
        const VarId v = hidden(f, name);
        to.push_back(assign(v, cast(std::move(value), whole_number())));
        return read(f, v);
    }

    // All threads of the block, one element each and again until the tile is there.
    void fetch(const StagedTile& tile, Body& to) {
        std::int64_t elements = 1;
        for (const std::int64_t n : tile.lengths) elements *= n;
        const std::int64_t threads = frame.threads(), turns = (elements + threads - 1) / threads;
        const VarId turn = hidden(f, "turn");
        Body body;
        const ExprP number = hold(body, "number", add(mul(read(f, turn), int_constant(threads)), thread));
        std::vector<ExprP> places(tile.lengths.size()), from(tile.lengths.size());
        ExprP left = number;
        for (std::size_t d = tile.lengths.size(); d-- > 0;) {
            places[d] = d == 0 ? left : mod_floor(left, int_constant(tile.lengths[d]));
            left = div_floor(left, int_constant(tile.lengths[d]));
            from[d] = add(renamed(tile.origin[d]), places[d]);
        }
        from.insert(from.begin(), tile.array);
        Expr load = *make(Op::load, scalar(tile.array->type.dtype), std::move(from));
        load.payload = Access{};
        Stmt put =
            store(read(f, tile.shared), std::move(places), std::make_shared<const Expr>(std::move(load)), {});
        if (elements % threads == 0) {
            body.push_back(std::move(put));
        } else {
            Body inside;
            inside.push_back(std::move(put));
            body.push_back(branch(compare(Op::lt, number, int_constant(elements)), std::move(inside)));
        }
        Stmt loop = loop_range(turn, int_constant(0), int_constant(turns), int_constant(1), std::move(body));
        if (turns <= most_written_out) loop.hint = Stmt::Hint::unroll;
        to.push_back(std::move(loop));
    }

    bool fetch_all(int loop, Body& to) {
        bool any = false;
        for (const StagedTile& tile : staging.tiles)
            if (tile.loop == loop) {
                fetch(tile, to);
                any = true;
            }
        if (any) to.push_back(simple(Stmt::Kind::barrier));
        return any;
    }

    // Lane 0 at a multiple of the vector's size: rows begin at one, and so does the thread's first element.
    bool aligned(const Expr& load, const StagedTile& tile, const ExprP& last) const {
        const std::int64_t lanes = load.type.lanes,
                           bytes = lanes * static_cast<std::int64_t>(info(load.type.dtype).size);
        if (!tile.lead || (bytes % 16 != 0 && 16 % bytes != 0)) return false;
        std::int64_t beyond = 0;
        const Expr* at = last.get();
        if ((at->op == Op::add || at->op == Op::sub) && integer_of(at->args[1])) {
            beyond = *integer_of(at->args[1]) * (at->op == Op::add ? 1 : -1);
            at = at->args[0].get();
        }
        return at->op == Op::var && var_of(*at) == base[static_cast<std::size_t>(tile.along)] &&
               (beyond - *tile.lead) % lanes == 0;
    }

    // The loads of the loop's tiles: of shared memory, or (`back`) of the array as before.
    void place(Body& body, int loop, bool back) const {
        rewrite_exprs(body, [&](const ExprP& e) -> ExprP {
            if (e->op != Op::load || e->args[0]->op != Op::var) return e;
            for (const StagedTile& tile : staging.tiles) {
                if (tile.loop != loop || tile.shared != var_of(*e->args[0])) continue;
                auto node = std::make_shared<Expr>(*e);
                if (back) {
                    node->args[0] = tile.array;
                    return node;
                }
                const std::size_t axes = tile.lengths.size();
                if (e->type.lanes > 1)
                    std::get<Access>(node->payload).aligned = aligned(*e, tile, e->args[axes]);
                for (std::size_t d = 0; d < axes; ++d)
                    node->args[d + 1] = sub(cast(node->args[d + 1], whole_number()), renamed(tile.origin[d]));
                return node;
            }
            return e;
        });
    }

    Body made(Body body) {
        Body out;
        for (Stmt& s : body) {
            const int marker =
                s.kind == Stmt::Kind::loop_range && s.site <= first_marker ? first_marker - s.site : -1;
            if (marker >= 0) now[staging.loops[static_cast<std::size_t>(marker)]] = s.var;
            s.body = made(std::move(s.body));
            s.orelse = made(std::move(s.orelse));
            if (marker >= 0 && staging.starts[static_cast<std::size_t>(marker)] >= 0)
                cut(std::move(s), marker, out);
            else
                out.push_back(std::move(s));
        }
        return out;
    }

    // Stretches of the frame's turns, their tiles fetched before each; then what is left.
    void cut(Stmt loop, int marker, Body& out) {
        loop.site = -1;
        const VarId from = staging.starts[static_cast<std::size_t>(marker)];
        const ExprP start = read(f, from), turns = int_constant(frame.turns);
        out.push_back(assign(from, cast(loop.exprs[0], whole_number()), loop.place));
        const ExprP stop = hold(out, "until", loop.exprs[1]);

        Stmt stretches = simple(Stmt::Kind::loop_while, loop.place);
        stretches.exprs = {both(compare(Op::lt, start, stop), compare(Op::ge, sub(stop, start), turns))};
        fetch_all(marker, stretches.body);
        Stmt inner = loop;
        const VarId turn = hidden(f, "turn");  // counts from 0: that there are few turns can be seen then
        inner.var = turn;
        inner.exprs = {int_constant(0), turns, int_constant(1)};
        inner.body.insert(
            inner.body.begin(),
            assign(loop.var, cast(add(start, read(f, turn)), f.vars[static_cast<std::size_t>(loop.var)].type),
                   loop.place));
        if (inner.turns == 0) inner.turns = turns_at_once;
        place(inner.body, marker, false);
        stretches.body.push_back(std::move(inner));
        stretches.body.push_back(simple(Stmt::Kind::barrier));  // all have read it: the next may come
        stretches.body.push_back(assign(from, add(start, turns)));
        out.push_back(std::move(stretches));

        loop.exprs = {start, stop, int_constant(1)};
        place(loop.body, marker, true);
        out.push_back(std::move(loop));
    }
};

}  // namespace

Body staged_places(Function& f, const Staging& staging, const StagingFrame& frame,
                   const std::array<VarId, 3>& base) {
    Body out;
    for (int a = 0; a < 3; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        out.push_back(
            assign(staging.first[axis], mul(coord(Coord::Kind::block, a), int_constant(frame.extent(a)))));
        out.push_back(
            assign(base[axis], add(read(f, staging.first[axis]),
                                   mul(coord(Coord::Kind::thread, a), int_constant(frame.elements[axis])))));
    }
    return out;
}

ExprP block_inside(const Function& f, const Staging& staging, const StagingFrame& frame, const Box& guard) {
    ExprP inside;
    for (int a = 0; a < 3; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        const ExprP first = read(f, staging.first[axis]);
        if (integer_of(guard.low[axis]).value_or(1) > 0)
            inside = both(inside, compare(Op::ge, first, guard.low[axis]));
        if (guard.high[axis])
            inside =
                both(inside, compare(Op::le, add(first, int_constant(frame.extent(a))), guard.high[axis]));
    }
    return inside;
}

Body staged_body(Function& f, Body body, const Staging& staging, const StagingFrame& frame,
                 const std::array<VarId, 3>& base) {
    Maker maker{f, staging, frame, base};
    Body out;
    ExprP number = int_constant(0);
    std::int64_t stride = 1;
    for (std::size_t hardware = 0; hardware < 3; ++hardware) {
        for (int a = 0; a < 3; ++a)
            if (frame.order[static_cast<std::size_t>(a)] == static_cast<int>(hardware) &&
                frame.block[hardware] > 1)
                number = add(number, mul(coord(Coord::Kind::thread, a), int_constant(stride)));
        stride *= frame.block[hardware];
    }
    maker.thread = maker.hold(out, "thread", number);
    body = maker.made(std::move(body));
    maker.fetch_all(-1, out);
    maker.place(body, -1, false);
    for (Stmt& s : body) out.push_back(std::move(s));
    return out;
}

bool stage_threads(Function& f, const StagingFrame& frame) {
    Body body = f.body;
    Box guard = whole_grid();
    strip_guard(f, body, guard);
    auto staging = stage(f, body, frame);
    if (!staging) return false;
    std::array<VarId, 3> base{};
    for (VarId& v : base) v = hidden(f, "at");
    rewrite_exprs(staging->body, [&](const ExprP& e) -> ExprP {
        const bool global = e->op == Op::coord && coord_of(*e).kind == Coord::Kind::global;
        return global ? read(f, base[static_cast<std::size_t>(coord_of(*e).axis)]) : e;
    });
    Body out = staged_places(f, *staging, frame, base);
    const ExprP test = both(block_inside(f, *staging, frame, guard), staging->test);
    Body staged = staged_body(f, std::move(staging->body), *staging, frame, base);
    out.push_back(branch(test, std::move(staged), std::move(f.body)));
    f.body = std::move(out);
    return true;
}

}  // namespace xcuda::passes
