// What is known of each byte that a watched kernel touches: who wrote and read it last, and whether anybody wrote it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profile/check/threads.hpp"

namespace xcuda::profile::check {

struct Cell {
    Access write, read, other_read, atomic;  // other_read: of another thread than `read`'s
    bool written = false;
};

/// Cells of pieces of memory as small as the smallest access that came to their page.
class Shadow {
public:
    /// Calls `visit` for each cell of [address, address + bytes).
    template <class Visit>
    void each(std::uint64_t address, std::uint64_t bytes, Visit visit) {
        for (std::uint64_t at = address; at < address + bytes;) {
            Page& page = page_of(at, smallest(address, bytes));
            const std::uint64_t size = std::uint64_t{1} << page.shift;
            visit(page.cells[at % page_bytes >> page.shift]);
            at = (at | (size - 1)) + 1;
        }
    }
    /// Nobody has touched it.
    void forget(std::uint64_t address, std::uint64_t bytes);
    std::size_t cells() const { return cells_; }

private:
    static constexpr std::uint64_t page_bytes = 1 << 10;
    struct Page {
        int shift;
        std::vector<Cell> cells;
    };
    static int smallest(std::uint64_t address, std::uint64_t bytes) {
        int shift = 0;
        while (shift < 3 && !(bytes >> shift & 1) && !(address >> shift & 1)) ++shift;
        return shift;
    }
    Page& page_of(std::uint64_t address, int shift);

    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::uint64_t last_number_ = ~std::uint64_t{0};
    Page* last_ = nullptr;
    std::size_t cells_ = 0;
};

}  // namespace xcuda::profile::check
