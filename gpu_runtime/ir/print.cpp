#include "ir/print.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "frontend/functions.hpp"
#include "ir/tile.hpp"

namespace xcuda::ir {
namespace {

struct Symbol {
    Op op;
    const char* text;
};

constexpr Symbol infix[] = {
    {Op::add, "+"},    {Op::sub, "-"},     {Op::mul, "*"},  {Op::truediv, "/"},     {Op::floordiv, "//"},
    {Op::mod, "%"},    {Op::pow, "**"},    {Op::shl, "<<"}, {Op::shr, ">>"},        {Op::bit_and, "&"},
    {Op::bit_or, "|"}, {Op::bit_xor, "^"}, {Op::lt, "<"},   {Op::le, "<="},         {Op::gt, ">"},
    {Op::ge, ">="},    {Op::eq, "=="},     {Op::ne, "!="},  {Op::logic_and, "and"}, {Op::logic_or, "or"},
};
constexpr Symbol prefix[] = {{Op::neg, "-"}, {Op::bit_not, "~"}, {Op::logic_not, "not "}};

template <std::size_t N>
const char* symbol(const Symbol (&table)[N], Op op) {
    for (const Symbol& s : table)
        if (s.op == op) return s.text;
    return nullptr;
}

std::string real_text(double value, bool single) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char buffer[40];
    const auto end = single ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value)).ptr
                            : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string text(buffer, end);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

struct Printer {
    const Function& f;
    const Module* module;
    std::map<std::string, int> uses = {};
    std::string out = {};

    Printer(const Function& function, const Module* m) : f(function), module(m) {
        for (const Var& v : f.vars) ++uses[v.name];
    }

    // The user's name; with the variable's number where several share it or it has none.
    std::string name(VarId id) const {
        if (id < 0 || id >= static_cast<int>(f.vars.size()))
            return "<no variable " + std::to_string(id) + ">";
        const std::string& n = f.vars[id].name;
        return n.empty() || uses.at(n) > 1 ? n + "#" + std::to_string(id) : n;
    }

    std::string number(const Expr& e) const {
        std::string text;
        const Number& n = number_of(e);
        if (const bool* b = std::get_if<bool>(&n)) text = *b ? "True" : "False";
        if (const auto* i = std::get_if<std::int64_t>(&n)) text = std::to_string(*i);
        if (const auto* u = std::get_if<std::uint64_t>(&n)) text = std::to_string(*u);
        if (const double* d = std::get_if<double>(&n)) text = real_text(*d, e.type.dtype == DType::f32);
        if (const auto* z = std::get_if<std::complex<double>>(&n)) {
            const bool single = e.type.dtype == DType::c64;
            text = "complex(" + real_text(z->real(), single) + ", " + real_text(z->imag(), single) + ")";
        }
        return e.type.weak || e.type.dtype == DType::b1 ? text : to_string(e.type) + "(" + text + ")";
    }

    std::string list(const std::vector<ExprP>& args, std::size_t first, std::size_t last) const {
        std::string text;
        for (std::size_t i = first; i < last; ++i) text += (i > first ? ", " : "") + expr(*args[i]);
        return text;
    }

    // `~` before an index: may count from the end; `!` after it: tested.
    std::string element(const std::vector<ExprP>& args, std::size_t indices, const Access& access) const {
        std::string text = expr(*args[0]) + "[";
        for (std::size_t axis = 0; axis < indices; ++axis) {
            text += axis ? ", " : "";
            text += access.wrap >> axis & 1 ? "~" : "";
            text += expr(*args[axis + 1]);
            text += access.checked >> axis & 1 ? "!" : "";
        }
        return text + (access.masked ? "; tail]" : "]");
    }

    std::string coordinate(const Coord& c) const {
        static constexpr const char* names[] = {"thread",   "block",  "block_dim",
                                                "grid_dim", "global", "grid_size"};
        return std::string(names[static_cast<int>(c.kind)]) + "." + "xyz"[c.axis];
    }

    std::string operand(const Expr& e) const {
        const bool simple = !symbol(infix, e.op) && !symbol(prefix, e.op) && e.op != Op::select;
        return simple ? expr(e) : "(" + expr(e) + ")";
    }

    std::string expr(const Expr& e) const {
        if (const char* s = symbol(infix, e.op)) {
            const bool guarded = std::holds_alternative<Access>(e.payload) && access_of(e).checked;
            return operand(*e.args[0]) + " " + s + (guarded ? "! " : " ") + operand(*e.args[1]);
        }
        if (const char* s = symbol(prefix, e.op)) return s + operand(*e.args[0]);
        static constexpr const char* atomics[] = {"add", "sub", "max", "min", "exch",   "cas",    "and_",
                                                  "or_", "xor", "inc", "dec", "nanmax", "nanmin", "address"};
        switch (e.op) {
            case Op::constant: return number(e);
            case Op::var: return name(var_of(e));
            case Op::select:
                return operand(*e.args[1]) + " if " + operand(*e.args[0]) + " else " + operand(*e.args[2]);
            case Op::cast: return to_string(e.type) + "(" + expr(*e.args[0]) + ")";
            case Op::call: {
                const auto& function = frontend::function_of(std::get<OverloadId>(e.payload));
                return std::string(function.name) + "(" + list(e.args, 0, e.args.size()) + ")";
            }
            case Op::invoke: {
                const int id = std::get<FunctionId>(e.payload).value;
                const bool known = module && id >= 0 && id < static_cast<int>(module->functions.size());
                const std::string callee =
                    known ? module->functions[id].name : "function#" + std::to_string(id);
                return callee + "(" + list(e.args, 0, e.args.size()) + ")";
            }
            case Op::load: {  // also a broken one, for the verifier's message
                const Access* access = std::get_if<Access>(&e.payload);
                return element(e.args, static_cast<std::size_t>(e.args[0]->type.ndim),
                               access ? *access : Access{});
            }
            case Op::dim:
                return std::get<Axis>(e.payload).value < e.args[0]->type.ndim
                           ? fmt::format("{}.shape[{}]", expr(*e.args[0]), std::get<Axis>(e.payload).value)
                           : fmt::format("{}.steps[{}]", expr(*e.args[0]),
                                         std::get<Axis>(e.payload).value - e.args[0]->type.ndim);
            case Op::coord: return coordinate(coord_of(e));
            case Op::atomic: {
                const Atomic& a = std::get<Atomic>(e.payload);
                const std::size_t values = a.kind == Atomic::Kind::cas       ? 2
                                           : a.kind == Atomic::Kind::address ? 0
                                                                             : 1;
                const std::size_t indices = e.args.size() - 1 - values;
                if (a.kind == Atomic::Kind::address)
                    return "address(" + element(e.args, indices, a.access) + ")";
                static constexpr const char* parts[] = {"", ".real", ".imag"};
                return std::string("atomic.") + atomics[static_cast<int>(a.kind)] + "(" +
                       element(e.args, indices, a.access) + parts[static_cast<int>(a.part)] + ", " +
                       list(e.args, indices + 1, e.args.size()) + ")";
            }
            case Op::print: return "print(" + list(e.args, 0, e.args.size()) + ")";
            case Op::bound: {
                const Access& access = access_of(e);
                return std::string("within(") + (access.wrap ? "~" : "") + expr(*e.args[0]) +
                       (access.checked ? "!, " : ", ") + expr(*e.args[1]) + ")";
            }
            case Op::apart: return "apart(" + list(e.args, 0, 2) + ")";
            case Op::ramp: return "ramp(" + expr(*e.args[0]) + ", " + std::to_string(e.type.lanes) + ")";
            case Op::splat: return "splat(" + expr(*e.args[0]) + ", " + std::to_string(e.type.lanes) + ")";
            case Op::element:
                return e.args.size() == 1 ? expr(*e.args[0])
                                          : expr(*e.args[0]) + "[" + list(e.args, 1, e.args.size()) + "]";
            case Op::position: return "position(" + std::to_string(std::get<Axis>(e.payload).value) + ")";
            case Op::spread: return "spread(" + expr(*e.args[0]) + ", " + to_string(e.type.extents) + ")";
            case Op::address:
                return "&" + element(e.args, static_cast<std::size_t>(e.args[0]->type.ndim), {});
            default: return "<operation " + std::to_string(static_cast<int>(e.op)) + ">";
        }
    }

    void line(int depth, const std::string& text) { out += std::string(4 * depth, ' ') + text + "\n"; }

    void body(const Body& statements, int depth) {
        if (statements.empty()) line(depth, "pass");
        for (const Stmt& s : statements) statement(s, depth);
    }

    void otherwise(const Stmt& s, int depth) {
        if (s.orelse.empty()) return;
        line(depth, "else:");
        body(s.orelse, depth + 1);
    }

    std::string site(int id) const {
        static constexpr const char* kinds[] = {"index", "zero_division", "assertion", "raised", "unbound"};
        if (!module || id < 0 || id >= static_cast<int>(module->sites.size()))
            return "site " + std::to_string(id);
        const Site& s = module->sites[id];
        std::string text = kinds[static_cast<int>(s.kind)];
        if (!s.subject.empty()) text += " " + s.subject;
        return s.message.empty() ? text : text + " \"" + s.message + "\"";
    }

    void tile(const Stmt& s, int depth) {
        static constexpr const char* folds[] = {"sum", "prod", "max", "min", "argmax", "argmin", "fold"};
        const char* fold = folds[static_cast<int>(s.tile.fold)];
        const std::string what = s.tile.kind == TileOp::Kind::store ? "store"
                                 : s.tile.kind == TileOp::Kind::mma ? "mma"
                                 : s.tile.kind == TileOp::Kind::reduce
                                     ? fmt::format("{} along {}: ", fold, s.tile.axis)
                                     : fmt::format("scan {} along {}: ", fold, s.tile.axis);
        line(depth,
             (s.var >= 0 ? name(s.var) + " = " : "") + what + "(" + list(s.exprs, 0, s.exprs.size()) + ")");
    }

    void statement(const Stmt& s, int depth) {
        static constexpr const char* hints[] = {"", "  # cold", "  # unroll"};
        const char* hint = hints[static_cast<int>(s.hint)];
        switch (s.kind) {
            case Stmt::Kind::assign: line(depth, name(s.var) + " = " + expr(*s.exprs[0])); break;
            case Stmt::Kind::store: {
                const std::size_t ndim = static_cast<std::size_t>(s.exprs[0]->type.ndim);
                std::string text = element(s.exprs, ndim, s.access) + " = " + expr(*s.exprs[ndim + 1]);
                if (s.exprs.size() > ndim + 2) text += "  # lanes " + list(s.exprs, ndim + 2, s.exprs.size());
                line(depth, text);
                break;
            }
            case Stmt::Kind::evaluate: line(depth, expr(*s.exprs[0])); break;
            case Stmt::Kind::branch:
                line(depth, "if " + expr(*s.exprs[0]) + ":");
                body(s.body, depth + 1);
                otherwise(s, depth);
                break;
            case Stmt::Kind::loop_range:
                line(depth, "for " + name(s.var) + " in range(" + list(s.exprs, 0, 3) + "):" + hint);
                body(s.body, depth + 1);
                otherwise(s, depth);
                break;
            case Stmt::Kind::loop_while:
                line(depth, "while " + expr(*s.exprs[0]) + ":" + hint);
                body(s.body, depth + 1);
                otherwise(s, depth);
                break;
            case Stmt::Kind::break_loop: line(depth, "break"); break;
            case Stmt::Kind::continue_loop: line(depth, "continue"); break;
            case Stmt::Kind::leave:
                line(depth, s.exprs.empty() ? "return" : "return " + expr(*s.exprs[0]));
                break;
            case Stmt::Kind::barrier: line(depth, "barrier"); break;
            case Stmt::Kind::tile: tile(s, depth); break;
            case Stmt::Kind::machine:
                line(depth, s.text + "(" + list(s.exprs, 0, s.exprs.size()) + ")");
                break;
            case Stmt::Kind::fault:
                line(depth, "fault " + site(s.site) +
                                (s.exprs.empty() ? "" : " of " + list(s.exprs, 0, s.exprs.size())));
                break;
            case Stmt::Kind::poll: line(depth, "poll"); break;
            case Stmt::Kind::scope:
                line(depth, "scope:");
                body(s.body, depth + 1);
                break;
            case Stmt::Kind::run_fibers: line(depth, "run_fibers(" + expr(*s.exprs[0]) + ")"); break;
            default: line(depth, "<statement " + std::to_string(static_cast<int>(s.kind)) + ">");
        }
    }

    void function() {
        std::string head = f.is_kernel ? "kernel " : "function ";
        head += f.name + "(";
        for (std::size_t i = 0; i < f.params.size(); ++i)
            head += (i ? ", " : "") + name(f.params[i]) + ": " + to_string(f.vars[f.params[i]].type);
        head += f.result.is_none() ? "):" : ") -> " + to_string(f.result) + ":";
        line(0, head);
        for (std::size_t id = 0; id < f.vars.size(); ++id) {
            const Var& v = f.vars[id];
            if (v.role == Var::Role::parameter) continue;
            const char* role = v.role == Var::Role::hidden ? "hidden " : "var ";
            line(1, role + name(static_cast<VarId>(id)) + ": " + to_string(v.type) +
                        (v.maybe_unbound ? "  # may be unbound" : ""));
        }
        body(f.body, 1);
    }
};

}  // namespace

std::string to_string(const Function& function, const Module* module) {
    Printer p(function, module);
    p.function();
    return p.out;
}

std::string to_string(const Module& module) {
    std::string text;
    for (const Function& f : module.functions) text += (text.empty() ? "" : "\n") + to_string(f, &module);
    for (const std::string& w : module.warnings) text += "warning: " + w + "\n";
    return text;
}

std::string to_string(const Function& function, const Expr& expr) {
    return Printer(function, nullptr).expr(expr);
}

}  // namespace xcuda::ir
