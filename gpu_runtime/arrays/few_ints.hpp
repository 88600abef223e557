// A handful of integers without memory of their own, as the arguments of a step are; of more than a handful elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace xcuda::arrays {

class FewInts {
public:
    FewInts() = default;
    FewInts(std::initializer_list<int> values) {
        for (const int v : values) push_back(v);
    }

    void push_back(int value) {
        if (size_ < few) {
            first_[size_++] = value;
            return;
        }
        if (size_ == few && more_.empty()) more_.assign(first_.begin(), first_.end());
        more_.push_back(value);
        ++size_;
    }
    std::size_t size() const { return size_; }
    const int* begin() const { return size_ > few ? more_.data() : first_.data(); }
    const int* end() const { return begin() + size_; }
    int operator[](std::size_t i) const { return begin()[i]; }
    bool operator==(const FewInts& other) const {
        return std::equal(begin(), end(), other.begin(), other.end());
    }

private:
    static constexpr std::size_t few = 4;

    std::array<int, few> first_{};
    std::size_t size_ = 0;
    std::vector<int> more_;  // all of them, where they are more
};

/// Sorts the few axes of an array, those that are alike staying in their order. Allocates nothing.
template <class Less>
void sort_few(int* begin, int* end, Less less) {
    for (int* at = begin; at != end; ++at)
        for (int* to = at; to != begin && less(*to, *(to - 1)); --to) std::swap(*to, *(to - 1));
}

}  // namespace xcuda::arrays
