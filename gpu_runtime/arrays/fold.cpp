#include "arrays/fold.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "arrays/rows.hpp"

namespace xcuda::arrays {
namespace {

constexpr std::int64_t short_fold = 64;  // turns that one thread takes without splitting them
constexpr std::int64_t turns_a_chunk = 16;
constexpr std::int64_t most_a_block =
    16384;  // elements that one block folds alone: less time than another launch
constexpr std::int64_t least_a_block = 2048;  // elements of a block, where there are more blocks than results
constexpr std::int64_t whole_share = 32;      // a block's share of a fold is a multiple of
constexpr int blocks_a_multiprocessor = 4;
constexpr int most_axes = launch::max_ndim - 2;  // of a pass: splitting adds two
constexpr int most_folded = 3;                   // of a pass that has more axes

std::optional<bool> asked_by_blocks;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// One pass: axes [0, kept) are the result's, the others are folded. `slots` are views along all of them.
struct Pass {
    Structure structure;
    std::vector<Memory> slots;
    int kept = 0, axes = 0;
    std::array<std::int64_t, max_axes> lengths{};
    std::vector<std::shared_ptr<launch::Buffer>> keeps;  // partial results that it reads
};

struct Target {
    char* address;
    DType dtype;
    View view;  // along the kept axes
};

struct Folder {
    const Value& value;
    const Queue& queue;
    const Loop& loop;

    bool on_cpu() const { return queue.device->info().kind == "cpu"; }
    std::int64_t lanes(bool whole) const {
        if (on_cpu())
            return std::max<std::int64_t>(
                8, queue.device->info().vector_bytes / static_cast<std::int64_t>(info(loop.out).size));
        return whole ? 256 : 32;
    }
    // Blocks whose threads fold together: each pass costs a launch, so a GPU has few of them.
    bool by_blocks() const { return asked_by_blocks.value_or(!on_cpu()); }
    // Threads that fill the device.
    std::int64_t enough() const {
        const device::Info& device = queue.device->info();
        return on_cpu() ? std::int64_t{1024} * std::max(device.multiprocessors, 1)
                        : std::int64_t{2048} * std::max(device.multiprocessors, 1);
    }

    std::int64_t stride(const Memory& m, int axis) const { return std::abs(m.view.strides[at(axis)]); }

    void collapse_axes(Pass& p) const {
        std::vector<View> views;
        std::array<int, max_axes> groups;
        View whole;
        whole.ndim = p.axes;
        for (int d = 0; d < p.axes; ++d) {
            groups[at(d)] = d < p.kept ? 0 : 1;
            whole.lengths[at(d)] = p.lengths[at(d)];
            whole.strides[at(d)] = 0;
        }
        for (std::size_t i = 0; i < p.slots.size(); ++i)
            if (!p.structure.slots[i].number) views.push_back(p.slots[i].view);
        if (views.empty()) views.push_back(whole);
        const Collapsed c = collapse(views, std::span(groups.data(), at(p.axes)));
        std::size_t next = 0;
        for (std::size_t i = 0; i < p.slots.size(); ++i)
            if (!p.structure.slots[i].number) p.slots[i].view = views[next++];
        p.axes = c.ndim;
        p.kept = 0;
        for (int d = 0; d < c.ndim; ++d) {
            p.lengths[at(d)] = c.lengths[at(d)];
            p.kept += c.group[at(d)] == 0;
        }
    }

    // Starts the kernel of a pass whose axes are final. `chunk`: turns of the first loop that a thread takes, its last
    // thread axis being the chunk; 0: all.
    void start_pass(const Pass& p, int threads, const Target& to, std::int64_t chunk, std::int64_t turns) {
        Kernel k;
        k.structure = p.structure;
        k.slots = p.slots;
        Structure& s = k.structure;
        s.axes = p.axes;
        const int loops = p.axes - threads;
        s.outputs[0].dtype = to.dtype;
        Memory out;
        out.address = to.address + to.view.offset * static_cast<std::int64_t>(info(to.dtype).size);
        out.view = to.view;
        int lead = threads;
        if (threads == 0) {  // one thread
            lead = 1;
            s.axes += 1;
            out.view.ndim = 1;
            out.view.lengths[0] = out.view.strides[0] = 1;
            for (std::size_t i = 0; i < k.slots.size(); ++i)
                if (!s.slots[i].number) add_first(k.slots[i].view);
        }
        s.outputs[0].axes = axes_of(out.view, true);
        for (std::size_t i = 0; i < k.slots.size(); ++i) {
            s.slots[i].axes = s.slots[i].number ? Axes{} : axes_of(k.slots[i].view, false);
        }
        k.outputs.push_back(out);
        s.folding = {{loop.id, loops, chunk > 0}};
        for (int l = 0; l < loops; ++l)
            k.figures.push_back(l == 0 && turns >= 0 ? turns : p.lengths[at(threads + l)]);
        k.identity = value.reduction->identity;
        k.more_identity = value.reduction->more_identity;
        if (chunk > 0) k.figures.push_back(chunk);
        if (folds_axes(lead))
            for (int d = 0; d + thread_axes - 1 < lead; ++d) k.figures.push_back(out.view.lengths[at(d)]);
        start(k, value.site, queue);
    }

    // Moves the folded axis `axis` to the end, or an axis in front of the folded ones.
    static void move_axis(Pass& p, int from, int to) {
        const auto rotate = [&](auto& a) {
            if (from < to)
                std::rotate(a.begin() + from, a.begin() + from + 1, a.begin() + to + 1);
            else
                std::rotate(a.begin() + to, a.begin() + from, a.begin() + from + 1);
        };
        rotate(p.lengths);
        for (std::size_t i = 0; i < p.slots.size(); ++i) {
            if (p.structure.slots[i].number) continue;
            rotate(p.slots[i].view.lengths);
            rotate(p.slots[i].view.strides);
        }
    }

    // The pass over partial results: one array of `parts` axes after the kept ones.
    Pass over(const std::shared_ptr<launch::Buffer>& partial, const View& layout, int kept) const {
        Pass next;
        next.structure.slots.push_back({loop.out, false, {}});
        next.structure.outputs.push_back({~0, loop.out, {}});
        Memory m;
        m.address = static_cast<char*>(partial->address());
        m.view = layout;
        next.slots.push_back(m);
        next.kept = kept;
        next.axes = layout.ndim;
        std::copy(layout.lengths.begin(), layout.lengths.begin() + layout.ndim, next.lengths.begin());
        next.keeps.push_back(partial);
        return next;
    }

    void run(Pass p, const Target& to) {
        Target out = to;
        // The target's kept axes are joined with the slots' as one more view.
        {
            Memory m;
            m.view = to.view;
            for (int d = p.kept; d < p.axes; ++d) {
                m.view.lengths[at(d)] = p.lengths[at(d)];
                m.view.strides[at(d)] = 0;
            }
            m.view.ndim = p.axes;
            // Strides of 0 would join any folded axes that the slots join: as wanted.
            p.structure.slots.push_back({to.dtype, false, {}});
            p.slots.push_back(m);
            collapse_axes(p);
            out.view = p.slots.back().view;
            out.view.offset = to.view.offset;
            p.slots.pop_back();
            p.structure.slots.pop_back();
            for (int d = 0; d < p.kept; ++d) out.view.lengths[at(d)] = p.lengths[at(d)];
            out.view.ndim = p.kept;
        }
        if (p.axes > most_axes)
            return p.axes - p.kept > most_folded ? in_two(std::move(p), out) : along_outermost(p, out);
        std::int64_t outputs = 1, turns = 1;
        for (int d = 0; d < p.axes; ++d) (d < p.kept ? outputs : turns) *= p.lengths[at(d)];
        if (p.kept == p.axes) {  // nothing is folded but axes of length 1
            p.lengths[at(p.axes)] = 1;
            for (std::size_t i = 0; i < p.slots.size(); ++i) {
                if (p.structure.slots[i].number) continue;
                View& v = p.slots[i].view;
                v.lengths[at(v.ndim)] = 1;
                v.strides[at(v.ndim++)] = 0;
            }
            ++p.axes;
        }
        const Memory* main = nullptr;
        for (std::size_t i = 0; i < p.slots.size() && !main; ++i) {
            if (p.structure.slots[i].number) continue;
            for (int d = p.kept; d < p.axes; ++d)
                if (p.slots[i].view.strides[at(d)] != 0) main = &p.slots[i];
        }
        int inner = p.axes - 1;  // the folded axis whose elements lie closest
        std::int64_t nearest_kept = INT64_MAX;
        if (main) {
            for (int d = p.kept; d < p.axes; ++d)
                if (stride(*main, d) && (!stride(*main, inner) || stride(*main, d) < stride(*main, inner)))
                    inner = d;
            for (int d = 0; d < p.kept; ++d)
                if (stride(*main, d)) nearest_kept = std::min(nearest_kept, stride(*main, d));
        }
        const bool along = main && stride(*main, inner) < nearest_kept;
        if (turns <= short_fold || !main || (!along && outputs >= enough()))
            return start_pass(p, p.kept, out, 0, -1);
        move_axis(p, inner, p.axes - 1);
        if (along && by_blocks()) return in_blocks(std::move(p), out);
        split(std::move(p), out, along);
    }

    // Folds the last axes, then what they leave.
    void in_two(Pass p, const Target& to) {
        const int kept = std::exchange(p.kept, p.axes - most_folded);
        const View layout = dense({p.lengths.data(), at(p.kept)});
        const auto size = static_cast<std::int64_t>(info(loop.out).size);
        auto partial = std::make_shared<launch::Buffer>(
            queue.device, static_cast<std::size_t>(layout.size() * size), queue.stream);
        run(std::move(p), {static_cast<char*>(partial->address()), loop.out, layout});
        run(over(partial, layout, kept), to);
    }

    // A pass for each place along the first of the kept axes.
    void along_outermost(const Pass& p, const Target& to) {
        for (std::int64_t i = 0; i < p.lengths[0]; ++i) {
            Pass part = p;
            std::shift_left(part.lengths.begin(), part.lengths.begin() + p.axes, 1);
            --part.axes;
            --part.kept;
            for (std::size_t k = 0; k < part.slots.size(); ++k) {
                if (part.structure.slots[k].number) continue;
                Memory& m = part.slots[k];
                m.address += i * m.view.strides[0] *
                             static_cast<std::int64_t>(info(part.structure.slots[k].dtype).size);
                drop_first(m.view);
            }
            Target out = to;
            out.address += i * to.view.strides[0] * static_cast<std::int64_t>(info(to.dtype).size);
            drop_first(out.view);
            run(std::move(part), out);
        }
    }

    // Starts the kernel of a pass whose last axis alone is folded, each time by the threads of one block. `of`: the last
    // two axes are shares of so many elements; 0: they are not.
    void start_blocks(const Pass& p, const Target& to, std::int64_t of = 0) {
        Kernel k;
        k.structure = p.structure;
        k.slots = p.slots;
        Structure& s = k.structure;
        int kept = p.axes - 1;
        Memory out;
        out.address = to.address + to.view.offset * static_cast<std::int64_t>(info(to.dtype).size);
        out.view = to.view;
        out.view.offset = 0;
        std::int64_t rows = 1;
        for (int d = 0; d < kept; ++d) rows *= p.lengths[at(d)];
        const std::int64_t length = p.lengths[at(kept)];
        k.figures.push_back(rows);
        for (int d = 0; d < kept; ++d) k.figures.push_back(p.lengths[at(d)]);
        if (kept == 0) {
            kept = 1;
            k.figures.push_back(1);
            out.view.ndim = 1;
            out.view.lengths[0] = out.view.strides[0] = 1;
            for (std::size_t i = 0; i < k.slots.size(); ++i)
                if (!s.slots[i].number) add_first(k.slots[i].view);
        }
        k.figures.push_back(length);
        if (of > 0) k.figures.push_back(of);
        s.axes = kept + 1;
        for (std::size_t i = 0; i < k.slots.size(); ++i)
            s.slots[i].axes = s.slots[i].number ? Axes{} : axes_of(k.slots[i].view, false);
        Memory identity;
        identity.bits = value.reduction->identity;
        identity.more_bits = value.reduction->more_identity;
        const int from = ~static_cast<int>(s.slots.size());
        s.slots.push_back({loop.out, true, {}});
        k.slots.push_back(identity);
        s.steps.push_back({loop.id, {s.outputs[0].from, from}, true});
        int made = static_cast<int>(s.steps.size()) - 1;
        if (loop.out != to.dtype) {
            s.steps.push_back({cast_loop(loop.out, to.dtype).id, {made}});
            ++made;
        }
        s.outputs[0] = {made, to.dtype, axes_of(out.view, true)};
        k.outputs.push_back(out);
        Rows r;
        r.axes = 1;
        if (on_cpu())
            r.threads = 32;
        else
            share_row(r, length);
        r.shares = of > 0;
        s.rows.push_back(r);
        k.shape = device::Shape{};
        k.shape->grid = {(rows + r.rows - 1) / r.rows, 1, 1};
        k.shape->block = {r.threads, r.rows, 1};
        start(k, value.site, queue);
    }

    // The pass with its last axis as `shares` of `share` neighbours each.
    static Pass in_shares(const Pass& p, std::int64_t shares, std::int64_t share) {
        Pass part = p;
        const std::size_t axis = at(p.axes - 1);
        part.axes = p.axes + 1;
        part.lengths[axis] = shares;
        part.lengths[axis + 1] = share;
        for (std::size_t i = 0; i < part.slots.size(); ++i) {
            if (part.structure.slots[i].number) continue;
            View& v = part.slots[i].view;
            const std::int64_t step = v.strides[axis];
            v.ndim = part.axes;
            v.lengths[axis] = shares;
            v.lengths[axis + 1] = share;
            v.strides[axis] = step * share;
            v.strides[axis + 1] = step;
        }
        return part;
    }

    // As split, by blocks: what is left of the last axis is as many results as are needed to fill the device.
    void in_blocks(Pass p, const Target& to) {
        const int axis = p.axes - 1;
        const std::int64_t n = p.lengths[at(axis)];
        std::int64_t results = 1;
        for (int d = 0; d < axis; ++d) results *= p.lengths[at(d)];
        const std::int64_t blocks =
            std::int64_t{blocks_a_multiprocessor} * std::max(queue.device->info().multiprocessors, 1);
        const std::int64_t shares =
            n <= most_a_block ? 1 : std::clamp<std::int64_t>(blocks / results, 1, n / least_a_block);
        if (shares == 1 && p.kept == axis) return start_blocks(p, to);
        // Whole groups of vectors, and as many shares as there are elements for.
        const std::int64_t share = (n / shares + whole_share) / whole_share * whole_share;
        const std::int64_t blocks_used = (n + share - 1) / share;
        std::array<std::int64_t, max_axes> shape;
        std::copy(p.lengths.begin(), p.lengths.begin() + axis, shape.begin());
        shape[at(axis)] = blocks_used;
        const View layout = dense({shape.data(), at(axis) + 1});
        const auto size = static_cast<std::int64_t>(info(loop.out).size);
        auto partial = std::make_shared<launch::Buffer>(
            queue.device, static_cast<std::size_t>(layout.size() * size), queue.stream);
        start_blocks(in_shares(p, blocks_used, share),
                     {static_cast<char*>(partial->address()), loop.out, layout}, n);
        run(over(partial, layout, p.kept), to);
    }

    // Folds the last axis only, in chunks and lanes; the other folded axes are threads of their own, for now.
    void split(Pass p, const Target& to, bool along) {
        const int axis = p.axes - 1;
        const std::int64_t n = p.lengths[at(axis)];
        std::int64_t threads = 1;
        for (int d = 0; d < axis; ++d) threads *= p.lengths[at(d)];
        const std::int64_t lanes = along && n >= short_fold ? std::min(this->lanes(threads == 1), n / 2) : 1;
        const std::int64_t rows = n / lanes, tail = n - rows * lanes;
        std::int64_t chunks = std::clamp<std::int64_t>(enough() / (threads * lanes), 1,
                                                       std::max<std::int64_t>(rows / turns_a_chunk, 1));
        const std::int64_t chunk = (rows + chunks - 1) / chunks;
        chunks = (rows + chunk - 1) / chunk;
        const std::int64_t parts = chunks * lanes + (tail ? 1 : 0);

        // Partial results: [kept and other folded axes ..., parts].
        std::array<std::int64_t, max_axes> shape;
        std::copy(p.lengths.begin(), p.lengths.begin() + axis, shape.begin());
        shape[at(axis)] = parts;
        const View layout = dense({shape.data(), at(axis) + 1});
        const auto size = static_cast<std::int64_t>(info(loop.out).size);
        auto partial = std::make_shared<launch::Buffer>(
            queue.device, static_cast<std::size_t>(layout.size() * size), queue.stream);
        Target into{static_cast<char*>(partial->address()), loop.out, layout};

        if (tail) {
            Pass rest = p;
            rest.lengths[at(axis)] = tail;
            for (std::size_t i = 0; i < rest.slots.size(); ++i) {
                if (rest.structure.slots[i].number) continue;
                View& v = rest.slots[i].view;
                rest.slots[i].address += rows * lanes * v.strides[at(axis)] *
                                         static_cast<std::int64_t>(info(rest.structure.slots[i].dtype).size);
                v.lengths[at(axis)] = tail;
            }
            Target last = into;
            last.view.offset = parts - 1;
            last.view.ndim = axis;
            start_pass(rest, axis, last, 0, -1);
        }
        // Threads: [..., lane, chunk]; the loop over rows is last.
        Pass body = p;
        const bool chunked = chunks > 1;
        int to_axis = axis;
        into.view.ndim = axis;
        const auto thread_axis = [&](std::int64_t length, std::int64_t out_stride, bool lane) {
            body.lengths[at(to_axis)] = length;
            into.view.lengths[at(to_axis)] = length;
            into.view.strides[at(to_axis)] = out_stride;
            into.view.ndim = to_axis + 1;
            for (std::size_t i = 0; i < body.slots.size(); ++i) {
                if (body.structure.slots[i].number) continue;
                View& v = body.slots[i].view;
                v.lengths[at(to_axis)] = length;
                v.strides[at(to_axis)] = lane ? p.slots[i].view.strides[at(axis)] : 0;
            }
            ++to_axis;
        };
        if (lanes > 1) thread_axis(lanes, 1, true);
        if (chunked) thread_axis(chunks, lanes, false);
        body.lengths[at(to_axis)] = rows;
        for (std::size_t i = 0; i < body.slots.size(); ++i) {
            if (body.structure.slots[i].number) continue;
            View& v = body.slots[i].view;
            v.lengths[at(to_axis)] = rows;
            v.strides[at(to_axis)] = p.slots[i].view.strides[at(axis)] * lanes;
            v.ndim = to_axis + 1;
        }
        body.axes = to_axis + 1;
        body.structure.outputs[0].dtype = loop.out;
        start_pass(body, to_axis, into, chunked ? chunk : 0, rows);
        run(over(partial, layout, p.kept), to);
    }
};

}  // namespace

void set_fold_by_blocks(std::optional<bool> asked) { asked_by_blocks = asked; }

void run_fold(const Value& value, char* address, const Queue& queue) {
    const Operand& operand = value.operands[0];
    const Loop& loop = *value.reduction->fold;
    Fuser fuser(operand.view.shape());
    const int element = fuser.cast(fuser.operand(operand), loop.out);
    use(fuser, queue);
    Pass p;
    p.structure = std::move(fuser.structure);
    for (Slot& slot : p.structure.slots) slot.ramp = false;  // parts of a fold begin elsewhere
    p.structure.outputs.push_back({element, loop.out, {}});
    p.slots = std::move(fuser.slots);
    // Kept axes first, each part in the order of the first array's memory.
    const int ndim = operand.view.ndim;
    std::array<int, max_axes> order;
    for (int i = 0; i < ndim; ++i) order[at(i)] = i;
    const Memory* first = nullptr;
    for (std::size_t i = 0; i < p.slots.size() && !first; ++i)
        if (!p.structure.slots[i].number) first = &p.slots[i];
    sort_few(order.data(), order.data() + ndim, [&](int a, int b) {
        const bool fa = value.reduction->axes >> a & 1, fb = value.reduction->axes >> b & 1;
        if (fa != fb) return fb;
        return first && std::abs(first->view.strides[at(a)]) > std::abs(first->view.strides[at(b)]);
    });
    View target;
    target.ndim = 0;
    // Axes of the value: the kept ones, or all of them with length 1 where folded.
    const bool keepdims = value.layout.ndim == ndim;
    std::array<int, max_axes> result_axis{};
    for (int i = 0, next = 0; i < ndim; ++i) {
        const bool folded = value.reduction->axes >> i & 1;
        result_axis[at(i)] = keepdims ? i : folded ? -1 : next++;
    }
    for (std::size_t i = 0; i < p.slots.size(); ++i) {
        if (p.structure.slots[i].number) continue;
        const View old = p.slots[i].view;
        for (int d = 0; d < ndim; ++d) {
            p.slots[i].view.lengths[at(d)] = old.lengths[at(order[at(d)])];
            p.slots[i].view.strides[at(d)] = old.strides[at(order[at(d)])];
        }
    }
    for (int d = 0; d < ndim; ++d) {
        const int axis = order[at(d)];
        p.lengths[at(d)] = operand.view.lengths[at(axis)];
        if (value.reduction->axes >> axis & 1) continue;
        target.lengths[at(p.kept)] = p.lengths[at(d)];
        target.strides[at(p.kept++)] = value.layout.strides[at(result_axis[at(axis)])];
    }
    target.ndim = p.kept;
    p.axes = ndim;
    Folder{value, queue, loop}.run(std::move(p), {address, value.dtype, target});
}

}  // namespace xcuda::arrays
