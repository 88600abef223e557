// The lowering of tile programs to blocks of threads: its state, and its parts by file. Tiles live in registers by their
// layout; what other threads read goes through shared memory.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tiles/fold.hpp"
#include "tiles/frame.hpp"
#include "tiles/layout.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

struct Threads {
    ir::Function& f;
    const Plan& plan;
    ir::VarId thread = -1;                     // this thread's number in the block
    std::set<ir::Extents> products, matrices;  // extents that products are summed in; by matrix instructions
    std::map<ir::VarId, ir::VarId> registers{};  // tile -> its local array
    std::map<ir::VarId, ir::VarId> shares{};     // tile -> its copy in shared memory
    std::set<ir::VarId> operands{};  // tiles that only products read: they live in shared memory alone
    std::map<ir::VarId, ir::VarId> staged{};  // operand -> which of its copies in shared memory is read now
    std::map<ir::VarId, std::int64_t> multiples{};  // loop counter -> what divides it
    std::set<ir::VarId> fenced{};                   // arrays that the kernel both reads and writes
    std::set<ir::VarId>
        swizzled{};  // operands of matrix instructions alone: 16-byte pieces of rows change places

    ir::Module* module = nullptr;
    std::set<ir::VarId> early{};  // of a flowing chain: numbers that all warps know before
    std::optional<std::int64_t> multiple_of(const ir::ExprP& e) const;  // what divides a loop's start
    ir::Body giver{}, gates_made{};  // what the warp that asks for boxes does; before, by all

    Threads(ir::Function& function, const Plan& p) : f(function), plan(p) {}
    void run(ir::Module& module);

    // threads.cpp
    ir::Body lower(const ir::Body& body);
    ir::Body lower(const ir::Stmt& s);
    ir::Body map(ir::VarId tile, const ir::ExprP& e, const Place& place);
    ir::Body store_tile(const ir::Stmt& s);
    void append_fence(ir::Body& body, const ir::ExprP& array) const;

    // thread_values.cpp
    ir::Type type_of(ir::VarId v) const { return f.vars[static_cast<std::size_t>(v)].type; }
    ir::ExprP read(ir::VarId v) const { return ir::var(v, type_of(v)); }
    ir::ExprP thread_id() const { return read(thread); }
    ir::VarId scalar_var(const ir::Type& type, const char* name);
    ir::VarId local(DType dtype, std::int64_t n, const std::string& name);
    ir::VarId shared(DType dtype, std::int64_t n, const std::string& name);
    ir::VarId hidden_tile(DType dtype, const ir::Extents& extents);
    ir::ExprP load(ir::VarId array, ir::ExprP index) const;
    ir::Stmt put(ir::VarId array, ir::ExprP index, ir::ExprP value) const;
    ir::ExprP address(ir::VarId array, ir::ExprP index) const;
    ir::VarId counter();
    Layout layout(const ir::Extents& extents) const;
    ir::VarId registers_of(ir::VarId tile);
    bool is_whole(ir::VarId tile) const;
    bool has_rows(const ir::Extents& extents) const;  // a thread has the same rows of it as of a number a row
    std::vector<ir::VarId> elsewhere(const ir::ExprP& e, const ir::Extents& extents) const;
    std::int64_t pitch(ir::VarId tile) const;  // elements from a row to the next in shared memory
    ir::ExprP shared_index(ir::VarId tile, const std::vector<ir::ExprP>& indices) const;
    ir::ExprP shared_place(ir::VarId tile, const std::vector<ir::ExprP>& indices) const;  // within one copy
    std::int64_t share_size(ir::VarId tile) const;  // elements of one copy
    ir::ExprP share_base(ir::VarId tile) const;     // where the copy that is read now begins
    ir::VarId share_of(ir::VarId tile);
    ir::Body publish(ir::VarId tile);
    ir::Body publish(const std::vector<ir::VarId>& tiles);
    ir::VarId in_tile(const ir::ExprP& e, ir::Body& before);  // a tile variable that holds it
    ir::ExprP value_at(const ir::ExprP& e, const std::vector<ir::ExprP>& at, const ir::Extents& extents,
                       const ir::ExprP& slot);
    ir::Body each(const ir::Extents& extents,
                  const std::function<ir::Body(const std::vector<ir::ExprP>&, const ir::ExprP&)>& body);
    ir::Body each(const Layout& layout,
                  const std::function<ir::Body(const std::vector<ir::ExprP>&, const ir::ExprP&)>& body);
    ir::Body fill_from_shared(ir::VarId tile, ir::VarId array);
    ir::Stmt barrier() const { return ir::simple(ir::Stmt::Kind::barrier); }
    void written_barrier(
        ir::Body& body) const;  // after writes to shared memory that instructions may read themselves

    // thread_folds.cpp
    ir::Body reduce(const ir::Stmt& s);
    ir::Body reduce_all(const ir::Stmt& s);
    ir::Body reduce_lines(const ir::Stmt& s);
    ir::Body scan(const ir::Stmt& s);
    ir::Body across_lanes(const Folding& fold, ir::VarId value, std::int64_t lanes);

    // thread_rows.cpp
    std::optional<ir::Body> reduce_rows(const ir::Stmt& s);

    // thread_pipelines.cpp
    std::optional<ir::Body> pipelined(const ir::Stmt& loop);
    // A loop's turn in parts where its two products overlap with what is between: the first of a turn is under way beside
    // the second of the turn before.
    struct Chain {
        ir::Body before, first, between, scaled, after;
        ir::Stmt second, first_settled, second_settled;
        ir::Stmt held_back;       // second_settled, or the same after what is known when `between` is done
        ir::ExprP operands[2]{};  // the second ones
    };
    std::optional<Chain> chain_of(const ir::Body& turn);
    // thread_chains.cpp: the same loop where the copy engine brings the operands.
    std::optional<ir::Body> flowing_chain(const ir::Stmt& loop, const Chain& chain,
                                          const std::vector<const ir::Stmt*>& fed, ir::VarId stage);
    std::optional<ir::Body> chained();
    ir::Body feed(ir::VarId tile, const ir::ExprP& e, const ir::ExprP& stage);
    std::int64_t copied_at_once(const ir::ExprP& array, const std::vector<ir::ExprP>& indices,
                                const ir::Extents& extents, std::int64_t run) const;

    // thread_flows.cpp
    std::optional<ir::Body> flow(ir::Module& module);

    // thread_splits.cpp
    std::optional<ir::Body> split(ir::Module& module);
    bool splits(const ir::Module& of) const;  // a product that the plan has blocks of a cluster share
    void sum_of_cluster(ir::Body& body, ir::Module& of, const ir::Stmt& product, ir::VarId share,
                        const ir::ExprP& rank, ir::Body rest);

    // thread_products.cpp
    ir::Body product(const ir::Stmt& s);
    ir::Body product_of_held(const ir::Stmt& s);
    std::optional<int> matrix_kind(const ir::Stmt& product) const;
    bool for_four_warps(const ir::Stmt& product) const;
    bool for_tensor_memory(const ir::Stmt& product) const;
    bool is_held(const ir::Stmt& product) const;  // its first operand is in registers as instructions take it
    void find_swizzled();
};

inline ir::ExprP c(std::int64_t n) { return ir::int_constant(n); }
void append(ir::Body& to, ir::Body from);
/// Of statements before a loop that sums into a tile: they leave zeros there.
bool begins_at_zero(const ir::Body& before, ir::VarId sum);
/// Another tile with its last two axes in each other's place.
bool is_turned(const ir::Expr& e);

}  // namespace xcuda::tiles
