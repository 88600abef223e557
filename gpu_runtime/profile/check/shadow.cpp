#include "profile/check/shadow.hpp"

#include <algorithm>

namespace xcuda::profile::check {

Shadow::Page& Shadow::page_of(std::uint64_t address, int shift) {
    const std::uint64_t number = address / page_bytes;
    if (number != last_number_) {
        auto& found = pages_[number];
        if (!found) {
            found = std::make_unique<Page>(Page{shift, std::vector<Cell>(page_bytes >> shift)});
            cells_ += found->cells.size();
        }
        last_ = found.get();
        last_number_ = number;
    }
    Page& page = *last_;
    if (shift < page.shift) {  // a smaller access: each cell is split
        std::vector<Cell> split(page_bytes >> shift);
        for (std::size_t i = 0; i < split.size(); ++i) split[i] = page.cells[i >> (page.shift - shift)];
        cells_ += split.size() - page.cells.size();
        page.cells = std::move(split);
        page.shift = shift;
    }
    return page;
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t at = address; at < address + bytes;) {
        const std::uint64_t number = at / page_bytes,
                            end = std::min(address + bytes, (number + 1) * page_bytes);
        if (const auto found = pages_.find(number); found != pages_.end()) {
            Page& page = *found->second;
            // A cell that reaches beyond the range is its neighbour's too; arrays start at their elements' multiples.
            for (std::uint64_t i = at % page_bytes >> page.shift; i << page.shift < end - number * page_bytes;
                 ++i)
                page.cells[i] = {};
        }
        at = end;
    }
}

}  // namespace xcuda::profile::check
