#include "arrays/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "arrays/fuse.hpp"
#include "arrays/passes_of_rows.hpp"
#include "arrays/rows_grid.hpp"

namespace xcuda::arrays {
namespace {

constexpr int dear = 12;  // weight above which an element is kept from pass to pass
constexpr std::size_t most_steps = 160;

// Of rows that stay in registers.
constexpr std::size_t vector_bytes = 16;
constexpr int values_of_thread = 16;  // elements, where there may be so many threads
constexpr std::int64_t warp = 32, most_threads = 1024, most_turns = 32;
constexpr std::uint64_t streaming_threads = 512;
// Threads of a multiprocessor, without spills (rows of whole pieces would spill 40 bytes in 32 registers). Cross-entropy of 32000
// columns on an H200, of a copy: 0.87 and 0.83 with 2048, by 1536 0.83 and 0.78, in two sessions.
constexpr int streaming_room = 2048, streaming_room_of_whole_pieces = 1536;
constexpr std::int64_t other_registers = 24, most_registers = 168, register_file = 65536;

HeldRows held_rows;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Builder {
    RowGrid grid;
    Fuser fuser{grid.shape.shape()};
    std::vector<std::pair<const Value*, int>> known{};  // few: the last one is met again

    bool row(const Value& v) const { return v.reduction || grid.is_row(v); }

    int operand(const Operand& o, bool row_user) {
        if (!o.value) return fuser.operand(o);
        if (!o.value->pending()) {
            if (!row_user) return fuser.operand(o);
            Operand wide = o;
            wide.view = grid.spread(o.view);
            return fuser.operand(wide);
        }
        const bool own =
            o.value->reduction || o.view == o.value->layout || (grid.is_row(*o.value) && find(*o.value));
        if (own) return value(*o.value);
        return fuser.operand(o, o.value->size() == 1 ? Seen::single : Seen::aligned);
    }

    const int* find(const Value& v) const {
        for (std::size_t i = known.size(); i-- > 0;)
            if (known[i].first == &v) return &known[i].second;
        return nullptr;
    }

    int value(const Value& v) {
        if (const int* found = find(v)) return *found;
        int made;
        if (v.reduction) {
            const Loop& given = *v.reduction->fold;
            // Halves are folded in float32 and rounded once, as NumPy's sums are.
            const std::array singles{DType::f32, DType::f32};
            const Loop* single = is_half(given.out) ? find_loop(given.name, singles, DType::f32) : nullptr;
            const Loop& loop = single ? *single : given;
            const int element = fuser.cast(fuser.cast(operand(v.operands[0], false), given.out), loop.out);
            Operand identity;
            identity.dtype = given.out;
            identity.bits = v.reduction->identity;
            identity.more_bits = v.reduction->more_identity;
            const int from = fuser.cast(fuser.operand(identity), loop.out);
            made = fuser.cast(fuser.step(loop, {element, from}, true), v.dtype);
        } else {
            FewInts args;
            for (std::size_t i = 0; i < v.operands.size(); ++i)
                args.push_back(fuser.cast(operand(v.operands[i], row(v)), v.loop->in[i]));
            made = v.loop->name == "copy" ? args[0] : fuser.step(*v.loop, args);
        }
        known.emplace_back(&v, made);
        return made;
    }
};

// The kernel's axes: rows first, then a row's, both as they lie in memory, as few as can be, and one of each at least.
// False where they are more than kernels have.
bool lay_out(Kernel& k, const RowGrid& grid, std::size_t results) {
    Structure& s = k.structure;
    const int ndim = grid.shape.ndim;
    std::vector<View> views;
    views.reserve(k.outputs.size() + k.slots.size());
    for (const Memory& m : k.outputs) views.push_back(m.view);
    for (std::size_t i = 0; i < k.slots.size(); ++i)
        if (!s.slots[i].number) views.push_back(k.slots[i].view);
    const View* first = &views[0];
    for (const View& v : views)  // the first that differs along a row
        if (std::any_of(v.strides.begin(), v.strides.begin() + ndim, [&](const std::int64_t& stride) {
                return stride != 0 && grid.folded(static_cast<int>(&stride - v.strides.data()));
            })) {
            first = &v;
            break;
        }
    const View lead = *first;
    std::array<int, max_axes> order, groups;
    for (int i = 0; i < ndim; ++i) order[at(i)] = i;
    sort_few(order.data(), order.data() + ndim, [&](int a, int b) {
        if (grid.folded(a) != grid.folded(b)) return grid.folded(b);
        return std::abs(lead.strides[at(a)]) > std::abs(lead.strides[at(b)]);
    });
    for (View& v : views) {
        const View old = v;
        for (int d = 0; d < ndim; ++d) {
            v.lengths[at(d)] = old.lengths[at(order[at(d)])];
            v.strides[at(d)] = old.strides[at(order[at(d)])];
        }
    }
    for (int d = 0; d < ndim; ++d) groups[at(d)] = grid.folded(order[at(d)]);
    const Collapsed c = collapse(views, std::span(groups.data(), at(ndim)));
    if (c.ndim >= launch::max_ndim) return false;
    const int kept = static_cast<int>(std::count(c.group.begin(), c.group.begin() + c.ndim, 0));
    std::size_t next = 0;
    const auto take = [&](Memory& m) {
        m.view = views[next++];
        if (kept == 0) add_first(m.view);
    };
    s.axes = c.ndim + (kept > 0 ? 0 : 1);
    s.rows[0].axes = c.ndim - kept;
    for (std::size_t i = 0; i < k.outputs.size(); ++i) {
        take(k.outputs[i]);
        View& v = k.outputs[i].view;
        const bool whole =
            i >= results || std::any_of(v.strides.begin() + std::max(kept, 1), v.strides.begin() + v.ndim,
                                        [](std::int64_t stride) { return stride != 0; });
        if (!whole) v.ndim = std::max(kept, 1);
        s.outputs[i].axes = axes_of(v, true);
    }
    for (std::size_t i = 0; i < k.slots.size(); ++i) {
        if (s.slots[i].number) continue;
        take(k.slots[i]);
        s.slots[i].axes = axes_of(k.slots[i].view, false);
    }
    return true;
}

struct Figures {
    int kept = 0;
    std::int64_t rows = 1, length = 1;
    bool along = false;  // neighbours in a row lie closer than neighbouring rows
};

// Nothing where no array differs along a row: the kernel would have its lengths from nowhere.
std::optional<Figures> figures_of(const Kernel& k) {
    Figures out;
    const int axes = k.structure.axes;
    out.kept = axes - k.structure.rows[0].axes;
    const Memory* main = nullptr;
    const auto look = [&](const Memory& m) {
        if (main || m.view.ndim < axes) return;
        if (std::any_of(m.view.strides.begin() + out.kept, m.view.strides.begin() + axes,
                        [](std::int64_t stride) { return stride != 0; }))
            main = &m;
    };
    for (std::size_t i = 0; i < k.slots.size(); ++i)
        if (!k.structure.slots[i].number) look(k.slots[i]);
    for (const Memory& m : k.outputs) look(m);
    if (!main) return std::nullopt;
    std::int64_t inner = INT64_MAX, outer = INT64_MAX;
    for (int d = 0; d < axes; ++d) {
        const std::int64_t length = main->view.lengths[at(d)], stride = std::abs(main->view.strides[at(d)]);
        (d < out.kept ? out.rows : out.length) *= length;
        if (stride == 0 || length == 1) continue;
        std::int64_t& nearest = d < out.kept ? outer : inner;
        nearest = std::min(nearest, stride);
    }
    out.along = inner < outer;
    return out;
}

// Neighbours that a thread takes at once: 16 bytes of the narrowest array whose rows differ, where the row has so many.
int neighbours(const Kernel& k, std::int64_t length) {
    std::size_t size = vector_bytes;
    const int kept = k.structure.axes - k.structure.rows[0].axes;
    const auto look = [&](DType dtype, const Axes& axes) {
        bool along = false, across = false;
        for (int i = 0; i < axes.count; ++i) (axes[i] < kept ? across : along) = true;
        if (along && across) size = std::min(size, info(dtype).size);
    };
    for (const Slot& slot : k.structure.slots)
        if (!slot.number && !slot.ramp) look(slot.dtype, slot.axes);
    for (const Output& o : k.structure.outputs) look(o.dtype, o.axes);
    int side = static_cast<int>(vector_bytes / std::max<std::size_t>(size, 2));
    while (length % side != 0) side /= 2;
    return side;
}

// A row in pieces of so many elements a thread; several blocks read while another one folds.
bool stream(Rows& r, const Figures& f) {
    const std::int64_t values =
        std::max(held_rows.values > 0 ? held_rows.values : values_of_thread, r.vector);
    const auto wanted = std::bit_ceil(static_cast<std::uint64_t>((f.length + values - 1) / values));
    r.threads = static_cast<int>(std::clamp<std::uint64_t>(wanted, warp, streaming_threads));
    r.turns = static_cast<int>(values / r.vector);
    r.exact = f.length % (std::int64_t{r.threads} * r.vector * r.turns) == 0;
    r.rows = std::max(1, 128 / r.threads);
    const int room = r.exact ? streaming_room_of_whole_pieces : streaming_room;
    r.blocks = held_rows.threads.value_or(room) / (r.threads * r.rows);
    return r.streamed = true;
}

// Threads of a row that stays in registers and how many elements each has; what its block takes of a multiprocessor's
// registers. Nothing where the row is too long.
std::optional<std::int64_t> held(Rows& r, const Figures& f, std::int64_t bytes) {
    const std::int64_t wanted = held_rows.values > 0 ? held_rows.values : values_of_thread;
    auto threads = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>((f.length + wanted - 1) / wanted)));
    for (threads = std::clamp<std::int64_t>(threads, warp, most_threads); threads <= most_threads;
         threads *= 2) {
        const std::int64_t once = threads * r.vector, turns = (f.length + once - 1) / once;
        const std::int64_t registers = (turns * r.vector * bytes + 3) / 4 + other_registers;
        if (turns > most_turns || registers > most_registers || registers * threads > register_file) continue;
        r.threads = static_cast<int>(threads);
        r.turns = static_cast<int>(turns);
        r.exact = turns * once == f.length;
        r.rows = std::max(1, 128 / r.threads);
        r.blocks = held_rows.threads.value_or(0) / (r.threads * r.rows);
        return registers * threads;
    }
    return std::nullopt;
}

// Rows that are read once. Those of which a multiprocessor holds one at a time are streamed where they can be: nothing
// would be read while that one is folded. False where they are too long for either.
bool hold(Kernel& k, const Figures& f, const device::Info& device) {
    Rows& r = k.structure.rows[0];
    const bool cpu = device.kind == "cpu";
    if (!held_rows.on.value_or(!cpu) || !f.along || r.axes != 1 || r.threads < 2) return false;
    r.vector = neighbours(k, f.length);
    Rows kept = r;
    const auto registers = held(kept, f, static_cast<std::int64_t>(held_bytes(k.structure)));
    if (held_rows.streamed.value_or(!registers || *registers > register_file / 2) && can_stream(k.structure))
        return stream(r, f);
    if (registers)
        r = kept;
    else
        r.vector = 0;
    return registers.has_value();
}

// Threads of a row, and rows of a block; 0 threads: not in one kernel.
void choose_threads(Rows& r, const Figures& f, const device::Info& device, bool wide) {
    const bool cpu = device.kind == "cpu";
    const std::int64_t enough = std::int64_t{cpu ? 1024 : 2048} * std::max(device.multiprocessors, 1);
    if (f.length <= (cpu ? 32 : 8) || (!f.along && (f.length <= 64 || f.rows >= enough))) {
        r.threads = 1;
    } else if (!f.along) {
        r.threads = 0;
    } else if (cpu) {
        r.threads = wide ? 16 : 32;
    } else {
        share_row(r, f.length);
    }
}

// Dear steps that a later pass needs again: kept where a result of their dtype will stand, else in memory of their own.
void keep_dear(Kernel& k, const RowGrid& grid, std::vector<ValueP>& extra, const Queue& queue) {
    Structure& s = k.structure;
    Rows& r = s.rows[0];
    std::vector<bool> taken(s.outputs.size());
    for (bool changed = true; changed;) {
        changed = false;
        const Passes passes(s);
        if (passes.all.size() < 2) return;  // nothing is computed again
        const std::vector<int> weights = weights_of(s, passes);
        std::vector<bool> before(s.steps.size());
        for (const PassOver& pass : passes.all) {
            const std::vector<bool> now = passes.computed(pass);
            for (std::size_t i = s.steps.size(); i-- > 0 && !changed;) {  // what is made of most first
                const int step = static_cast<int>(i);
                if (!before[i] || !now[i] || weights[i] <= dear || passes.pass_of(step) >= pass.number)
                    continue;
                const DType dtype = loop_of(s.steps[i].loop).out;
                int to = -1;
                if (r.vector > 0) {
                    r.kept.push_back({step, to});
                    changed = true;
                    continue;
                }
                for (int o = 0; o < static_cast<int>(s.outputs.size()) && to < 0; ++o) {
                    const Output& out = s.outputs[at(o)];
                    const bool own = out.from == step;
                    const bool free = passes.pass_of(out.from) + 1 == static_cast<int>(passes.all.size());
                    if (!taken[at(o)] && !passes.of_rows(o) && out.dtype == dtype && (own || free)) to = o;
                }
                if (to < 0) {
                    extra.push_back(allocated(queue.device, dtype, dense(grid.shape.shape()), queue.stream));
                    to = static_cast<int>(s.outputs.size());
                    s.outputs.push_back({step, dtype, {}});
                    taken.push_back(false);
                    r.kept.push_back({step, to});
                    return;  // the new memory's axes first
                }
                taken[at(to)] = true;
                r.kept.push_back({step, to});
                changed = true;
            }
            for (std::size_t i = 0; i < now.size(); ++i)
                if (now[i]) before[i] = true;
            if (changed) break;
        }
    }
}

}  // namespace

void hold_rows(const HeldRows& asked) { held_rows = asked; }

void share_row(Rows& rows, std::int64_t length) {
    const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(length) / 4);
    rows.threads = static_cast<int>(std::clamp<std::uint64_t>(wanted, 16, 512));
    rows.rows = std::max(1, 128 / rows.threads);
}

bool run_rows(const RowWork& work, const Queue& queue) {
    const ValueP& fold =
        *std::ranges::find_if(work.members, [](const ValueP& v) { return bool(v->reduction); });
    const RowGrid grid(*fold);
    Builder b{grid};
    for (const ValueP& v : work.members) b.value(*v);
    if (b.fuser.structure.steps.size() > most_steps) return false;
    std::vector<ValueP> memory;
    for (const ValueP& v : work.results) {
        const int from = b.value(*v);
        memory.push_back(allocated(queue.device, v->dtype, v->layout, queue.stream));
        b.fuser.output(from, v->dtype, memory.back()->address,
                       grid.is_full(*v) ? v->layout : grid.spread(v->layout));
    }
    use(b.fuser, queue);
    Kernel k;
    bool wide = false;
    const auto assemble = [&] {
        k.structure = b.fuser.structure;
        k.slots = b.fuser.slots;
        k.outputs = b.fuser.outputs;
    };
    assemble();
    k.structure.rows.push_back({});
    if (!lay_out(k, grid, work.results.size())) return false;
    const auto found = figures_of(k);
    if (!found) return false;
    const Figures& f = *found;
    for (const Step& step : k.structure.steps) wide |= step.fold && info(loop_of(step.loop).out).size >= 8;
    choose_threads(k.structure.rows[0], f, queue.device->info(), wide);
    if (k.structure.rows[0].threads == 0) return false;
    const Rows again = k.structure.rows[0];
    k.structure.rows[0].vector = 1;
    keep_dear(k, grid, memory, queue);
    if (!hold(k, f, queue.device->info())) {
        k.structure.rows[0] = again;
        keep_dear(k, grid, memory, queue);
    }
    if (memory.size() > work.results.size()) {  // a step is kept in memory of its own
        const Rows rows = k.structure.rows[0];
        const ValueP& own = memory.back();
        b.fuser.output(rows.kept.back().step, own->dtype, own->address, own->layout);
        assemble();
        k.structure.rows.push_back(rows);
        if (!lay_out(k, grid, work.results.size())) return false;
    }
    Structure& s = k.structure;
    const Rows& r = s.rows[0];
    const auto full = std::ranges::find_if(k.outputs, [&](const Memory& m) { return m.view.ndim == s.axes; });
    const View& lengths =
        full != k.outputs.end() ? full->view : std::ranges::find_if(k.slots, [&](const Memory& m) {
                                                   return m.view.ndim == s.axes && m.address;
                                               })->view;
    const auto length = [&](int axis) { return lengths.lengths[at(axis)]; };
    const int kept = s.axes - r.axes;
    if (r.threads > 1) {
        k.figures.push_back(f.rows);
        for (int d = 0; d < kept; ++d) k.figures.push_back(length(d));
    }
    for (int d = kept; d < s.axes; ++d) k.figures.push_back(length(d));
    if (r.threads > 1) {
        k.shape = device::Shape{};
        k.shape->grid = {(f.rows + r.rows - 1) / r.rows, 1, 1};
        k.shape->block = {r.threads, r.rows, 1};
    } else if (folds_axes(kept)) {
        for (int d = 0; d + thread_axes - 1 < kept; ++d) k.figures.push_back(length(d));
    }
    start(k, work.results.front()->site, queue);
    for (std::size_t i = 0; i < work.results.size(); ++i) work.results[i]->settle(*memory[i]);
    return true;
}

}  // namespace xcuda::arrays
