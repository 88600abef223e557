// Names that hold one array or another, by the path taken: `src, dst = dst, src` in a loop, `a if test else b`. Such a name
// has an array variable without memory, a choice, and a number that says which of its arrays is meant. When the function
// is done, each statement that names a choice becomes one for each array, by a test of the number: what is read, written,
// tested and told in a fault is the array's own.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/lowering.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);
const ir::Type weak_bool = ir::scalar(DType::b1, true);

// What holds of all of them: front-end code asks a choice what it asks an array.
ir::Type common_type(const std::vector<ir::Type>& types) {
    ir::Type common = types[0];
    for (const ir::Type& t : types) {
        if (t.layout != common.layout) {
            const bool bytes = t.layout == ir::Layout::bytes || common.layout == ir::Layout::bytes;
            const bool unit = ir::unit_stride(t.layout) && ir::unit_stride(common.layout);
            common.layout = bytes ? ir::Layout::bytes : unit ? ir::Layout::inner : ir::Layout::strided;
        }
        if (t.extents != common.extents) common.extents.clear();
        if (t.space != common.space)
            common.space = t.space == ir::Space::constant || common.space == ir::Space::constant
                               ? ir::Space::constant
                               : ir::Space::global;
        common.readonly |= t.readonly;
        common.wide |= t.wide;
        common.aligned &= t.aligned;
    }
    return common;
}

// Whether the k-th of a choice's arrays is meant.
ExprP is_meant(ir::VarId which, std::size_t k, const Place& place) {
    return ir::make(Op::eq, weak_bool,
                    {ir::var(which, weak_int, place), ir::int_constant(static_cast<std::int64_t>(k), place)},
                    place);
}

}  // namespace

// The same in each pass: which parameter, or where it was made.
std::string Lowering::array_key(ir::VarId id) const {
    const ir::Var& v = fn.vars[static_cast<std::size_t>(id)];
    const std::string form = fmt::format("{}[{}]", info(v.type.dtype).name, v.type.ndim);
    const auto param = std::find(fn.params.begin(), fn.params.end(), id);
    if (param != fn.params.end()) return fmt::format("{} parameter {}", form, param - fn.params.begin());
    return fmt::format("{} {} {}:{}:{} {}", form, static_cast<int>(v.role), v.place.file, v.place.line,
                       v.place.column, v.role == ir::Var::Role::constant ? v.name : "");
}

const Lowering::Choice* Lowering::choice_of(const Value& v) const {
    if (!v.is_indexed()) return nullptr;
    const auto known = array_choices.find(ir::var_of(*v.expr));
    return known == array_choices.end() ? nullptr : &known->second;
}

std::vector<std::string> Lowering::keys_of(const Value& v) const {
    const Choice* choice = choice_of(v);
    return choice ? choice->keys : std::vector{array_key(ir::var_of(*v.expr))};
}

ir::VarId Lowering::new_choice(const std::string& name, std::vector<std::string> keys, const Place& place) {
    std::vector<ir::Type> types;
    for (const std::string& key : keys) types.push_back(array_types.at(key));
    const ir::VarId id = fn.add({name, common_type(types), ir::Var::Role::hidden, place, false});
    array_choices[id] = {hidden(weak_int, place), std::move(keys)};
    return id;
}

// The choice of a path among the arrays of one form.
ir::VarId Lowering::choice_named(const std::string& path, const std::set<std::string>& keys,
                                 const Place& place) {
    const std::string form = path + "|" + keys.begin()->substr(0, keys.begin()->find(' '));
    const auto known = choice_ids.find(form);
    if (known != choice_ids.end()) return known->second;
    const ir::VarId id = new_choice(unmarked(path), {keys.begin(), keys.end()}, place);
    choice_ids.emplace(form, id);
    return id;
}

// The array of a key: a choice may be made before one of its arrays is.
ir::VarId Lowering::array_of_key(const std::string& key) const {
    ir::VarId found = -1;
    for (std::size_t i = 0; i < fn.vars.size(); ++i) {
        const auto id = static_cast<ir::VarId>(i);
        if (!fn.vars[i].type.is_array() || array_choices.count(id) || array_key(id) != key) continue;
        if (found >= 0)
            throw refused(fn.vars[i].place,
                          "this line makes an array in each item of a loop that is written out, and a name "
                          "holds one of them or another",
                          "make the arrays in lines of their own");
        found = id;
    }
    if (found < 0) throw bug("an array that was not made: " + key);
    return found;
}

// The number of an array, or of what a choice means now, among those of another choice; null where it is none of them.
ExprP Lowering::which_of(ir::VarId array, const Choice& among, const Place& place) const {
    const auto number = [&](const std::string& key) -> ExprP {
        const auto at = std::find(among.keys.begin(), among.keys.end(), key);
        return at == among.keys.end() ? nullptr : ir::int_constant(at - among.keys.begin(), place);
    };
    const auto choice = array_choices.find(array);
    if (choice == array_choices.end()) return number(array_key(array));
    if (choice->second.keys == among.keys) return ir::var(choice->second.which, weak_int, place);
    ExprP made;
    for (std::size_t k = choice->second.keys.size(); k-- > 0;) {
        const ExprP one = number(choice->second.keys[k]);
        if (!one) return nullptr;
        const ExprP here = is_meant(choice->second.which, k, place);
        made = made ? ir::make(Op::select, weak_int, {here, one, made}, place) : one;
    }
    return made;
}

/// What a name is given: where it may hold one array or another, its choice, whose number is set here.
Value Lowering::as_one_of(const std::string& path, Value v, const Place& place) {
    if (path == "return" || path.starts_with("return.")) return v;
    const ir::VarId id = ir::var_of(*v.expr);
    const Choice* from = choice_of(v);
    const std::vector<std::string> arrays = keys_of(v);
    if (!from) array_types[arrays[0]] = fn.vars[static_cast<std::size_t>(id)].type;
    met_arrays[path].insert(arrays.begin(), arrays.end());
    if (from) torn_arrays.insert(path);  // what it means may change after this
    const auto known = several.find(path);
    if (known == several.end()) return v;
    const ir::Var& first = fn.vars[static_cast<std::size_t>(id)];
    const bool own = first.role == ir::Var::Role::local_array || first.role == ir::Var::Role::shared;
    if (own && !loops.empty() && static_cast<std::size_t>(id) >= loops.front().first_var)
        throw refused(place,
                      fmt::format("'{}' names an array that is made in this loop, where it has one place for "
                                  "all rounds, or another array",
                                  unmarked(path)),
                      "make both arrays before the loop");
    const std::string form = arrays[0].substr(0, arrays[0].find(' ') + 1);
    std::set<std::string> keys;
    for (const std::string& k : known->second)
        if (k.starts_with(form)) keys.insert(k);
    if (!keys.count(arrays[0])) return v;  // met in this pass: the next one has it
    const ir::VarId choice = choice_named(path, keys, place);
    if (choice == id) return v;
    const Choice& to = array_choices.at(choice);
    const ExprP which = which_of(id, to, place);
    if (!which) return v;
    for (ExprP* part : view_parts(v))  // lengths may be those of what the name has meant so far
        if (choice_in(*part) >= 0) *part = spill(*part);
    emit(ir::assign(to.which, which, place));
    v.expr = ir::var(choice, fn.vars[static_cast<std::size_t>(choice)].type, place);
    return v;
}

/// The array that a choice means here, whatever its name means later.
Value Lowering::chosen_now(Value v) {
    const Choice* choice = choice_of(v);
    if (!choice) return v;
    const ir::VarId old = choice->which, id = ir::var_of(*v.expr);
    const Place place = v.expr->place;
    const ir::VarId now = new_choice(fn.vars[static_cast<std::size_t>(id)].name, choice->keys, place);
    emit(ir::assign(array_choices.at(now).which, ir::var(old, weak_int, place), place));
    v.expr = ir::var(now, fn.vars[static_cast<std::size_t>(now)].type, place);
    return v;
}

/// Whether both may lie in one array.
bool Lowering::may_be_one(const Value& a, const Value& b) const {
    const std::vector<std::string> of_a = keys_of(a), of_b = keys_of(b);
    return std::any_of(of_a.begin(), of_a.end(), [&](const std::string& key) {
        return std::find(of_b.begin(), of_b.end(), key) != of_b.end();
    });
}

/// One of two arrays of one form: what tells which, and where in it, is set at the end of either body.
Value Lowering::either_array(const Value& yes, ir::Body& yes_body, const Value& no, ir::Body& no_body,
                             const Place& place) {
    Value v = yes, other = no;
    const auto set = [&](ir::VarId id, ExprP a, ExprP b) {
        yes_body.push_back(ir::assign(id, std::move(a), place));
        no_body.push_back(ir::assign(id, std::move(b), place));
    };
    const std::vector<ExprP*> parts = view_parts(v), others = view_parts(other);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if ((*parts[i])->type.is_none() || (*others[i])->type.is_none()) continue;
        if (ir::same(**parts[i], **others[i]) && is_constant(**parts[i])) continue;
        const ir::VarId id = hidden(weak_int, place);
        nonnegative_vars.resize(static_cast<std::size_t>(id) + 1, false);
        nonnegative_vars[static_cast<std::size_t>(id)] = nonnegative(**parts[i]) && nonnegative(**others[i]);
        set(id, convert(*parts[i], weak_int), convert(*others[i], weak_int));
        *parts[i] = ir::var(id, weak_int, place);
    }
    if (!v.is_indexed() || ir::same(*yes.expr, *no.expr)) return v;
    std::set<std::string> all;
    for (const Value* side : {&yes, &no}) {
        const std::vector<std::string> keys = keys_of(*side);
        if (!choice_of(*side)) array_types[keys[0]] = side->expr->type;
        all.insert(keys.begin(), keys.end());
    }
    const std::string name =
        fmt::format("{} or {}", fn.vars[static_cast<std::size_t>(ir::var_of(*yes.expr))].name,
                    fn.vars[static_cast<std::size_t>(ir::var_of(*no.expr))].name);
    const ir::VarId id = new_choice(name, {all.begin(), all.end()}, place);
    const Choice& choice = array_choices.at(id);
    set(choice.which, which_of(ir::var_of(*yes.expr), choice, place),
        which_of(ir::var_of(*no.expr), choice, place));
    v.expr = ir::var(id, fn.vars[static_cast<std::size_t>(id)].type, place);
    return v;
}

// A helper is compiled for the array that it is given: one call for each that may be meant.
Value Lowering::invoke_by_choice(const FunctionSource& callee,
                                 const std::vector<std::pair<std::string, Argument>>& typed,
                                 const std::vector<ExprP>& flat, const Node& node, ir::VarId choice) {
    const Choice of = array_choices.at(choice);
    const auto call = [&](ir::VarId array) {
        const ir::Type& type = fn.vars[static_cast<std::size_t>(array)].type;
        const std::function<void(Argument&)> given = [&](Argument& a) {
            if (a.choice == choice) {
                a.choice = -1;
                a.type = type;
                a.root = roots.count(array) ? roots.at(array) : -1;
                if (a.fixed.expr) a.fixed.expr = ir::var(array, type, a.fixed.expr->place);
            }
            for (Argument& item : a.items) given(item);
        };
        std::vector<std::pair<std::string, Argument>> arguments = typed;
        for (auto& [name, a] : arguments) given(a);
        std::vector<ExprP> passed;
        for (const ExprP& e : flat) passed.push_back(meant(e, choice, array));
        return invoke_function(callee, std::move(arguments), std::move(passed), node);
    };
    std::optional<Value> result;
    ir::Body rest;
    for (std::size_t k = of.keys.size(); k-- > 0;) {
        auto [v, body] = aside([&] { return call(array_of_key(of.keys[k])); });
        if (!result) {
            result = std::move(v);
            rest = std::move(body);
            continue;
        }
        const ExprP here = is_meant(of.which, k, node.place);
        ir::Body chain, *outside = out;
        out = &chain;
        if (v.kind == Value::Kind::none && result->kind == Value::Kind::none)
            emit(ir::branch(here, std::move(body), std::move(rest), node.place));
        else
            result = choose(here, v, std::move(body), *result, std::move(rest), node.place);
        out = outside;
        rest = std::move(chain);
    }
    for (ir::Stmt& s : rest) emit(std::move(s));
    return *result;
}

/// The names that hold one array or another, with all that this pass found them to be given.
Lowering::Choices Lowering::now_several() const {
    Choices found = several;
    for (const std::string& path : torn_arrays) found[path];
    for (auto& [path, keys] : found)
        if (const auto met = met_arrays.find(path); met != met_arrays.end())
            keys.insert(met->second.begin(), met->second.end());
    return found;
}

// After the last pass: the statements without array_choices.

ir::VarId Lowering::choice_in(const ExprP& e) const {
    ir::VarId found = -1;
    ir::each_expr(e, [&](const ir::Expr& n) {
        if (n.op == Op::var && array_choices.count(ir::var_of(n))) found = ir::var_of(n);
    });
    return found;
}

ir::Access Lowering::meant(ir::Access access, ir::VarId array) {
    if (access.site < 0) return access;
    ir::Site site = unit.sites[static_cast<std::size_t>(access.site)];
    const ir::Var& var = fn.vars[static_cast<std::size_t>(array)];
    site.subject = var.name;
    site.parameter = roots.count(array) ? roots.at(array) : -1;
    site.extents = var.type.extents;
    access.site = unit.site(std::move(site));
    return access;
}

ExprP Lowering::meant(const ExprP& e, ir::VarId choice, ir::VarId array) {
    const auto is_choice = [&](const ExprP& x) { return x->op == Op::var && ir::var_of(*x) == choice; };
    if (is_choice(e)) return ir::var(array, fn.vars[static_cast<std::size_t>(array)].type, e->place);
    std::vector<ExprP> args = e->args;
    for (ExprP& a : args) a = meant(a, choice, array);
    if (args == e->args) return e;
    ir::Expr made = *ir::with_args(*e, std::move(args));
    if (is_choice(e->args[0])) {
        if (auto* access = std::get_if<ir::Access>(&made.payload)) *access = meant(*access, array);
        if (auto* atomic = std::get_if<ir::Atomic>(&made.payload))
            atomic->access = meant(atomic->access, array);
    }
    return std::make_shared<const ir::Expr>(std::move(made));
}

ExprP Lowering::by_choice(const ExprP& e) {
    const ir::VarId id = choice_in(e);
    if (id < 0) return e;
    const Choice& choice = array_choices.at(id);
    ExprP made;
    for (std::size_t k = choice.keys.size(); k-- > 0;) {
        const ExprP one = by_choice(meant(e, id, array_of_key(choice.keys[k])));
        const ExprP here = is_meant(choice.which, k, e->place);
        made = made ? ir::make(Op::select, e->type, {here, one, made}, e->place) : one;
    }
    return made;
}

void Lowering::by_choice(const ir::Stmt& s, ir::Body& into) {
    ir::VarId id = -1;
    for (const ExprP& e : s.exprs)
        if (e && id < 0) id = choice_in(e);
    if (id < 0) return into.push_back(s);
    const Choice& choice = array_choices.at(id);
    ir::Body chain;
    for (std::size_t k = choice.keys.size(); k-- > 0;) {
        ir::Stmt one = s;
        const bool stored = s.kind == ir::Stmt::Kind::store && ir::var_of(*s.exprs[0]) == id;
        if (stored) one.access = meant(s.access, array_of_key(choice.keys[k]));
        for (ExprP& e : one.exprs) e = meant(e, id, array_of_key(choice.keys[k]));
        ir::Body body;
        by_choice(one, body);
        if (k + 1 == choice.keys.size()) {
            chain = std::move(body);
            continue;
        }
        const ExprP here = is_meant(choice.which, k, s.place);
        ir::Body outer;
        outer.push_back(ir::branch(here, std::move(body), std::move(chain), s.place));
        chain = std::move(outer);
    }
    for (ir::Stmt& made : chain) into.push_back(std::move(made));
}

ir::Body Lowering::without_choices(ir::Body body) {
    if (array_choices.empty()) return body;
    ir::Body made;
    for (ir::Stmt& s : body) {
        s.body = without_choices(std::move(s.body));
        s.orelse = without_choices(std::move(s.orelse));
        using Kind = ir::Stmt::Kind;
        if (s.kind == Kind::assign || s.kind == Kind::store || s.kind == Kind::evaluate ||
            s.kind == Kind::leave) {
            by_choice(s, made);
            continue;
        }
        for (ExprP& e : s.exprs) e = by_choice(e);
        made.push_back(std::move(s));
    }
    return made;
}

}  // namespace xcuda::frontend
