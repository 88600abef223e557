#include "tiles/order.hpp"

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::div_floor;
using passes::mod_floor;
using passes::mul;

namespace {

constexpr std::int64_t group = 8;  // rows of tiles that are gone through together

bool is_block(const Expr& e, int axis) {
    if (e.op != Op::coord) return false;
    const Coord& c = coord_of(e);
    return c.kind == Coord::Kind::block && c.axis == axis;
}

}  // namespace

void group_programs(Function& f) {
    bool across = false, down = false;
    each_expr(f.body, [&](const Expr& e) {
        across |= is_block(e, 0);
        down |= is_block(e, 1);
    });
    if (!across || !down) return;
    const Type index = scalar(DType::i64, true);
    const auto made = [&](const char* name) { return f.add({name, index, Var::Role::hidden, {}, {}}); };
    const VarId x = made("tile_x"), y = made("tile_y"), number = made("number"), first = made("first"),
                rows = made("rows"), within = made("within");
    const auto read = [&](VarId v) { return var(v, index); };
    rewrite_exprs(f.body, [&](const ExprP& e) {
        return is_block(*e, 0) ? read(x) : is_block(*e, 1) ? read(y) : e;
    });
    const ExprP columns = coord(Coord::Kind::grid_dim, 0), all_rows = coord(Coord::Kind::grid_dim, 1),
                size = int_constant(group);
    Body begin{
        assign(number, add(mul(coord(Coord::Kind::block, 1), columns), coord(Coord::Kind::block, 0))),
        assign(first, mul(div_floor(read(number), mul(columns, size)), size)),
        assign(rows, passes::minimum(passes::sub(all_rows, read(first)), size)),
        assign(within, mod_floor(read(number), mul(columns, size))),
        assign(y, add(read(first), mod_floor(read(within), read(rows)))),
        assign(x, div_floor(read(within), read(rows))),
    };
    f.body.insert(f.body.begin(), std::make_move_iterator(begin.begin()),
                  std::make_move_iterator(begin.end()));
}

}  // namespace xcuda::tiles
