#include <algorithm>

#include "passes/build.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::mul;

void append(Body& to, Body from) {
    for (Stmt& s : from) to.push_back(std::move(s));
}

VarId Threads::scalar_var(const Type& type, const char* name) {
    return f.add({name, type, Var::Role::hidden, {}});
}

VarId Threads::local(DType dtype, std::int64_t n, const std::string& name) {
    return f.add({name, fixed_array(dtype, {n}, Space::local), Var::Role::local_array, {}});
}

VarId Threads::shared(DType dtype, std::int64_t n, const std::string& name) {
    return f.add({name, fixed_array(dtype, {n}, Space::shared), Var::Role::shared, {}});
}

VarId Threads::hidden_tile(DType dtype, const Extents& extents) {
    return f.add({"t", tile(dtype, extents), Var::Role::hidden, {}});
}

VarId Threads::counter() { return scalar_var(scalar(DType::i64, true), "i"); }

ExprP Threads::load(VarId array, ExprP index) const {
    Expr e = *make(Op::load, scalar(type_of(array).dtype), {read(array), std::move(index)});
    e.payload = Access{};
    return std::make_shared<const Expr>(std::move(e));
}

Stmt Threads::put(VarId array, ExprP index, ExprP value) const {
    return store(read(array), {std::move(index)}, std::move(value), Access{});
}

ExprP Threads::address(VarId array, ExprP index) const {
    Expr e = *make(Op::address, scalar(type_of(array).dtype), {read(array), std::move(index)});
    e.payload = Access{};
    return std::make_shared<const Expr>(std::move(e));
}

Layout Threads::layout(const Extents& extents) const {
    if (auto chained = chained_layout(extents, plan)) return *chained;
    return layout_of(extents, plan, products.count(extents) > 0, matrices.count(extents) > 0);
}

VarId Threads::registers_of(VarId tile) {
    const auto known = registers.find(tile);
    if (known != registers.end()) return known->second;
    const Type type = type_of(tile);
    const VarId made =
        local(type.dtype, layout(type.extents).slots, f.vars[static_cast<std::size_t>(tile)].name + "_r");
    registers.emplace(tile, made);
    return made;
}

bool Threads::is_whole(VarId tile) const { return elements(type_of(tile).extents) == 1; }

bool Threads::has_rows(const Extents& extents) const { return chained_layout(extents, plan).has_value(); }

// The tiles that an expression reads at other places than a thread has in registers.
std::vector<VarId> Threads::elsewhere(const ExprP& e, const Extents& extents) const {
    return read_elsewhere(f, e, extents, [&](const Expr& leaf) {
        const Extents& own = type_of(var_of(*leaf.args[0])).extents;
        const auto l = chained_layout(own, plan);
        if (!l || l->kind != Layout::Kind::rows || !has_rows(extents)) return false;
        if (leaf.args.size() == 1) return own.size() == 2 && extents.size() == 2;
        const Expr& row = *leaf.args[1];
        return leaf.type.extents.size() == extents.size() && leaf.type.extents[0] == plan.tall &&
               row.op == Op::position && row.type.extents == leaf.type.extents &&
               std::get<Axis>(row.payload).value == 0;
    });
}

// A row of 32 banks' width would put a column into one bank; 16 bytes more also keep what ldmatrix asks for.
std::int64_t Threads::pitch(VarId tile) const {
    const Type type = type_of(tile);
    const std::int64_t n = type.extents.back(), size = static_cast<std::int64_t>(info(type.dtype).size);
    if (type.extents.size() < 2 || n * size < 32 || swizzled.count(tile)) return n;
    return n + std::max<std::int64_t>(1, 16 / size);
}

ExprP Threads::shared_index(VarId tile, const std::vector<ExprP>& indices) const {
    return add(share_base(tile), shared_place(tile, indices));
}

// Swizzled: blocks of rows of 128 bytes, of which the eight pieces of row r change places by exclusive or with r % 8. Eight
// rows' pieces of one column then lie in eight different banks; four warps' instructions read this order themselves.
ExprP Threads::shared_place(VarId tile, const std::vector<ExprP>& indices) const {
    const Type type = type_of(tile);
    Extents extents = type.extents;
    if (!swizzled.count(tile)) {
        extents.back() = pitch(tile);
        return linear_index(indices, extents);
    }
    const std::int64_t size = static_cast<std::int64_t>(info(type.dtype).size), line = 128 / size,
                       piece = 16 / size, rows = extents[extents.size() - 2];
    const auto c = [](std::int64_t n) { return int_constant(n); };
    const ExprP &r = indices[indices.size() - 2], &column = indices.back();
    const ExprP block = passes::div_floor(column, c(line)), within = passes::mod_floor(column, c(line));
    const ExprP moved = make(Op::bit_xor, scalar(DType::i64, true),
                             {passes::div_floor(within, c(piece)), passes::mod_floor(r, c(8))});
    return add(add(mul(block, c(rows * line)), mul(r, c(line))),
               add(mul(moved, c(piece)), passes::mod_floor(within, c(piece))));
}

// What the instructions of four warps read, they read by another way than threads write.
void Threads::written_barrier(Body& body) const {
    if (plan.products == Instructions::wgmma) {
        Stmt fence = simple(Stmt::Kind::machine);
        fence.text = "xc_tile_proxy";
        body.push_back(std::move(fence));
    }
    body.push_back(barrier());
}

std::int64_t Threads::share_size(VarId tile) const {
    const Extents extents = type_of(tile).extents;
    return elements(extents) / extents.back() * pitch(tile);
}

ExprP Threads::share_base(VarId tile) const {
    const auto stage = staged.find(tile);
    return stage == staged.end() ? int_constant(0) : mul(read(stage->second), int_constant(share_size(tile)));
}

VarId Threads::share_of(VarId tile) {
    const auto known = shares.find(tile);
    if (known != shares.end()) return known->second;
    const std::int64_t n = share_size(tile) * (staged.count(tile) ? plan.stages : 1);
    const VarId made = shared(type_of(tile).dtype, n, f.vars[static_cast<std::size_t>(tile)].name + "_s");
    if (swizzled.count(tile) && plan.products >= Instructions::wgmma)
        f.vars[static_cast<std::size_t>(made)].alignment = 1024;
    shares.emplace(tile, made);
    return made;
}

Body Threads::each(const Extents& extents,
                   const std::function<Body(const std::vector<ExprP>&, const ExprP&)>& body) {
    return each(layout(extents), body);
}

Body Threads::each(const Layout& l,
                   const std::function<Body(const std::vector<ExprP>&, const ExprP&)>& body) {
    return each_slot(l, thread_id(), [this] { return counter(); }, [this](VarId v) { return read(v); }, body);
}

Body Threads::publish(VarId tile) {
    const VarId array = share_of(tile), own = registers_of(tile);
    return each(type_of(tile).extents, [&](const std::vector<ExprP>& at, const ExprP& slot) {
        return Body{put(array, shared_index(tile, at), load(own, slot))};
    });
}

Body Threads::publish(const std::vector<VarId>& tiles) {
    Body out;
    for (const VarId v : tiles) {
        if (is_whole(v) || operands.count(v)) continue;
        if (out.empty()) out.push_back(barrier());  // whoever read what lay there before is done
        append(out, publish(v));
    }
    if (!out.empty()) written_barrier(out);
    return out;
}

ExprP Threads::value_at(const ExprP& e, const std::vector<ExprP>& at_place, const Extents& extents,
                        const ExprP& slot) {
    return at(e, {at_place, extents}, [&](VarId tile, const std::vector<ExprP>& indices, bool own) {
        if (operands.count(tile)) return load(share_of(tile), shared_index(tile, indices));
        if (is_whole(tile)) return load(registers_of(tile), int_constant(0));
        if (own && type_of(tile).extents == extents) return load(registers_of(tile), slot);
        const auto l = chained_layout(type_of(tile).extents, plan);
        if (l && l->kind == Layout::Kind::rows && has_rows(extents) && same(*indices[0], *at_place[0])) {
            const bool of_row = layout(extents).kind == Layout::Kind::rows;
            return load(
                registers_of(tile),
                of_row ? slot : passes::mod_floor(passes::div_floor(slot, int_constant(2)), int_constant(2)));
        }
        return load(share_of(tile), shared_index(tile, indices));
    });
}

VarId Threads::in_tile(const ExprP& e, Body& before) {
    if (e->op == Op::element && e->args.size() == 1) return var_of(*e->args[0]);
    const VarId held = hidden_tile(e->type.dtype, extents_of(*e));
    append(before, map(held, e, e->place));
    return held;
}

// `array` holds the elements row-major, without padding.
Body Threads::fill_from_shared(VarId tile, VarId array) {
    const Extents extents = type_of(tile).extents;
    const VarId own = registers_of(tile);
    return each(extents, [&](const std::vector<ExprP>& at, const ExprP& slot) {
        return Body{put(own, slot, load(array, linear_index(at, extents)))};
    });
}

}  // namespace xcuda::tiles
