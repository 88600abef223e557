#include "launch/named_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "ir/walk.hpp"

namespace xcuda::launch {

using namespace ir;

namespace {

using Value = std::optional<double>;

constexpr std::size_t most_told = 6;
constexpr int deepest = 256;  // of names that stand for one another
constexpr std::size_t most_read = 16;

/// Elements for one message, each read once: it may come by a copy from the device.
class Elements {
public:
    explicit Elements(const ElementReader& read) : read_(read) {}

    Value at(std::size_t parameter, std::vector<std::int64_t> index) {
        if (!read_) return {};
        const std::pair key(parameter, std::move(index));
        if (const auto found = had_.find(key); found != had_.end()) return found->second;
        if (had_.size() == most_read) return {};
        return had_[key] = read_(key.first, key.second);
    }

private:
    const ElementReader& read_;
    std::map<std::pair<std::size_t, std::vector<std::int64_t>>, Value> had_;
};

class Reader {
public:
    /// caller, call: of a helper that is called in one place.
    Reader(const Function& f, const device::FaultRecord& fault, const device::Shape* shape,
           const ArgumentShapes& shapes, Elements& elements, const Reader* caller, const Expr* call)
        : function_(f),
          fault_(fault),
          shape_(shape),
          shapes_(shapes),
          elements_(elements),
          caller_(caller),
          call_(call) {
        each_stmt(f.body, [&](const Stmt& s) {
            if (s.var < 0) return;
            ++assigned_[s.var];
            if (s.kind == Stmt::Kind::assign) value_of_[s.var] = s.exprs[0];
        });
    }

    Value of(const Expr& e, int depth = 0) const {
        if (depth > deepest) return {};
        const auto arg = [&](std::size_t i) { return of(*e.args[i], depth + 1); };
        switch (e.op) {
            case Op::constant: {
                if (is_complex(e.type.dtype)) return {};
                return real_of(number_of(e));
            }
            case Op::var: return of(var_of(e), depth);
            case Op::coord: return coordinate(coord_of(e));
            case Op::dim: return length(e);
            case Op::load: return loaded(e, depth);
            case Op::neg: {
                const Value a = arg(0);
                return a ? Value(-*a) : a;
            }
            case Op::cast: {
                const Value a = arg(0);
                if (!a || is_floating(e.type.dtype)) return a;
                return is_integer(e.type.dtype) ? Value(std::trunc(*a)) : Value{};
            }
            case Op::add:
            case Op::sub:
            case Op::mul:
            case Op::floordiv:
            case Op::mod: {
                const Value a = arg(0), b = arg(1);
                if (!a || !b) return {};
                if (e.op == Op::add) return *a + *b;
                if (e.op == Op::sub) return *a - *b;
                if (e.op == Op::mul) return *a * *b;
                if (*b == 0) return {};
                return e.op == Op::floordiv ? std::floor(*a / *b) : *a - *b * std::floor(*a / *b);
            }
            default: return {};
        }
    }

    /// Worked out once: a name may stand in another, and that in the next, many times over.
    Value of(VarId v, int depth = 0) const {
        if (const auto found = known_.find(v); found != known_.end()) return found->second;
        const auto [entry, is_new] = worked_out_.try_emplace(v);  // without a value: it may stand for itself
        if (is_new) entry->second = worked_out(v, depth);
        return entry->second;
    }

    /// What names must hold for `e` to be `value`, where there is one unknown.
    void solve(const Expr& e, double value) {
        switch (e.op) {
            case Op::var:
                if (of(e)) return;
                know(var_of(e), value);
                if (assigned_[var_of(e)] == 1 && value_of_.contains(var_of(e)))
                    solve(*value_of_[var_of(e)], value);
                return;
            case Op::cast:
                if (is_integer(e.type.dtype) && is_integer(e.args[0]->type.dtype)) solve(*e.args[0], value);
                return;
            case Op::neg: solve(*e.args[0], -value); return;
            case Op::add:
            case Op::sub: {
                const double sign = e.op == Op::add ? 1 : -1;
                if (const Value b = of(*e.args[1]))
                    solve(*e.args[0], value - sign * *b);
                else if (const Value a = of(*e.args[0]))
                    solve(*e.args[1], sign * (value - *a));
                return;
            }
            case Op::mul:
                for (std::size_t i = 0; i < 2; ++i)
                    if (const Value by = of(*e.args[1 - i]); by && *by != 0 && std::fmod(value, *by) == 0) {
                        solve(*e.args[i], value / *by);
                        return;
                    }
                return;
            default: return;
        }
    }

    void know(VarId v, double value) {
        known_[v] = value;
        worked_out_.clear();
    }

private:
    Value worked_out(VarId v, int depth) const {
        const auto times = assigned_.find(v);
        const auto value = value_of_.find(v);
        if (times == assigned_.end() && caller_) return given(v, depth);
        if (times == assigned_.end() || times->second != 1 || value == value_of_.end()) return {};
        if (function_.vars[static_cast<std::size_t>(v)].maybe_unbound)
            return {};  // of the turn before, perhaps
        return of(*value->second, depth + 1);
    }

    /// What the caller passes for a parameter.
    Value given(VarId v, int depth) const {
        const auto at = std::find(function_.params.begin(), function_.params.end(), v);
        const auto parameter = static_cast<std::size_t>(at - function_.params.begin());
        return parameter < call_->args.size() ? caller_->of(*call_->args[parameter], depth + 1) : Value{};
    }

    Value coordinate(const Coord& c) const {
        if (!shape_) return {};
        const auto axis = static_cast<std::size_t>(c.axis);
        const std::array<std::int64_t, 3> grid{shape_->grid.x, shape_->grid.y, shape_->grid.z},
            block{shape_->block.x, shape_->block.y, shape_->block.z};
        const auto whole = [](std::int64_t v) { return Value(static_cast<double>(v)); };
        switch (c.kind) {
            case Coord::Kind::thread: return whole(fault_.thread[axis]);
            case Coord::Kind::block: return whole(fault_.block[axis]);
            case Coord::Kind::block_dim: return whole(block[axis]);
            case Coord::Kind::grid_dim: return whole(grid[axis]);
            case Coord::Kind::grid_size: return whole(grid[axis] * block[axis]);
            case Coord::Kind::global: return whole(fault_.block[axis] * block[axis] + fault_.thread[axis]);
        }
        return {};
    }

    /// Of an argument that the kernel only reads, where the index follows.
    Value loaded(const Expr& e, int depth) const {
        if (e.type.lanes != 1 || e.args[0]->op != Op::var) return {};
        const int parameter = parameter_of(var_of(*e.args[0]));
        std::vector<std::int64_t> index;
        for (int d = 0; d < e.args[0]->type.ndim; ++d) {
            const Value i = of(*e.args[static_cast<std::size_t>(d) + 1], depth + 1);
            if (!i || !(std::fabs(*i) < 9e15)) return {};
            index.push_back(static_cast<std::int64_t>(*i));
        }
        return parameter < 0 ? Value{} : elements_.at(static_cast<std::size_t>(parameter), std::move(index));
    }

    /// Which of the kernel's, also where a helper is given it.
    int parameter_of(VarId v) const {
        const auto at = std::find(function_.params.begin(), function_.params.end(), v);
        if (at == function_.params.end()) return -1;
        const auto own = static_cast<std::size_t>(at - function_.params.begin());
        if (function_.is_kernel) return static_cast<int>(own);
        if (!caller_ || own >= call_->args.size() || call_->args[own]->op != Op::var) return -1;
        return caller_->parameter_of(var_of(*call_->args[own]));
    }

    Value length(const Expr& e) const {
        if (e.args[0]->op != Op::var || !function_.is_kernel) return {};
        const auto at = std::find(function_.params.begin(), function_.params.end(), var_of(*e.args[0]));
        const auto parameter = static_cast<std::size_t>(at - function_.params.begin());
        const auto axis = static_cast<std::size_t>(std::get<Axis>(e.payload).value);
        if (parameter >= shapes_.size() || axis >= shapes_[parameter].size()) return {};
        return static_cast<double>(shapes_[parameter][axis]);
    }

    const Function& function_;
    const device::FaultRecord& fault_;
    const device::Shape* shape_;
    const ArgumentShapes& shapes_;
    Elements& elements_;
    const Reader* caller_;
    const Expr* call_;
    std::map<VarId, int> assigned_;
    std::map<VarId, ExprP> value_of_;
    std::map<VarId, double> known_;
    mutable std::map<VarId, Value> worked_out_;
};

/// The axis that a fault is about: told, or the only one of that length; -1 where neither.
int axis_of(const device::FaultRecord& fault, const Site& site, const ArgumentShapes& shapes) {
    if (fault.kind >> 8) return (fault.kind >> 8) - 1;
    const bool given = site.parameter >= 0 && static_cast<std::size_t>(site.parameter) < shapes.size();
    const std::vector<std::int64_t>& shape =
        given ? shapes[static_cast<std::size_t>(site.parameter)] : site.extents;
    if (std::count(shape.begin(), shape.end(), fault.value[1]) != 1) return -1;
    return static_cast<int>(std::find(shape.begin(), shape.end(), fault.value[1]) - shape.begin());
}

/// The index along that axis, of the access at a fault's site.
ExprP index_of(const Stmt& s, const device::FaultRecord& fault, int axis) {
    if (axis < 0) return nullptr;
    const auto at = static_cast<std::size_t>(axis) + 1;
    if (s.kind == Stmt::Kind::store && s.access.site == fault.site && at < s.exprs.size()) return s.exprs[at];
    ExprP found;
    for (const ExprP& e : s.exprs)
        each_expr(e, [&](const Expr& n) {
            const Access* access = n.op == Op::load     ? &access_of(n)
                                   : n.op == Op::atomic ? &std::get<Atomic>(n.payload).access
                                                        : nullptr;
            if (access && access->site == fault.site && at < n.args.size()) found = n.args[at];
        });
    return found;
}

/// The one call of a function, and who calls it; of several none.
struct Call {
    const Function* caller = nullptr;
    ExprP call;
    int count = 0;
};
Call call_of(const Module& typed, const Function& f) {
    const auto own = static_cast<std::size_t>(&f - typed.functions.data());
    Call found;
    for (const Function& caller : typed.functions)
        each_stmt(caller.body, [&](const Stmt& s) {
            for (const ExprP& e : s.exprs)
                each_expr(e, [&](const Expr& n) {
                    if (n.op != Op::invoke ||
                        static_cast<std::size_t>(std::get<FunctionId>(n.payload).value) != own)
                        return;
                    found = {&caller, std::make_shared<const Expr>(n), found.count + 1};
                });
        });
    return found;
}

/// What a statement divides by, where the site is a division's.
ExprP divisor_of(const Stmt& s, int site) {
    ExprP found;
    for (const ExprP& e : s.exprs)
        each_expr(e, [&](const Expr& n) {
            if ((n.op == Op::floordiv || n.op == Op::mod) && n.args.size() == 2)
                if (const auto* access = std::get_if<Access>(&n.payload); access && access->site == site)
                    found = n.args[1];
        });
    return found;
}

/// What a fault has taken along (frontend/tell.hpp): whole numbers as they are, others as a float64's bits.
double taken_along(std::int64_t bits, DType dtype) {
    if (is_floating(dtype)) return std::bit_cast<double>(bits);
    return dtype == DType::u64 ? static_cast<double>(static_cast<std::uint64_t>(bits))
                               : static_cast<double>(bits);
}

/// The condition of the innermost `if` that a fault's statement stands in.
const Expr* condition_around(const Body& body, int site, const Expr* around) {
    for (const Stmt& s : body) {
        if (s.kind == Stmt::Kind::fault && s.site == site) return around;
        const Expr* here = s.kind == Stmt::Kind::branch ? s.exprs[0].get() : around;
        for (const Body* inner : {&s.body, &s.orelse})
            if (const Expr* found = condition_around(*inner, site, here)) return found;
    }
    return nullptr;
}

/// The names of numbers in a function's line; where a `raise` has none, of the condition that it stands under.
std::vector<VarId> names_in(const Function& f, const Site& site, int number) {
    std::vector<VarId> names;
    const auto add = [&](const Expr& n) {
        const Var& v = f.vars[static_cast<std::size_t>(var_of(n))];
        const bool unset = site.kind == Site::Kind::unbound && v.name == site.subject;
        if (!v.type.is_scalar() || v.role == Var::Role::hidden || unset) return;
        if (std::find(names.begin(), names.end(), var_of(n)) == names.end()) names.push_back(var_of(n));
    };
    each_stmt(f.body, [&](const Stmt& s) {
        for (const ExprP& e : s.exprs)
            each_expr(e, [&](const Expr& n) {
                if (n.op != Op::var || s.place.file != site.place.file) return;
                if (n.place.line == site.place.line || s.place.line == site.place.line) add(n);
            });
    });
    if (names.empty() && site.kind == Site::Kind::raised)
        if (const Expr* condition = condition_around(f.body, number, nullptr))
            each_expr(std::make_shared<const Expr>(*condition), [&](const Expr& n) {
                if (n.op == Op::var) add(n);
            });
    return names;
}

}  // namespace

std::string named_values(const device::FaultRecord& told_fault, const Module& typed,
                         std::span<const Site> compiled, const device::Shape* shape,
                         const ArgumentShapes& shapes, const ElementReader& element) {
    device::FaultRecord fault = told_fault;
    if (fault.site < 0 || static_cast<std::size_t>(fault.site) >= compiled.size()) return {};
    const Site& site = compiled[static_cast<std::size_t>(fault.site)];
    if (static_cast<std::size_t>(fault.site) >= typed.sites.size()) {  // a pass made it of a helper's
        const auto same = std::ranges::find_if(
            typed.sites, [&](const Site& s) { return s.kind == site.kind && s.place == site.place; });
        if (same == typed.sites.end()) return {};
        fault.site = static_cast<std::int32_t>(same - typed.sites.begin());
    }
    const Place& place = site.place;
    const int axis = axis_of(fault, site, shapes);
    if (!place.known()) return {};
    for (const Function& f : typed.functions) {
        const std::vector<VarId> names = names_in(f, site, fault.site);
        if (names.empty()) continue;
        ExprP index, divisor;
        each_stmt(f.body, [&](const Stmt& s) {
            if (const ExprP found = index_of(s, fault, axis)) index = found;
            if (const ExprP found = divisor_of(s, fault.site)) divisor = found;
        });
        const Call call = call_of(typed, f);
        const bool known = call.count == 1 && call.caller->is_kernel;
        Elements elements(element);
        const Reader caller(known ? *call.caller : f, fault, shape, shapes, elements, nullptr, nullptr);
        Reader reader(f, fault, shape, shapes, elements, known ? &caller : nullptr, call.call.get());
        const auto kind = static_cast<device::FaultKind>(fault.kind & 0xff);
        if (index && kind == device::FaultKind::index)
            reader.solve(*index, static_cast<double>(fault.value[0]));
        if (divisor && kind == device::FaultKind::zero_division) reader.solve(*divisor, 0);
        each_stmt(f.body, [&](const Stmt& s) {
            if (s.kind != Stmt::Kind::fault || s.site != fault.site) return;
            for (std::size_t i = 0; i < s.exprs.size(); ++i)
                reader.know(var_of(*s.exprs[i]), taken_along(fault.value[i], s.exprs[i]->type.dtype));
        });
        std::string told;
        std::size_t count = 0;
        for (const VarId v : names) {
            const Value value = reader.of(v);
            if (!value || std::fabs(*value) > 9e15 || count == most_told) continue;
            const Var& var = f.vars[static_cast<std::size_t>(v)];
            const bool whole = is_integer(var.type.dtype);
            told += fmt::format("{}{} = {}", count++ ? ", " : "", var.name,
                                whole ? fmt::format("{:.0f}", *value) : fmt::format("{:.9g}", *value));
        }
        return told;
    }
    return {};
}

}  // namespace xcuda::launch
