#include "passes/cuda_staging.hpp"

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/cpu_region.hpp"
#include "passes/structure.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

std::int64_t StagingFrame::extent(int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return block[static_cast<std::size_t>(order[a])] * elements[a];
}

namespace {

constexpr std::int64_t most_bytes = 48 * 1024;  // of static shared memory, on every GPU
constexpr double least_reuse = 2;               // accesses to each staged element

/// A loop around a load, as seen from inside.
struct Around {
    const Stmt* loop = nullptr;
    std::optional<std::int64_t> turns{};  // where they are known and few
    std::int64_t start = 0, step = 1;     // of such
    bool cuttable = false;                // all threads of the block come to it, and run the same turns
    int marker = -1;
};

/// An index: base + what the block's elements, the loop that is cut and loops of few turns add to it.
struct Form {
    ExprP base;  // with loops around the one that is cut in it
    std::int64_t constant = 0;
    std::array<std::int64_t, 3> axes{};
    std::int64_t cut = 0;
    std::int64_t least = 0, greatest = 0;  // of what is added, constant and all
};

struct Candidate {
    const Expr* load;
    int loop;  // marker; -1: the whole body
    std::vector<Form> forms;
    double accesses;             // of a block, each time the tile is there
    std::vector<Range> reach{};  // of the indices, over the block's elements and all turns of all loops
};

struct Finder {
    Function& f;
    const StagingFrame& frame;
    const std::vector<bool> assigned;
    const std::vector<int> counts, reads;
    std::vector<bool> written;  // by VarId
    Box box;                    // the block's elements
    std::map<VarId, LoopRange> open{};
    std::vector<Around> around{};
    std::vector<const Stmt*> marked{};  // by marker
    std::vector<Candidate> found{};

    LinearScope scope() const { return {f, assigned, &open, false, false}; }

    int marker_of(const Stmt* loop) {
        const auto at = std::ranges::find(marked, loop);
        if (at != marked.end()) return static_cast<int>(at - marked.begin());
        marked.push_back(loop);
        return static_cast<int>(marked.size()) - 1;
    }

    bool same_for_all(const ExprP& e) const {
        const auto sum = linear(e, scope());
        return sum && !sum->coefficients[0] && !sum->coefficients[1] && !sum->coefficients[2];
    }

    void body(const Body& b, bool together) {
        for (const Stmt& s : b) {
            for (const ExprP& e : s.exprs) each_expr(e, [&](const Expr& n) { expr(n); });
            if (s.kind == Stmt::Kind::loop_range) {
                loop(s, together);
            } else {
                body(s.body, false);
                body(s.orelse, false);
            }
        }
    }

    void loop(const Stmt& s, bool together) {
        const bool named = counts[static_cast<std::size_t>(s.var)] == 1;
        const auto start = integer_of(s.exprs[0]), stop = integer_of(s.exprs[1]),
                   step = integer_of(s.exprs[2]);
        const bool uniform = together && named && same_for_all(s.exprs[0]) && same_for_all(s.exprs[1]) &&
                             s.orelse.empty() && !breaks(s.body);
        Around a;
        a.loop = &s;
        if (start && stop && step && *step > 0 && *stop > *start) {
            const std::int64_t turns = (*stop - *start + *step - 1) / *step;
            if (turns <= frame.turns) a.turns = turns;
            a.start = *start;
            a.step = *step;
        }
        a.cuttable = uniform && step == 1 && s.hint == Stmt::Hint::none && !read_outside(s);
        if (named) open[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
        around.push_back(a);
        body(s.body, uniform && !continues(s.body));
        around.pop_back();
        if (named) open.erase(s.var);
        body(s.orelse, false);
    }

    bool read_outside(const Stmt& s) const {
        const auto inside = read_counts(f, s.body);
        return inside[static_cast<std::size_t>(s.var)] != reads[static_cast<std::size_t>(s.var)];
    }

    void expr(const Expr& e) {
        if (e.op != Op::load) return;
        const Type& t = e.args[0]->type;
        if (t.space != Space::global || t.layout == Layout::bytes || t.ndim == 0 || e.type.lanes != 1 ||
            e.args[0]->op != Op::var ||
            f.vars[static_cast<std::size_t>(var_of(*e.args[0]))].role != Var::Role::parameter ||
            written[static_cast<std::size_t>(var_of(*e.args[0]))] || access_of(e).joined ||
            access_of(e).hint != CacheHint::none)
            return;
        std::vector<Linear> sums;
        for (int d = 0; d < t.ndim; ++d) {
            const auto sum = linear(e.args[static_cast<std::size_t>(d) + 1], scope());
            if (!sum) return;
            sums.push_back(*sum);
        }
        // Cut is the innermost loop of many turns: those inside it must be few, those around it stay as they are.
        int cut = -1;
        for (int i = static_cast<int>(around.size()) - 1; i >= 0 && cut < 0; --i)
            if (!around[static_cast<std::size_t>(i)].turns) cut = i;
        if (cut >= 0 && !around[static_cast<std::size_t>(cut)].cuttable) return;
        candidate(e, sums, cut);
    }

    void candidate(const Expr& e, const std::vector<Linear>& sums, int cut) {
        Candidate c{&e, -1, {}, 1};
        if (cut >= 0) c.loop = marker_of(around[static_cast<std::size_t>(cut)].loop);
        bool moves = false, turns = false;
        std::array<bool, 3> axes{};
        for (const Linear& sum : sums) {
            const auto form = form_of(sum, cut);
            const auto reach = range_over(sum, box, scope());
            if (!form || !reach) return;
            c.reach.push_back(*reach);
            for (std::size_t a = 0; a < 3; ++a) axes[a] = axes[a] || form->axes[a] != 0;
            turns |= form->cut != 0;
            c.forms.push_back(*form);
        }
        for (const bool a : axes) moves |= a;
        if (!moves || (cut >= 0 && !turns)) return;  // one element for all threads; or the same one each turn
        for (int a = 0; a < 3; ++a) c.accesses *= static_cast<double>(frame.extent(a));
        for (std::size_t i = static_cast<std::size_t>(cut + 1); i < around.size(); ++i)
            c.accesses *= static_cast<double>(*around[i].turns);
        if (cut >= 0) c.accesses *= frame.turns;
        found.push_back(std::move(c));
    }

    std::optional<Form> form_of(const Linear& sum, int cut) {
        Form form;
        form.base = sum.base;
        const auto widen = [&](std::int64_t factor, std::int64_t low, std::int64_t high) {
            form.least += std::min(factor * low, factor * high);
            form.greatest += std::max(factor * low, factor * high);
        };
        constexpr std::int64_t most = 1 << 20;
        for (int a = 0; a < 3; ++a) {
            if (!sum.coefficients[static_cast<std::size_t>(a)]) continue;
            const auto factor = integer_of(sum.coefficients[static_cast<std::size_t>(a)]);
            if (!factor || *factor > most || *factor < -most) return std::nullopt;
            form.axes[static_cast<std::size_t>(a)] = *factor;
            widen(*factor, 0, frame.extent(a) - 1);
        }
        for (const auto& [v, by] : sum.loops) {
            const auto factor = integer_of(by);
            const auto at = std::ranges::find(around, v, [](const Around& a) { return a.loop->var; });
            if (!factor || *factor > most || *factor < -most || at == around.end()) return std::nullopt;
            const int depth = static_cast<int>(at - around.begin());
            if (depth == cut) {
                form.cut = *factor;
                widen(*factor, 0, frame.turns - 1);
            } else if (depth > cut) {
                if (at->start > most || at->start < -most || at->step > most) return std::nullopt;
                widen(*factor, at->start, at->start + at->step * (*at->turns - 1));
            } else {
                marker_of(at->loop);
                form.base = add(form.base, mul(int_constant(*factor), read(f, v)));
            }
        }
        if (const auto c = integer_of(form.base)) {
            form.constant = *c;
            form.base = int_constant(0);
        } else if ((form.base->op == Op::add || form.base->op == Op::sub) && integer_of(form.base->args[1])) {
            form.constant = *integer_of(form.base->args[1]) * (form.base->op == Op::add ? 1 : -1);
            form.base = form.base->args[0];
        }
        if (form.constant > most || form.constant < -most) return std::nullopt;
        form.least += form.constant;
        form.greatest += form.constant;
        return form;
    }
};

bool alike(const Candidate& a, const Candidate& b) {
    return a.loop == b.loop && var_of(*a.load->args[0]) == var_of(*b.load->args[0]) &&
           std::ranges::equal(a.forms, b.forms, [](const Form& x, const Form& y) {
               return x.axes == y.axes && x.cut == y.cut && same(*x.base, *y.base);
           });
}

bool meets_or_prints(const Body& body) {
    bool found = strongest_effect(body) > Effect::none || has_leave(body);
    each_expr(body, [&](const Expr& e) { found |= e.op == Op::invoke || e.op == Op::print; });
    each_stmt(body, [&](const Stmt& s) {
        found |= s.kind == Stmt::Kind::machine || s.kind == Stmt::Kind::tile || s.kind == Stmt::Kind::barrier;
    });
    return found;
}

std::vector<bool> written_vars(const Function& f, const Body& body) {
    std::vector<bool> out(f.vars.size(), false);
    each_stmt(body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::store) out[static_cast<std::size_t>(var_of(*s.exprs[0]))] = true;
    });
    each_expr(body, [&](const Expr& e) {
        if (e.op == Op::atomic) out[static_cast<std::size_t>(var_of(*e.args[0]))] = true;
    });
    return out;
}

/// Where neighbours along x lie in different rows, or apart in one: each takes a transaction of its own.
bool scattered(const Candidate& c, const StagingFrame& frame) {
    for (int a = 0; a < 3; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        if (frame.order[axis] != 0) continue;
        for (std::size_t d = 0; d + 1 < c.forms.size(); ++d)
            if (c.forms[d].axes[axis] != 0) return true;
        return std::abs(c.forms.back().axes[axis]) > 1;
    }
    return false;
}

}  // namespace

std::optional<Staging> stage(Function& f, const Body& body, const StagingFrame& frame) {
    if (frame.turns < 2 || frame.threads() > 1024 || meets_or_prints(body)) return std::nullopt;
    Staging out;
    Box box;
    for (int a = 0; a < 3; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        out.first[axis] = hidden(f, "first");
        box.low[axis] = read(f, out.first[axis]);
        box.high[axis] = add(box.low[axis], int_constant(frame.extent(a)));
    }
    Finder finder{f,
                  frame,
                  assigned_vars(f, body),
                  assignment_counts(f, body),
                  read_counts(f, body),
                  written_vars(f, body),
                  box};
    bool in_bytes = false;  // where such an array lies is not told in elements
    for (std::size_t v = 0; v < f.vars.size(); ++v)
        in_bytes |= finder.written[v] && f.vars[v].type.layout == Layout::bytes;
    if (in_bytes) return std::nullopt;
    finder.body(body, true);

    std::map<const Expr*, VarId> of_load;
    std::vector<bool> taken(finder.found.size(), false);
    std::int64_t bytes = 0;
    for (const Stmt* s : finder.marked) out.loops.push_back(s->var);
    out.starts.assign(out.loops.size(), -1);

    for (std::size_t i = 0; i < finder.found.size(); ++i) {
        if (taken[i]) continue;
        const Candidate& one = finder.found[i];
        const ExprP array = one.load->args[0];
        std::vector<Form> forms = one.forms;
        double accesses = 0;
        for (std::size_t j = i; j < finder.found.size(); ++j) {
            if (taken[j] || !alike(one, finder.found[j])) continue;
            taken[j] = true;
            accesses += finder.found[j].accesses;
            for (std::size_t d = 0; d < forms.size(); ++d) {
                forms[d].least = std::min(forms[d].least, finder.found[j].forms[d].least);
                forms[d].greatest = std::max(forms[d].greatest, finder.found[j].forms[d].greatest);
            }
        }
        StagedTile tile;
        tile.array = array;
        tile.loop = one.loop;
        const auto size = static_cast<std::int64_t>(info(array->type.dtype).size);
        std::int64_t elements = 1;
        bool fits = true;
        for (const Form& form : forms) {
            tile.lengths.push_back(form.greatest - form.least + 1);
            elements *= tile.lengths.back();
            fits &= elements <= most_bytes;
        }
        const bool across = scattered(one, frame);
        if (!fits || (accesses < least_reuse * static_cast<double>(elements) && !across)) continue;
        std::vector<std::int64_t> extents = tile.lengths;
        if (across)
            extents.back() |= 1;  // neighbours then lie in different banks
        else
            extents.back() = (extents.back() * size + 15) / 16 * 16 / size;  // rows begin where vectors may
        const std::int64_t room = elements / tile.lengths.back() * extents.back() * size;
        if (bytes + (room + 63) / 64 * 64 > most_bytes) continue;
        bytes += (room + 63) / 64 * 64;

        Var shared;
        shared.name = f.vars[static_cast<std::size_t>(var_of(*array))].name + "_rows";
        shared.type = fixed_array(array->type.dtype, extents, Space::shared);
        shared.role = Var::Role::shared;
        tile.shared = f.add(std::move(shared));
        if (one.loop >= 0 && out.starts[static_cast<std::size_t>(one.loop)] < 0)
            out.starts[static_cast<std::size_t>(one.loop)] = hidden(f, "from");
        for (const Form& form : forms) {
            ExprP at = add(form.base, int_constant(form.least));
            for (std::size_t a = 0; a < 3; ++a)
                if (form.axes[a] != 0) at = add(mul(int_constant(form.axes[a]), read(f, out.first[a])), at);
            if (form.cut != 0)
                at = add(
                    at, mul(int_constant(form.cut), read(f, out.starts[static_cast<std::size_t>(one.loop)])));
            tile.origin.push_back(std::move(at));
        }
        const Form& last = forms.back();
        for (int a = 0; a < 3; ++a) {
            const auto axis = static_cast<std::size_t>(a);
            auto others = last.axes;
            others[axis] = 0;
            if (!across && last.axes[axis] == 1 && others == std::array<std::int64_t, 3>{} && last.cut == 0 &&
                integer_of(last.base) == 0) {
                tile.along = a;
                tile.lead = last.least;
            }
        }
        for (const Candidate& c : finder.found)
            if (alike(one, c)) of_load[c.load] = tile.shared;
        out.tiles.push_back(std::move(tile));
    }
    if (out.tiles.empty()) return std::nullopt;

    ExprP test;
    std::vector<ExprP> asked;
    const auto require = [&](ExprP condition) {
        for (const ExprP& old : asked)
            if (same(*old, *condition)) return;
        asked.push_back(condition);
        test = both(test, std::move(condition));
    };
    for (const Candidate& c : finder.found) {
        if (!of_load.contains(c.load)) continue;
        for (std::size_t d = 0; d < c.reach.size(); ++d) {
            if (integer_of(c.reach[d].least).value_or(-1) < 0)
                require(compare(Op::ge, c.reach[d].least, int_constant(0)));
            require(compare(Op::lt, c.reach[d].greatest, dim(c.load->args[0], static_cast<int>(d))));
        }
    }
    for (const StagedTile& t : out.tiles)
        for (std::size_t v = 0; v < finder.written.size(); ++v)
            if (finder.written[v] && f.vars[v].type.space == Space::global) {
                const auto id = static_cast<VarId>(v);
                require(make(Op::apart, scalar(DType::b1), {t.array, var(id, f.vars[v].type)}));
            }
    out.test = test;

    out.body = body;
    int marker = 0;
    for (const VarId v : out.loops) {
        const auto mark = [&](const auto& self, Body& b) -> void {
            for (Stmt& s : b) {
                if (s.kind == Stmt::Kind::loop_range && s.var == v) s.site = first_marker - marker;
                self(self, s.body);
                self(self, s.orelse);
            }
        };
        mark(mark, out.body);
        ++marker;
    }
    rewrite_exprs(out.body, [&](const ExprP& e) -> ExprP {
        const auto at = of_load.find(e.get());
        if (at == of_load.end()) return e;
        auto node = std::make_shared<Expr>(*e);
        node->args[0] = read(f, at->second);
        Access plain;
        plain.site = access_of(*e).site;
        node->payload = plain;
        return node;
    });
    return out;
}

}  // namespace xcuda::passes
