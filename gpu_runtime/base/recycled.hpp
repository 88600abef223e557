// Memory of what comes and goes with each launch: a shared pointer made here costs no malloc once some have gone.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace xcuda {

/// An allocator of single objects. What is given back lies on a shelf of the thread's own; shelves that are full, or whose
/// thread ends, go to a store for all. Nothing goes back to the system.
template <class T>
class Recycled {
public:
    using value_type = T;
    Recycled() = default;
    template <class U>
    Recycled(const Recycled<U>&) {
    }  // NOLINT(google-explicit-constructor): an allocator of any kind makes the others
    bool operator==(const Recycled&) const { return true; }

    T* allocate(std::size_t n) {
        static_assert(sizeof(T) >= sizeof(Piece) && alignof(T) >= alignof(Piece));
        if (n != 1 || plain) [[unlikely]]
            return std::allocator<T>().allocate(n);
        Shelf& mine = shelf;
        if (!mine.first) [[unlikely]]
            refill(mine);
        --mine.count;
        return reinterpret_cast<T*>(std::exchange(mine.first, mine.first->next));
    }
    void deallocate(T* object, std::size_t n) noexcept {
        if (n != 1 || plain) [[unlikely]]
            return std::allocator<T>().deallocate(object, n);
        Shelf& mine = shelf;
        if (mine.count == 0) [[unlikely]]
            empties_at_its_end();
        mine.first = new (object) Piece{mine.first};
        if (++mine.count >= 2 * batch) [[unlikely]]
            give_away(mine, batch);
    }

private:
    // A sanitizer tells of memory that is used after it was given back, where it is not recycled.
#if defined(__SANITIZE_ADDRESS__)
    static constexpr bool plain = true;
#else
    static constexpr bool plain = false;
#endif
    static constexpr std::size_t batch = 64;

    struct Piece {
        Piece* next;
    };
    struct Shelf {
        Piece* first = nullptr;
        std::size_t count = 0;
    };
    static inline constinit thread_local Shelf shelf{};

    struct Store {
        std::mutex mutex;
        Shelf all;
    };
    // Never destroyed: threads may end while the process does.
    static Store& store() {
        static Store& only = *new Store;
        return only;
    }

    static void move(Shelf& from, Shelf& to, std::size_t count) noexcept {
        for (; count > 0 && from.first; --count) {
            Piece* piece = std::exchange(from.first, from.first->next);
            piece->next = std::exchange(to.first, piece);
            --from.count;
            ++to.count;
        }
    }

    static void refill(Shelf& mine) {
        empties_at_its_end();
        {
            const std::lock_guard lock(store().mutex);
            move(store().all, mine, batch);
        }
        if (mine.first) return;
        T* made = std::allocator<T>().allocate(batch);
        for (std::size_t i = batch; i-- > 0;)
            mine.first = new (static_cast<void*>(made + i)) Piece{mine.first};
        mine.count = batch;
    }

    static void give_away(Shelf& mine, std::size_t count) noexcept {
        const std::lock_guard lock(store().mutex);
        move(mine, store().all, count);
    }

    static void empties_at_its_end() {
        struct End {
            ~End() { give_away(shelf, shelf.count); }
        };
        static thread_local const End end;
        (void)end;
    }
};

template <class T, class... Arguments>
std::shared_ptr<T> make_recycled(Arguments&&... arguments) {
    return std::allocate_shared<T>(Recycled<T>(), std::forward<Arguments>(arguments)...);
}

}  // namespace xcuda
