#include <fmt/format.h>

#include <algorithm>

#include "emit/shadowed.hpp"
#include "emit/writer.hpp"
#include "frontend/functions.hpp"
#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/narrow.hpp"
#include "passes/structure.hpp"

namespace xcuda::emit {

using namespace ir;

void Writer::line(const std::string& text) {
    out.append(static_cast<std::size_t>(indent) * 4, ' ');
    out += text;
    out += '\n';
}

void Writer::open(const std::string& head) {
    line(head + " {");
    ++indent;
}

void Writer::close(const std::string& tail) {
    --indent;
    line("}" + tail);
}

namespace {

std::string quoted(const std::string& file) {
    std::string text;
    for (const char c : file) {
        if (c == '"' || c == '\\') text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return "\"" + text + "\"";
}

void mark_line(Writer& w, const Place& place) {
    if (w.last_line.file == place.file && w.last_line.line == place.line) return;
    if (!place.known() && !w.last_line.known()) return;
    w.last_line = place;
    // What the passes added is not the user's last line going on.
    w.out +=
        place.known() ? fmt::format("#line {} {}\n", place.line, quoted(place.file)) : "#line 1 \"xcuda\"\n";
}

// Of a traced kernel: the condition of a branch, telling how it came out.
std::string told(const Writer& w, const Stmt& s, const std::string& condition) {
    if (!w.module.trace || s.site < 0) return condition;
    return fmt::format("xc_took({}, {}, XC_HERE)", condition, s.site);
}

std::string expected(const Stmt& s, const std::string& condition) {
    if (s.likely == 0) return condition;
    return fmt::format("{}({})", s.likely > 0 ? "XC_LIKELY" : "XC_UNLIKELY", condition);
}

void loop_body(Writer& w, const Stmt& s, const std::string& broke) {
    if (w.module.trace && s.site >= 0) w.line(fmt::format("xc_passed(XC_TURN, {}, XC_HERE);", s.site));
    w.loops.push_back({broke});
    w.body(s.body);
    w.loops.pop_back();
}

std::string begin_else(Writer& w, const Stmt& s) {
    if (s.orelse.empty() || !passes::breaks(s.body)) return {};
    const std::string broke = fmt::format("xc_broke_{}", w.counter++);
    w.line(fmt::format("bool {} = false;", broke));
    return broke;
}

void end_else(Writer& w, const Stmt& s, const std::string& broke) {
    if (s.orelse.empty()) return;
    w.open(broke.empty() ? "" : fmt::format("if (!{})", broke));
    w.body(s.orelse);
    w.close();
}

void loop_range_stmt(Writer& w, const Stmt& s) {
    const std::string broke = begin_else(w, s);
    if (s.hint == Stmt::Hint::cold && !w.cpu()) w.line("#pragma unroll 1");
    const bool unrolled = s.hint == Stmt::Hint::unroll || s.hint == Stmt::Hint::neighbours;
    if (unrolled && !w.cpu()) w.line("#pragma unroll");
    if (s.turns > 1 && s.hint == Stmt::Hint::none && !w.cpu())
        w.line(fmt::format("#pragma unroll {}", s.turns));
    const auto step = passes::integer_of(s.exprs[2]);
    const std::string& v = w.name(s.var);
    if (w.function.vars[static_cast<std::size_t>(s.var)].role == Var::Role::hidden &&
        w.function.vars[static_cast<std::size_t>(s.var)].type.lanes == 1 && w.cpu() && s.place.line == 0) {
        w.open(fmt::format(
            "for ({0} = {1}; {0} < {2}; {0} += {3})", v, w.expr(*s.exprs[0]), w.expr(*s.exprs[1]),
            w.expr(*s.exprs[2])));  // the compiler's own loops count upward over a variable nobody else sets
    } else {
        const int n = w.counter++;
        const bool short_step =
            step && *step <= passes::largest_narrow_step && *step >= -passes::largest_narrow_step;
        const char* counter = !s.narrow    ? "i64"
                              : short_step ? "i32"
                                           : "u32";  // up, by what may be a long step
        std::string head = fmt::format("for ({3} xc_i{0} = {1}, xc_stop{0} = {2}", n, w.expr(*s.exprs[0]),
                                       w.expr(*s.exprs[1]), counter);
        std::string test = fmt::format("xc_i{0} {1} xc_stop{0}", n, step && *step < 0 ? ">" : "<");
        std::string by = step ? fmt::format("xc_i{} += {}", n, *step) : "";
        if (!step) head += fmt::format(", xc_step{} = {}", n, w.expr(*s.exprs[2]));
        if (!step && s.narrow) {
            by = fmt::format("xc_i{0} += xc_step{0}", n);
        } else if (!step) {
            test = fmt::format("(xc_step{0} > 0 ? xc_i{0} < xc_stop{0} : xc_i{0} > xc_stop{0})", n);
            by = fmt::format("xc_i{0} = xc_stepped(xc_i{0}, xc_step{0}, xc_stop{0})", n);
        } else if (!s.narrow && *step != 1 && *step != -1) {  // a step may lead past the last int64
            head += fmt::format(", xc_end{0} = xc_range_end(xc_i{0}, xc_stop{0}, {1})", n, *step);
            test = fmt::format("xc_i{0} != xc_end{0}", n);
            by = fmt::format("xc_i{0} = (i64)((u64)xc_i{0} + (u64){1})", n, *step);
        }
        w.open(fmt::format("{}; {}; {})", head, test, by));
        const Type& t = w.function.vars[static_cast<std::size_t>(s.var)].type;
        const bool as_it_is = t.dtype == DType::i64 || (t.dtype == DType::i32 && s.narrow && short_step);
        w.line(as_it_is ? fmt::format("{} = xc_i{};", v, n)
                        : fmt::format("{} = ({})xc_i{};", v, w.type(t), n));
    }
    loop_body(w, s, broke);
    w.close();
    end_else(w, s, broke);
}

// On CUDA, a loop whose turns are counted for polls: one loop of as many turns as are left till the next poll, and one
// around it. A turn then costs a subtraction and no branch more. Not where threads meet: their counts may differ.
bool polls_around(const Writer& w, const Stmt& s) {
    return !w.cpu() && !s.body.empty() && s.body.front().kind == Stmt::Kind::poll &&
           passes::integer_of(s.body.front().exprs[0]) == 1 && strongest_effect(s.body) < Effect::warp;
}

void polled_while_stmt(Writer& w, const Stmt& s) {
    const std::string broke = begin_else(w, s), out = fmt::format("xc_out_{}", w.counter++);
    w.open("for (;;)");
    w.line("#pragma unroll 1");
    w.open("for (; xc_turns > 0; --xc_turns)");
    const Expr& condition = *s.exprs[0];
    const bool always = condition.op == Op::constant && std::get_if<bool>(&number_of(condition)) &&
                        std::get<bool>(number_of(condition));
    if (!always) w.line(fmt::format("if (!({})) goto {};", w.expr(condition), out));
    w.loops.push_back({broke, out});
    w.body(std::span(s.body).subspan(1));
    w.loops.pop_back();
    w.close();
    w.line("xc_turns = XC_TURNS;");
    w.line("xc_poll(XC_HERE);");
    w.close();
    w.line(out + ":;");
    end_else(w, s, broke);
}

void loop_while_stmt(Writer& w, const Stmt& s) {
    if (polls_around(w, s)) return polled_while_stmt(w, s);
    const std::string broke = begin_else(w, s);
    w.open(fmt::format("while ({})", w.expr(*s.exprs[0])));
    loop_body(w, s, broke);
    w.close();
    end_else(w, s, broke);
}

void store_stmt(Writer& w, const Stmt& s) {
    const Expr& array = *s.exprs[0];
    const auto ndim = static_cast<std::size_t>(array.type.ndim);
    const Expr& value = *s.exprs[ndim + 1];
    if (w.needs.shadow && array.type.space != Space::local && value.type.lanes == 1)
        return shadowed_store(w, s, array, value);
    const std::string at = w.element(array, s.exprs.data() + 1, s.access, Writer::Touch::write);
    if (array.type.layout == Layout::bytes) {
        w.line(fmt::format("xc_put<{}>({}, {});", w.type(value.type), at, w.expr(value)));
        return;
    }
    if (value.type.lanes == 1) {
        const std::string text = w.expr(value);
        w.line(w.hinted(s.access.hint, at, &text) + ";");
        return;
    }
    const Expr& stride = *s.exprs[ndim + 2];
    const bool contiguous = passes::integer_of(s.exprs[ndim + 2]) == 1;
    const bool bits = array.type.dtype == DType::b1, masked = s.exprs.size() > ndim + 3;
    std::string text = contiguous ? "xc_vstore" : "xc_vscatter";
    if (masked) text += "_m";
    if (s.access.masked) text += "_n";
    if (!w.cpu() && !s.access.aligned) text += "_unaligned";
    if (bits && !w.cpu())
        text += fmt::format("((i8*)&{}, xc_each<{}>([](i8 xc_0) {{ return (i8)-xc_0; }}, {})", at,
                            w.type(value.type), w.expr(value));
    else
        text += bits ? fmt::format("((i8*)&{}, ({} & (i8)1)", at, w.expr(value))
                     : fmt::format("(&{}, {}", at, w.expr(value));
    if (!contiguous) text += ", " + w.expr(stride);
    if (masked) text += ", " + w.expr(*s.exprs[ndim + 3]);
    if (s.access.masked) text += ", " + w.name(w.function.tail);
    w.line(text + ");");
}

// Scalars by value, so that the code around keeps them in registers; arrays by reference.
std::string cold_head(const Writer& w, const Body& body) {
    std::set<VarId> arrays;
    each_expr(body, [&](const Expr& e) {
        if (e.op == Op::var && e.type.is_array() && e.type.space != Space::global &&
            e.type.space != Space::constant && !e.type.extents.empty())
            arrays.insert(var_of(e));
    });
    std::string captured = "=";
    for (const VarId v : arrays) captured += ", &" + w.name(v);
    return fmt::format("[{}]() XC_COLD mutable", captured);
}

void fault_stmt(Writer& w, const Stmt& s) {
    const Site::Kind kind = w.module.sites[static_cast<std::size_t>(s.site)].kind;
    const char* name = kind == Site::Kind::index           ? "XC_INDEX"
                       : kind == Site::Kind::zero_division ? "XC_ZERO_DIVISION"
                       : kind == Site::Kind::assertion     ? "XC_ASSERTION"
                       : kind == Site::Kind::raised        ? "XC_RAISED"
                                                           : "XC_UNBOUND";
    std::string told[2] = {"0", "0"};
    for (std::size_t i = 0; i < s.exprs.size() && i < 2; ++i) {
        const DType dtype = s.exprs[i]->type.dtype;
        const char* as = !is_floating(dtype) ? "(i64)" : info(dtype).size < 4 ? "xc_told((f32)" : "xc_told(";
        told[i] = fmt::format("{}({}){}", as, w.expr(*s.exprs[i]), is_floating(dtype) ? ")" : "");
    }
    w.line(fmt::format("xc_fail({}, {}, {}, {}, XC_HERE);", s.site, name, told[0], told[1]));
}

// Of a traced kernel: that threads have met in a call.
void tell_meeting(Writer& w, const Expr& e) {
    if (!w.module.trace) return;
    const Effect effect = effect_of(e);
    if (w.needs.watched && effect == Effect::order && frontend::is_fence(e))
        w.line("xc_passed(XC_FENCE, -1, XC_HERE);");
    if (effect < Effect::warp) return;
    const char* what = effect == Effect::warp                      ? (w.needs.shadow ? "XC_MET" : "XC_WARP")
                       : effect == Effect::grid && w.needs.watched ? "XC_GRID"
                                                                   : "XC_BARRIER";
    w.line(fmt::format("xc_passed({}, -1, XC_HERE);", what));
}

std::string barrier_text(const Writer& w, const Stmt& s) {
    if (w.cpu()) return fmt::format("W->barrier(W, {}, false);", s.site);
    if (!s.text.empty()) return fmt::format("asm volatile(\"bar.sync 1, {};\" ::: \"memory\");", s.text);
    return "__syncthreads();";
}

void stmt(Writer& w, const Stmt& s) {
    mark_line(w, s.place);
    switch (s.kind) {
        case Stmt::Kind::assign: {
            const Expr& value = *s.exprs[0];
            w.line(fmt::format("{} = {};", w.name(s.var), w.expr(value)));
            tell_meeting(w, value);
            return;
        }
        case Stmt::Kind::store: store_stmt(w, s); return;
        case Stmt::Kind::evaluate:
            w.line(w.expr(*s.exprs[0]) + ";");
            tell_meeting(w, *s.exprs[0]);
            return;
        case Stmt::Kind::branch:
            w.open(fmt::format("if ({})", expected(s, told(w, s, w.expr(*s.exprs[0])))));
            w.body(s.body);
            if (!s.orelse.empty()) {
                --w.indent;
                w.open("} else");
                w.body(s.orelse);
            }
            w.close();
            return;
        case Stmt::Kind::loop_range: loop_range_stmt(w, s); return;
        case Stmt::Kind::loop_while: loop_while_stmt(w, s); return;
        case Stmt::Kind::break_loop:
            if (!w.loops.empty() && !w.loops.back().broke.empty()) w.line(w.loops.back().broke + " = true;");
            w.line(w.loops.empty() || w.loops.back().out.empty() ? "break;"
                                                                 : "goto " + w.loops.back().out + ";");
            return;
        case Stmt::Kind::continue_loop: w.line("continue;"); return;
        case Stmt::Kind::leave:
            if (w.needs.shadow && w.function.is_kernel) w.line("xc_shadow_end(XC_HERE);");
            w.line(s.exprs.empty() ? "return;" : fmt::format("return {};", w.expr(*s.exprs[0])));
            return;
        case Stmt::Kind::barrier:
            if (w.module.trace)
                w.line(fmt::format("xc_passed(XC_BARRIER, {}, XC_HERE);", barrier_number(w, s.site)));
            w.line(barrier_text(w, s));
            return;
        case Stmt::Kind::fault: fault_stmt(w, s); return;
        case Stmt::Kind::poll:
            w.line(w.cpu() ? "xc_poll(L, W);"
                           : fmt::format("xc_poll_seldom(xc_turns, {}, XC_HERE);", w.expr(*s.exprs[0])));
            return;
        case Stmt::Kind::scope:
            w.open(s.hint == Stmt::Hint::cold ? cold_head(w, s.body) : "[&]() XC_INLINE");
            w.body(s.body);
            w.close("();");
            return;
        case Stmt::Kind::machine: {
            std::string args;
            for (const ExprP& e : s.exprs) args += (args.empty() ? "" : ", ") + w.expr(*e);
            w.line(fmt::format("{}({});", s.text, args));
            return;
        }
        case Stmt::Kind::tile: throw bug("a tile statement that was not lowered");
        case Stmt::Kind::run_fibers:
            if (w.needs.watched) {
                const std::string entry = entry_name(w.module);
                const bool one_by_one =
                    w.needs.shadow && !w.module.whole_grid;  // blocks, on all workers at once
                w.line(fmt::format("xc_{}_{}({}, W, L, P, {}{}_thread);",
                                   w.needs.shadow ? "shadow" : "watched",
                                   w.module.whole_grid ? "grid"
                                   : one_by_one        ? "block"
                                                       : "blocks",
                                   w.name(*w.module.trace),
                                   w.module.whole_grid ? entry + "_shared_bytes, "
                                   : one_by_one        ? w.expr(*s.exprs[0]) + ", "
                                                       : "",
                                   entry));
                return;
            }
            w.line(w.module.whole_grid ? fmt::format("W->run_grid(W, L, P, {0}_shared_bytes, {0}_thread);",
                                                     entry_name(w.module))
                                       : fmt::format("W->run_fibers(W, L, P, {}, {}_thread);",
                                                     w.expr(*s.exprs[0]), entry_name(w.module)));
            return;
    }
}

}  // namespace

void Writer::body(std::span<const Stmt> b) {
    for (const Stmt& s : b) stmt(*this, s);
}

}  // namespace xcuda::emit
