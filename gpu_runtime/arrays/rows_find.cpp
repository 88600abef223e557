#include <algorithm>

#include "arrays/fuse.hpp"
#include "arrays/rows.hpp"
#include "arrays/rows_grid.hpp"

namespace xcuda::arrays {
namespace {

constexpr int cheap = 12;  // weight that is computed again
constexpr std::size_t most_members = 40, most_results = 12;
constexpr std::int64_t few = 16384;  // elements of a row that one block takes alone

bool aligned(const Operand& o) { return o.view == o.value->layout; }
bool pending(const Operand& o) { return o.value && o.value->pending(); }

// Computed again wherever it is read, without a fold on the way.
bool cheap_alone(const Value& v, int& budget) {
    if (v.reduction || (budget -= v.loop->weight + 1) < 0) return false;
    return std::all_of(v.operands.begin(), v.operands.end(), [&](const Operand& o) {
        return !pending(o) || ((aligned(o) || is_broadcast(o)) && cheap_alone(*o.value, budget));
    });
}

struct Finder {
    std::span<const ValueP> order, wanted;  // each value's `item` is its place in `order`
    RowGrid grid;
    enum class Kind { free, row, full, out };
    RowWork work{};
    // By place.
    std::vector<Kind> kinds = std::vector<Kind>(order.size(), Kind::free);
    std::vector<bool> inside = std::vector<bool>(order.size());   // computed in the kernel, members aside
    std::vector<bool> outside = std::vector<bool>(order.size());  // read by something that is not

    Kind kind_of(const Operand& o) const { return pending(o) ? kinds[o.value->item] : Kind::free; }

    bool fits(const Operand& o, bool row_user) const {
        switch (kind_of(o)) {
            case Kind::free: return true;
            case Kind::row: return grid.sees_row(o, row_user);
            case Kind::full: return !row_user && aligned(o);
            case Kind::out: return false;
        }
        return false;
    }

    Kind kind(const Value& v) const {
        bool touched = false, fit = true;
        const bool row = !v.reduction && grid.is_row(v);
        for (const Operand& o : v.operands) {
            touched |= kind_of(o) != Kind::free;
            fit &= fits(o, row);
        }
        if (work.members.size() >= most_members) return touched ? Kind::out : Kind::free;
        if (v.reduction) {
            if (fit && grid == RowGrid(v)) return Kind::row;
            return touched ? Kind::out : Kind::free;
        }
        if (!touched) return Kind::free;
        if (!fit || !(row || grid.is_full(v))) return Kind::out;
        return row ? Kind::row : Kind::full;
    }

    // What a member or something computed on the way reads: computed on the way too, or in memory before.
    void reach(const Value& v, bool row_user) {
        for (const Operand& o : v.operands) {
            if (!pending(o) || kind_of(o) != Kind::free) continue;
            int budget = cheap;
            if (!o.value->reduction && aligned(o)) {
                if (inside[o.value->item]) continue;
                inside[o.value->item] = true;
                reach(*o.value, row_user);
            } else if (!(o.value->size() == 1 || (!row_user && is_broadcast(o))) ||
                       !cheap_alone(*o.value, budget)) {
                if (std::ranges::find(work.before, o.value) == work.before.end())
                    work.before.push_back(o.value);
            }
        }
    }

    bool is_wanted(const Value& v) const {
        return std::any_of(wanted.begin(), wanted.end(), [&](const ValueP& w) { return w.get() == &v; });
    }

    void find_used_outside() {
        for (const ValueP& user : order) {
            const Kind k = kinds[user->item];
            if (k != Kind::out && (k != Kind::free || inside[user->item])) continue;
            for (const Operand& o : user->operands)
                if (pending(o)) outside[o.value->item] = true;
        }
    }

    static int weight_of(const Value& v, int most) {
        int weight = v.loop ? v.loop->weight : 0;
        for (const Operand& o : v.operands)
            if (weight <= most && pending(o) && aligned(o)) weight += weight_of(*o.value, most - weight);
        return weight;
    }

    bool find() {
        for (const ValueP& v : order) {
            const Kind k = kind(*v);
            kinds[v->item] = k;
            if (k == Kind::row || k == Kind::full) work.members.push_back(v);
        }
        const auto folds =
            std::ranges::count_if(work.members, [](const ValueP& v) { return bool(v->reduction); });
        if (folds < 2 && static_cast<std::size_t>(folds) == work.members.size()) return false;
        for (const ValueP& v : work.members) reach(*v, !v->reduction && kinds[v->item] == Kind::row);
        find_used_outside();
        for (const ValueP& v : order) {
            const bool member = kinds[v->item] == Kind::row || kinds[v->item] == Kind::full;
            if (!member && !inside[v->item]) continue;
            const bool dear = weight_of(*v, cheap) > cheap;
            const bool held = v->arrays > 0 && (kinds[v->item] == Kind::row || (member && dear));
            if (is_wanted(*v) || held || (outside[v->item] && (member || dear))) work.results.push_back(v);
        }
        return !work.results.empty() && work.results.size() <= most_results;
    }
};

}  // namespace

std::optional<RowWork> find_rows(std::span<const ValueP> order, std::span<const ValueP> wanted,
                                 std::span<const ValueP> refused, const device::Info& device) {
    for (const ValueP& v : order) {
        if (!v->reduction || std::ranges::find(refused, v) != refused.end()) continue;
        const RowGrid grid(*v);
        const std::int64_t rows = grid.rows(), length = grid.length();
        const std::int64_t busy = std::int64_t{device.kind == "cpu" ? 4 : 1} * device.multiprocessors;
        if (rows == 0 || length < 2 || rows > INT32_MAX || (length > few && rows < busy)) continue;
        Finder finder{order, wanted, grid};
        // A fold that was refused is in memory before whatever follows.
        if (finder.find() && std::ranges::none_of(finder.work.members, [&](const ValueP& m) {
                return std::ranges::find(refused, m) != refused.end();
            }))
            return std::move(finder.work);
    }
    return std::nullopt;
}

}  // namespace xcuda::arrays
