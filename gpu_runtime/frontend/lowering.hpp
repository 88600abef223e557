// One function on its way from syntax tree to IR. Methods are grouped by the file that holds them.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/time_unit.hpp"
#include "frontend/array_expression.hpp"
#include "frontend/fold.hpp"
#include "frontend/functions.hpp"
#include "frontend/lower.hpp"
#include "frontend/lowering_parts.hpp"
#include "frontend/refusals.hpp"
#include "frontend/seen.hpp"
#include "frontend/unit.hpp"
#include "frontend/value.hpp"
#include "ir/tile.hpp"

namespace xcuda::frontend {

class Lowering : private LoweringParts {
public:
    Lowering(Unit& unit, const FunctionSource& source,
             std::vector<std::pair<std::string, Argument>> arguments);
    Lowered run();

private:
    using Node = ast::Node;
    using ExprP = ir::ExprP;
    using Op = ir::Op;
    using Slots = std::map<std::string, Slot>;

    // lower_function.cpp: passes until types stand still
    void pass();
    bool took_changing_for_constant();
    Value parameter(const std::string& name, const Argument& argument);
    void bind_parameter(const std::string& name, const Argument& argument);
    void expect_given(const Slot& result) const;
    void finish_result();

    // lower_variables.cpp
    Value read(const Node& name);
    Value read_slot(const std::string& path, const Slot& slot, const Place& place);
    std::string path_of(const std::string& name, const Value& value);
    void assign(const std::string& name, const Value& value, const Place& place);
    void assign_view(const std::string& path, Value view, const Place& place);
    void assign_scalar(const std::string& path, const Value& value, const Place& place);
    const Slot* slot_of(const std::string& path) const;
    ir::VarId variable(const std::string& path, const ir::Type& type, const Place& place);
    void expect_same_rounds(const Flow& before, const Flow& end);
    ExprP check_bound(const std::string& name, ExprP value, const Place& place);
    ExprP spill(ExprP value);
    Value evaluated(Value v);
    ir::VarId hidden(const ir::Type& type, const Place& place);
    bool nonnegative(const ir::Expr& e) const;
    std::optional<ir::Coord> coord_of(const ir::Expr& e) const;

    // lower_statements.cpp
    void statements(const std::vector<ast::NodeP>& nodes);
    void statement(const Node& node);
    void assign_statement(const Node& node);
    void annotated(const Node& node);
    void augmented(const Node& node);
    Value read_before(Value v, const std::vector<const Node*>& targets);
    void assign_target(const Node& target, const Value& given);
    void unpack(const Node& target, const Value& value);
    void name_arrays(Value& v, const std::string& name);
    void if_statement(const Node& node);
    void expression_statement(const Node& node);
    void return_statement(const Node& node);
    void give_back(const Value& v, const Place& place, const Place& value_place);
    void assert_statement(const Node& node);
    void raise_statement(const Node& node);
    void fault(ir::Site site);
    ir::Body block(const std::vector<ast::NodeP>& nodes);

    // lower_match.cpp
    void match_statement(const Node& node);
    void match_cases(const Value& subject, const std::vector<ast::NodeP>& cases, std::size_t first);
    ExprP pattern(const Value& subject, const Node& node, std::vector<Binding>& bindings);

    // lower_loops.cpp
    void for_statement(const Node& node);
    Value call_range(const Node& call);
    void counted(const Node& node, std::vector<ExprP> bounds, const std::function<Value(ExprP)>& item);
    void for_tuple(const Node& node, const std::vector<Value>& items);
    void with_loop_variable(const std::string& name, Value value, const std::function<void()>& body);
    void while_statement(const Node& node);
    void leave_loop(const Node& node);

    // lower_sequences.cpp
    bool iterable(const Value& v) const;
    std::optional<std::vector<Value>> known_items(const Value& v);
    std::optional<std::vector<Value>> known_range(const Value& v) const;
    Value kept_still(Value v);
    ExprP range_count(const Value& range, const Place& place);
    Sequence sequence(const Value& v, const Place& place);
    void each(const Value& v, const Place& place, const std::function<void(const Value&)>& body,
              const ExprP& going = nullptr);
    void bind_item(const Node& target, const Value& given, const std::function<void()>& body);
    void filtered(const std::vector<ast::NodeP>& tests, std::size_t first, const std::function<void()>& body);
    Value generator(const Node& node);
    Value call_lazy(const Node& node, const std::string& name);
    Value call_indices(const Node& node, const std::string& name);
    Sequence index_sequence(const Value& v, const Place& place);
    ExprP reduce(const Value& v, ExprP first, const Place& place,
                 const std::function<ExprP(ExprP, ExprP)>& step, const std::function<ExprP(ExprP)>& going);
    Value call_sum(const Node& node);
    Value call_any(const Node& node, bool any);
    Value least_of(const Value& v, const KernelFunction& function, const std::string& spelling,
                   const Place& place);
    ExprP in_range(const ExprP& given, const Value& range, const Place& place);

    // lower_expressions.cpp
    Value value(const Node& node);
    ExprP number(const Node& node);
    ExprP number(const Value& value, const Place& place);
    std::vector<Value> operands(const std::vector<const Node*>& nodes);
    void settle(std::vector<Value*> earlier, std::size_t mark);
    void settle_values(const std::vector<Value*>& earlier, std::size_t& mark,
                       const std::set<ir::VarId>& changed);
    std::pair<Value, ir::Body> aside(const std::function<Value()>& lower);
    Value literal(const Node& node);
    Value name(const Node& node);
    Value attribute(const Node& node);
    Value tuple(const Node& node);
    Value walrus(const Node& node);
    Value binary(const Node& node);
    Value unary(const Node& node);
    Value subscript(const Node& node);
    Value enum_member(const Value& base, const Node& node);
    Value tuple_item(const Value& base, const Value& at, const Node& node);
    Value tuple_slice(const Value& base, const Value& slice, const Place& place) const;
    Value from_meaning(const Meaning& meaning, const std::string& written, const Place& place);
    const Meaning* meaning_of(const Node& node, std::string* written);

    // lower_logic.cpp
    ExprP condition(const Node& node);
    Value boolean(const Node& node, bool truth_only);
    Value compare(const Node& node);
    Value compare_pair(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value conditional(const Node& node);
    Value choose(ExprP test, Value yes, ir::Body yes_body, Value no, ir::Body no_body, const Place& place);
    Value choose_items(ExprP test, const Value& yes, ir::Body yes_body, const Value& no, ir::Body no_body,
                       const Place& place);

    // lower_one_of.cpp: names that hold one array or another, by the path taken
    std::string array_key(ir::VarId id) const;
    ir::VarId choice_named(const std::string& path, const std::set<std::string>& keys, const Place& place);
    ir::VarId new_choice(const std::string& name, std::vector<std::string> keys, const Place& place);
    std::vector<std::string> keys_of(const Value& v) const;
    ir::VarId array_of_key(const std::string& key) const;
    ExprP which_of(ir::VarId array, const Choice& among, const Place& place) const;
    const Choice* choice_of(const Value& v) const;
    Value as_one_of(const std::string& path, Value v, const Place& place);
    Value chosen_now(Value v);
    bool may_be_one(const Value& a, const Value& b) const;
    Value either_array(const Value& yes, ir::Body& yes_body, const Value& no, ir::Body& no_body,
                       const Place& place);
    Value invoke_by_choice(const FunctionSource& callee,
                           const std::vector<std::pair<std::string, Argument>>& typed,
                           const std::vector<ExprP>& flat, const Node& node, ir::VarId choice);
    Choices now_several() const;
    ir::Body without_choices(ir::Body body);
    void by_choice(const ir::Stmt& s, ir::Body& into);
    ExprP by_choice(const ExprP& e);
    ir::VarId choice_in(const ExprP& e) const;
    ExprP meant(const ExprP& e, ir::VarId choice, ir::VarId array);
    ir::Access meant(ir::Access access, ir::VarId array);

    // lower_operators.cpp
    ExprP convert(ExprP value, const ir::Type& type);
    ExprP truth(ExprP value);
    ExprP arithmetic(ir::Op op, ExprP a, ExprP b, const Place& place);
    ExprP comparison(ir::Op op, ExprP a, ExprP b, const Place& place);
    ExprP negate(ir::Op op, ExprP a, const Place& place);
    ExprP divide(ir::Op op, ExprP a, ExprP b, ir::Type type, const Place& place);
    ExprP power(ExprP a, ExprP b, const Place& place);
    ExprP complex_power(ExprP a, ExprP b, const Place& place);
    Value part(const std::string& name, ExprP z, const Place& place);
    ExprP whole_power(ExprP a, std::int64_t n, const Place& place);
    Value tuple_arithmetic(ir::Op op, const Value& a, const Value& b, const Place& place);
    static std::optional<ir::Op> operator_named(const std::string& ast_name);

    // lower_times.cpp
    ExprP time_apply(const char* name, std::vector<ExprP> args, const Place& place);
    ExprP rescaled(ExprP bits, DType from, TimeUnit to, const Place& place);
    std::pair<ExprP, ExprP> in_one_unit(const ExprP& a, const ExprP& b, TimeUnit unit, const Place& place);
    ExprP time_arithmetic(ir::Op op, const ExprP& a, const ExprP& b, const Place& place);
    ExprP time_comparison(ir::Op op, const ExprP& a, const ExprP& b, const Place& place);
    ExprP convert_time(const ExprP& value, const ir::Type& type);
    ExprP time_function(const KernelFunction& function, std::vector<ExprP> args, const Place& place);
    Value call_time(DType dtype, const Node& node);

    // lower_index.cpp
    Value element_or_row(const Value& base, const Node& node);
    std::vector<ExprP> index_list(const Value& index, const Node& node);
    static std::vector<Value> index_items(const Value& index, const Node& slice);
    Element element(const Value& base, std::vector<ExprP> indices, const Place& place);
    ExprP load(const Element& element, const Place& place);
    void store(const Element& element, ExprP value, const Place& place);
    void store_subscript(const Node& target, const Value& value);
    void augment_subscript(const Node& target, ir::Op op, const Node& rhs, const Place& place);
    std::vector<ExprP> viewed_indices(const Value& base, const Value& at, const Node& target);
    ExprP index(ExprP value, const Place& place);
    std::optional<std::int64_t> constant_int(const Value& value) const;

    // lower_views.cpp
    Value view_of(const Value& array) const;
    static std::size_t rank(const Value& array);
    ExprP length(const Value& array, std::size_t axis, const Place& place) const;
    Value slice(const Node& node);
    ViewAxis slice_run(const Value& slice, const ExprP& n, const Place& place);
    Value sliced(const Value& base, const std::vector<Value>& items, const Place& place);
    void fix_axis(Value& view, const ViewAxis& axis, ExprP at, const ExprP& n, int number_of_axis,
                  const Place& place);
    ExprP within(const std::string& subject, ExprP at, const ExprP& n, int axis, const Place& place);
    void fix_index(Value& view, int base, ExprP at) const;
    ViewAxis slice_run_any(const Value& slice, const ExprP& n, const Place& place);
    Value one_axis(const Value& base, const Place& place);
    Value reshaped(const Value& base, const Node& call);
    Value array_attribute(const Value& base, const std::string& attr, const Place& place);
    Value expression_attribute(const Value& base, const std::string& attr, const Place& place);
    ExprP stride(const Value& array, std::size_t axis, const Place& place);

    // lower_elements.cpp
    static bool many(const Value& v);
    static bool seen_among(const std::vector<Value>& operands);
    Value mapped(std::vector<Value> operands, const Place& place, std::function<ExprP(const Items&)> apply);
    Operands together(std::vector<Value> operands, const Place& place);
    static Value expression_value(ArrayExpression made);
    std::vector<ExprP> broadcast_lengths(const std::vector<Value>& operands, const Place& place);
    ExprP element_at(const Value& v, Items indices, const Place& place);
    ExprP index_spread(const ExprP& spread, const ExprP& at, const Place& place) const;
    ir::Type element_type(const Value& v, const Place& place);
    Value materialised(const Value& v, const Place& place);
    Value expression_subscript(const Value& base, const Node& node);
    Value array_arithmetic(Op op, const Value& a, const Value& b, const Place& place);
    Value array_comparison(Op op, const Value& a, const Value& b, const Place& place);
    ExprP numpy_comparison(Op op, const ExprP& a, const ExprP& b, const Place& place);

    // lower_ufuncs.cpp
    static bool takes_arrays(const std::string& spelling);
    std::optional<Ufunc> operator_ufunc(const std::string& module, const std::string& name,
                                        const Place& place);
    Value ufunc(const Ufunc& function, const Node& node);
    void write_elements(const std::vector<Value>& outs, const Operands& inputs, const Ufunc& function,
                        bool masked, const Place& place);

    // lower_reductions.cpp
    static const ReductionRow* reduction_named(const std::string& name);
    Value call_reduction(const ReductionRow& row, const Value* of, const Node& node);
    Value reduced_into(const Value& into, Value result, const std::string& name, const Place& place);
    Value array_of(const Value& tuple, const Place& place);
    ExprP accumulated(const Reduction& r, const ExprP& first,
                      const std::function<ExprP(ExprP acc, ExprP element)>& step);
    ExprP count_of(const Reduction& r);
    ExprP count_of_numbers(const Reduction& r);
    ExprP first_of(const Reduction& r);
    void expect_elements(const Reduction& r, const std::string& message);
    ExprP is_nan(const ExprP& x, const Place& place);
    ExprP fold_sum(const Reduction& r, bool product, bool nan);
    ExprP fold_mean(const Reduction& r, bool, bool nan);
    ExprP fold_spread(const Reduction& r, bool root, bool nan);
    ExprP fold_least(const Reduction& r, bool greatest, bool nan);
    ExprP fold_range(const Reduction& r, bool, bool);
    ExprP fold_place(const Reduction& r, bool greatest, bool nan);
    ExprP fold_any(const Reduction& r, bool any, bool);
    ExprP contained(const Value& x, const Value& a, const Place& place);
    ExprP fold_count(const Reduction& r, bool, bool);
    Value product(const Value& a, const Value& b, const Place& place);

    // lower_strings.cpp
    std::optional<std::vector<Value>> constant_items(const Value& v);
    std::optional<Value> string_operation(Op op, const Value& a, const Value& b, const Place& place);
    Value string_item(const Value& base, const Node& node);
    std::optional<Value> string_method(const Value& base, const std::string& name, const Node& node);
    Value call_ord(const Node& node);
    std::optional<Value> member_attribute(const Value& base, const std::string& attr, const Place& place);
    std::optional<Value> same_member(const Value& a, const Value& b, const Place& place);
    std::optional<Value> member_of_value(const Value& type, const Node& node);

    // lower_reinterpret.cpp
    ExprP bits_as(DType to, ExprP x, const Place& place);
    DType view_dtype(const Node& node);
    Value number_view(const ExprP& x, const Node& node);
    Value array_view(const Value& base, DType to, const Place& place);
    Value as_viewed(Value v, const Place& place);
    void store_viewed(const Value& base, std::vector<ExprP> indices, ExprP x, const Place& place);

    // lower_methods.cpp
    std::optional<Value> array_method(const Value& base, const std::string& name, const Node& node);

    // lower_copies.cpp
    void fill(const Value& target, const Value& v, const Place& place, std::optional<Op> op = {});
    void fill_from_tuple(const Value& target, const Value& v, const Place& place, std::optional<Op> op);
    void fill_from_array(const Value& target, const Value& source, const Place& place, std::optional<Op> op);
    void fill_known(const Value& target, const Value& source, const Place& place, std::optional<Op> op);
    std::vector<ExprP> spread_over(const Value& target, const Value& source, bool one_array,
                                   const Place& place);
    std::optional<Shifts> shifts(const Value& target, const Value& source, const Place& place);
    Overlap overlap(const Value& target, const Value& source, const Place& place);
    void each_index(const std::vector<ExprP>& lengths, const std::vector<ExprP>& backwards,
                    const Place& place, const std::function<void(const std::vector<ExprP>&)>& body);
    std::vector<ExprP> lengths_of(const Value& array, const Place& place) const;
    void each_element(const Value& target, const std::vector<ExprP>& backwards, const Place& place,
                      const std::function<void(const std::vector<ExprP>&)>& body);
    void put(const Value& target, std::vector<ExprP> indices, ExprP value, const Place& place,
             std::optional<Op> op);
    void stop_unless(const ExprP& test, const std::string& exception, const std::string& message,
                     const Place& place);
    Value settled_view(const Value& v);

    // lower_records.cpp
    Value records_of(const Meaning& dtype, std::size_t ndim, const std::string& path,
                     const std::function<Value(const Meaning& field, const std::string& path)>& leaf);
    Value sliced_any(const Value& base, const std::vector<Value>& items, const Place& place);
    Value field(const Value& records, const std::string& name, const Place& place) const;
    Value read_value(const Value& v, const Place& place);
    Value record_subscript(const Value& base, const Node& node);
    Value record_attribute(const Value& base, const std::string& attr, const Place& place);
    Value place_of(const Value& base, const Node& target);
    void assign_record(const Value& target, const Value& v, const Place& place);
    void assign_place(const Value& target, const Value& v, const Place& place);
    void augment_place(const Value& target, Op op, const Node& rhs, const Place& place);
    Value record_arrays(const Meaning& dtype, const std::vector<std::int64_t>& extents, ir::Space space,
                        const Place& place);
    Value constant_array(const Meaning& meaning, const std::string& written, const Place& place);
    const Value& first_leaf(const Value& v) const;
    ExprP one_for_zero(const ExprP& n, const Place& place);
    ExprP open_lengths(std::vector<ExprP>& sizes, const std::vector<bool>& may_be_open, ExprP known,
                       const ExprP& n, const Place& place);

    // lower_calls.cpp
    Value call(const Node& given);
    Call call_of(const Node& node) const;
    void check_kinds(const Node& parameters, const Node& call, const std::string& name) const;
    std::vector<const Node*> bind(const Node& node, const std::string& name,
                                  std::vector<std::string> parameters, std::size_t required) const;
    Value table_call(const KernelFunction& function, const std::string& spelling, const Node& node);
    ExprP table_apply(const KernelFunction& function, const std::string& spelling, std::vector<ExprP> args,
                      const Place& place);
    ExprP python_cast(DType dtype, bool weak, ExprP value, const Place& place);
    Value dtype_call(DType dtype, const Node& node);
    Value make_record(const Meaning& record, const Node& node);
    Value special_call(const std::string& spelling, const Node& node, bool* known);
    Value call_len(const Node& node);
    Value call_slice(const Node& node);
    Value call_least(const Node& node, const KernelFunction& function, const std::string& spelling);
    Value call_number(const Node& node, DType dtype);
    Value call_complex(const Node& node, DType dtype, bool weak);
    Value call_where(const Node& node);
    ExprP chosen(const ExprP& test, const ExprP& x, const ExprP& y, const Place& place);

    // lower_numbers.cpp
    Value call_round(const Node& node, bool builtin, const Value* of = nullptr);
    ExprP round(const ExprP& x, const Value& digits, bool builtin, const Place& place);
    Value call_divmod(const Node& node);
    Value call_pow(const Node& node);
    std::optional<Value> call_whole(const std::string& spelling, const Node& node);
    std::optional<Value> number_method(const Value& x, const std::string& name, const Node& node);
    Value call_log(const Node& node, const std::string& spelling);

    // lower_intrinsics.cpp
    Value intrinsic(const std::string& name, const Node& node);
    void written_in(const Place& place);
    Value grid(const Node& node, const std::string& name, ir::Coord::Kind kind);
    int alignment_from(const Value& given, const Place& place) const;
    Value make_array(const Node& node, const std::string& name, ir::Space space);
    Value atomic(const Node& node, const std::string& name);
    Value atomic_on(std::vector<Value> values, const std::vector<const Node*>& nodes, const std::string& name,
                    const Place& place);
    Value make_vector(const std::string& name, const Node& node);
    std::optional<Value> all_coordinates(const Value& v, const Place& place);
    Value coordinates(const std::string& name, const std::string& axis, const Place& place);
    std::optional<DType> dtype_from(const Value& value) const;

    // lower_limits.cpp
    Value call_limits(const Node& node, const std::string& name);
    std::optional<Value> dtype_attribute(const Value& base, const std::string& attr,
                                         const Place& place) const;

    // lower_spread.cpp
    std::vector<Value> spread_items(const std::vector<ast::NodeP>& elements, std::vector<ast::NodeP>& places);
    ast::NodeP spread_call(const Node& call);
    Value given_value(const Node& node);
    std::optional<Value> comprehended(const Node& node);
    Value list_comprehension(const Node& node);
    Value taken_apart(const Value& v, const Node& target);
    std::map<const Node*, Value> given_values;  // of the nodes that spread_call made
    std::vector<ast::NodeP> given_nodes;        // these nodes: a closure may keep one

    // lower_print.cpp
    Value call_print(const Node& node);
    bool print_value(const Value& v, bool inside, std::string& format, std::vector<ExprP>& numbers,
                     const Place& place);

    // lower_warps.cpp
    int meeting(const std::string& name, const Place& place);
    ExprP effect_apply(const KernelFunction& function, const std::string& name, std::vector<ExprP> args,
                       const std::vector<Place>& places, const Place& place);
    Value effect_call(const KernelFunction& function, const std::string& name, const Node& node);
    Value warp_intrinsic(const std::string& name, const Node& node);
    Value lane(const std::string& name, const Place& place);
    Value grid_group(const std::string& member, const Place& place) const;

    // lower_helpers.cpp
    Value invoke(const Meaning& meaning, const Node& call);
    const Meaning* method_named(const Value& base, const char* kind, const std::string& name) const;
    ast::NodeP with_self(const Value& base, const Node& call);
    std::optional<Value> struct_member(const Value& base, const std::string& name, const Node& node);
    ast::NodeP without_beyond(const Node& call, const Node& parameters, std::vector<const Node*>& beyond);
    bool literals_stay = false;  // argument_from: a literal is a constant of the helper, no argument
    Argument argument_from(const Value& value, std::vector<ExprP>& flat, const Place& place);
    void pass_captured(std::vector<std::pair<std::string, Argument>>& typed, std::vector<ExprP>& flat,
                       const Place& place);
    Value invoke_function(const FunctionSource& callee,
                          std::vector<std::pair<std::string, Argument>> arguments, std::vector<ExprP> flat,
                          const Node& node);
    const Lowered* specialise(const FunctionSource& callee,
                              std::vector<std::pair<std::string, Argument>> arguments, int* id,
                              const Place& place);

    // lower_cache.cpp
    std::optional<Value> cache_operator(const std::string& name, const Node& node);

    // lower_foreign.cpp
    Value invoke_foreign(const Helper& helper, const Node& node);
    Value address_of(const Value& base, const Place& place);

    // lower_closures.cpp
    Value closure(const Node& node);
    void inner_function(const Node& node);
    Value invoke_closure(const Value& closure, const Node& node);
    std::vector<std::pair<std::string, Value>> captured_by(const Value& closure, const Place& place);
    std::optional<Value> local_named(const std::string& name, const Place& place);

    // lower_written.cpp
    Value write_in(const Node& function, const std::string& name, const NameTable* names,
                   std::vector<Value> values, const Node& call);
    Value kept_in_helper(Value v);
    const Meaning* meaning_named(const std::string& path) const;

    // lower_tiles.cpp: tiles as values, and what every tile kernel has
    ir::Type stored_type(const ir::Expr& value) const;
    Value tile_intrinsic(const std::string& name, const Node& node);
    ExprP one_number(const Value& v, const Place& place);
    ExprP held(ExprP tile);
    ExprP made(ir::TileOp op, const ir::Type& type, std::vector<ExprP> exprs, const Place& place);
    Value tile_member(const Value& tile, const std::string& attr, const Place& place);
    Value tile_method(const Value& tile, const std::string& method, const Node& node, bool* known);
    void expect_broadcast(const std::vector<ExprP>& parts, const Place& place) const;
    void expect_uniform(const ir::Body& body) const;
    ir::Extents extents_from(const Node& node, const char* what);
    DType dtype_argument(const Node* node, DType otherwise);
    int axis_from(const Node& node, std::size_t rank);
    ExprP tile_number(const Node& node);
    Value tile_astype(const Value& tile, const Node& dtype, const Place& place);

    // lower_tile_memory.cpp: loads, stores, gathers, scatters, atomics
    Value tile_bid(const Node& node, const std::string& name);
    Value tile_count(const Node& node);
    Value tile_load(const Node& node);
    Value tile_store(const Node& node);
    Value tile_gather(const Node& node);
    Value tile_scatter(const Node& node, const std::string& name);
    ExprP load_tile(const Value& array, const std::vector<ExprP>& starts, const ir::Extents& extents,
                    ExprP outside, const Place& place);
    ExprP load_indexed(const Value& array, const std::vector<ExprP>& indices, ExprP inside, ExprP outside,
                       const ir::Extents& extents, const Place& place);
    ExprP store_indexed(const Value& array, const std::vector<ExprP>& indices, ExprP value, ExprP inside,
                        const ir::Extents& extents, std::optional<ir::Atomic::Kind> atomic,
                        const Place& place);
    ExprP within_array(const Value& array, const std::vector<ExprP>& indices, const Place& place);
    Value array_argument(const Node& node, const char* what);
    std::vector<ExprP> index_argument(const Node& node, std::size_t rank, const char* what);
    void count_programs(const Value& array, const std::vector<ExprP>& indices, const ir::Extents& extents,
                        const Place& place);
    ExprP padding_from(const Node* node, DType dtype);

    // lower_tile_shapes.cpp: making tiles and looking at them in other shapes
    Value tile_full(const Node& node, const std::string& name);
    Value tile_arange(const Node& node);
    Value tile_shape_call(const std::string& name, const Node& node);
    Value tile_subscript(const Value& tile, const Node& node);
    ExprP reshaped_tile(ExprP tile, const ir::Extents& extents, const Place& place);
    ExprP permuted_tile(ExprP tile, const std::vector<int>& axes, const Place& place);
    ExprP broadcast_tile(ExprP tile, const ir::Extents& extents, const Place& place);
    Value tile_cat(const Node& node);
    Value tile_extract(const Value& tile, const Node& index, const Node& shape, const Place& place);

    // lower_tile_sums.cpp: products, reductions, scans
    Value tile_mma(const Node& node, const std::string& name);
    Value tile_matmul(const Value& a, const Value& b, const Place& place);
    ExprP product(ExprP a, ExprP b, ExprP acc, const Place& place);
    Value tile_reduce(const Node& node, const std::string& name);
    Value tile_mean(const Value& v, const Node* axis, bool keep, const Place& place);
    Value reduce_value(const Value& v, ir::TileOp op, const Node* axis, bool keep, const Place& place);
    ExprP reduced(ExprP tile, ir::TileOp op, bool keep, const Place& place);
    Value tile_scan(const Node& node, const std::string& name);
    Value tile_fold(const Node& node, const std::string& name);
    ExprP combined(const Value& function, const ExprP& x, const ExprP& y, const Node& node);

    // lower_seen.cpp: arrays as a program sees them through its tile
    Value seen_value(Seen seen, const Place& place) const;
    Value seen_of(const Value& v, const Place& place);
    Value seen_map(std::vector<Value> operands, std::function<ExprP(std::vector<ExprP>)> apply,
                   const Place& place);
    Value seen_product(const Value& a, const Value& b, const Place& place);
    Value seen_transpose(const Value& a, const Place& place);
    Value seen_reduce(const Value& a, ir::TileOp op, int axis, bool keep, const Place& place);
    ExprP seen_at(const Value& v, const std::vector<SeenRange>& ranges, bool spreads, const Place& place);
    ExprP seen_leaf(const Value& array, const std::vector<SeenRange>& ranges, bool spreads,
                    const Place& place);
    ExprP seen_sum(const Seen& seen, const std::vector<SeenRange>& ranges, const Place& place);
    ExprP seen_fold(const Seen& seen, const std::vector<SeenRange>& ranges, const Place& place);
    ExprP seen_here(const Value& v, const Place& place);
    Value tile_compute(const Node& node);
    std::vector<SeenRange> program_ranges(std::size_t rank, const Place& place) const;
    void seen_store(const Value& array, const Value& v, const Place& place);
    void counted_from_zero(const ExprP& stop, std::int64_t step, const Place& place,
                           const std::function<void(const ExprP&)>& body);

    void emit(ir::Stmt s) { out->push_back(std::move(s)); }
    void warn(const Place& place, const std::string& text);
    Unit& unit;
    const FunctionSource& source;
    std::vector<std::pair<std::string, Argument>> arguments;
    std::set<std::string> assigned, loop_only;
    std::set<std::string> changing;  // names and paths that are no constants

    // Of the last pass, and of the present one.
    Slots current, next;
    std::set<std::string> flagged, next_flagged;  // read where perhaps unbound: these carry a flag
    Choices several;                              // names that hold one array or another
    std::map<std::string, ir::Type> array_types;  // by array_key

    // Of the present pass.
    ir::Function fn;
    ir::Body* out = nullptr;
    Flow flow;
    std::map<std::string, ir::VarId> ids;    // path -> variable
    std::map<std::string, ir::VarId> flags;  // name -> its bound flag
    std::map<std::string, Value> parameters;
    std::map<std::string, Value> loop_variables;  // names of the loops around that have their own variable
    std::vector<Loop> loops;
    std::vector<bool> nonnegative_vars;  // by VarId
    std::vector<std::optional<ir::Coord>> coord_vars;
    std::map<const Meaning*, ir::VarId> constants;  // global arrays
    std::map<ir::VarId, int> roots;                 // array: the kernel's parameter
    std::map<ir::VarId, Choice> array_choices;      // of variables that stand for one array or another
    std::map<std::string, ir::VarId> choice_ids;    // these variables, by path and form
    Choices met_arrays;                             // what each name was given
    std::set<std::string> torn_arrays;              // names found to hold one array or another
    std::vector<std::string> warnings;
    std::set<std::string> warned;
    std::set<std::string> taken_for_constant;              // paths read as the number that they seem to hold
    std::optional<std::pair<Place, std::string>> untyped;  // a name read that has no type yet
    std::vector<ir::VarId> result_arrays;
    std::optional<Place> value_return;
    std::optional<Place> block_part;     // of a helper's first barrier or shared array
    std::vector<const Node*> capturing;  // closures whose captured names are being found
};

/// Operands may be read again without harm: small, no effect, no call.
bool repeatable(const ir::Expr& e);
bool is_constant(const ir::Expr& e);
/// NumPy's casting="same_kind": of a ufunc's out, and of an array changed in place.
bool fits_in_place(DType from, DType into);

}  // namespace xcuda::frontend
