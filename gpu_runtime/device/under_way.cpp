#include "device/under_way.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace xcuda::device {
namespace {

constexpr std::size_t most_threads = 256;  // those beyond are not told of
constexpr std::uintptr_t being_read = 1;   // in a slot's word: what it points to must stay

struct alignas(64) Slot {
    std::atomic<bool> taken{false};
    std::atomic<bool> reading{false};
    std::atomic<std::uintptr_t> word{0};  // an UnderWay's address
};

// Never destroyed: threads may be at work while the process exits.
std::array<Slot, most_threads>& slots = *new std::array<Slot, most_threads>;

/// A thread's own slot, given back when the thread ends; null where there is none left.
struct Owned {
    Slot* slot = nullptr;
    Owned() {
        for (Slot& one : slots) {
            if (one.taken.exchange(true)) continue;
            slot = &one;
            return;
        }
    }
    ~Owned() {
        if (slot) slot->taken.store(false);
    }
};

Slot* own() {
    static thread_local const Owned owned;
    return owned.slot;
}

/// Lets the slot tell of something else; whoever reads what it told of is waited for: rare, and over in a microsecond.
void tell(Slot& slot, const UnderWay* now) {
    const auto before = slot.word.exchange(reinterpret_cast<std::uintptr_t>(now));
    if (before & being_read) [[unlikely]]
        while (slot.reading.load()) std::this_thread::yield();
}

}  // namespace

UnderWay::UnderWay(Doing what, std::string_view name, double begin, const std::atomic<std::int64_t>* begun,
                   std::int64_t pieces) noexcept
    : what_(what),
      name_(name),
      begin_(begin),
      begun_(begun),
      pieces_(pieces) {
    Slot* const slot = own();
    if (!slot) return;
    slot_ = slot;
    outer_ = reinterpret_cast<const UnderWay*>(slot->word.load(std::memory_order_relaxed) & ~being_read);
    tell(*slot, this);
}

UnderWay::~UnderWay() {
    if (slot_) tell(*static_cast<Slot*>(slot_), outer_);
}

struct UnderWayReader {
    static SeenUnderWay copy(const UnderWay& inner) {
        SeenUnderWay seen{inner.what_, {}, inner.begin_, -1};
        if (inner.begun_ && inner.pieces_ > 1)
            seen.share = std::min(1.0, static_cast<double>(inner.begun_->load(std::memory_order_relaxed)) /
                                           static_cast<double>(inner.pieces_));
        const UnderWay* named = &inner;
        while (named->name_.empty() && named->outer_) named = named->outer_;
        seen.name = named->name_;
        return seen;
    }
};

std::vector<SeenUnderWay> under_way() {
    std::vector<SeenUnderWay> all;
    for (Slot& slot : slots) {
        slot.reading.store(true);
        auto word = slot.word.load();
        // Once the mark is on the word, whoever leaves what it points to waits for `reading`.
        if (word != 0 && slot.word.compare_exchange_strong(word, word | being_read)) {
            all.push_back(UnderWayReader::copy(*reinterpret_cast<const UnderWay*>(word)));
            auto marked = word | being_read;
            slot.word.compare_exchange_strong(marked, word);
        }
        slot.reading.store(false);
    }
    return all;
}

}  // namespace xcuda::device
