#include "device/cuda/kept_blocks.hpp"

namespace xcuda::device::cuda {

void KeptBlocks::give(Block& block, std::size_t bytes) {
    block.of_array = static_cast<std::int64_t>(bytes);
    used_ += block.of_array;
    high_ = std::max(high_, used_);
}

void KeptBlocks::add(void* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Block& block = blocks_[address];
    block.bytes = rounded(bytes);
    give(block, bytes);
}

void* KeptBlocks::find(std::size_t rounded) {
    if (rounded > large) {
        const auto found = large_.lower_bound(rounded);
        if (found == large_.end() || found->first > rounded + rounded / 8) return nullptr;
        void* const address = found->second;
        large_.erase(found);
        return address;
    }
    const auto found = small_.find(rounded);
    if (found == small_.end() || found->second.empty()) return nullptr;
    void* const address = found->second.back();
    found->second.pop_back();
    return address;
}

void* KeptBlocks::take(std::size_t bytes, std::int64_t limit) {
    const std::lock_guard lock(mutex_);
    if (limit > 0 && used_ + static_cast<std::int64_t>(bytes) > limit) return nullptr;
    void* const address = find(rounded(bytes));
    if (!address) return nullptr;
    Block& block = blocks_.find(address)->second;
    kept_bytes_ -= block.bytes;
    give(block, bytes);
    return address;
}

bool KeptBlocks::keep(void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return false;
    Block& block = found->second;
    if (kept_bytes_ + block.bytes > most_) return false;
    if (block.bytes > large)
        large_.emplace(block.bytes, address);
    else
        small_[block.bytes].push_back(address);
    kept_bytes_ += block.bytes;
    used_ -= block.of_array;
    block.of_array = 0;
    return true;
}

void KeptBlocks::remove(void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    used_ -= found->second.of_array;
    blocks_.erase(found);
}

bool KeptBlocks::crowded() const {
    const std::lock_guard lock(mutex_);
    return kept_bytes_ > most_ / 2;
}

std::vector<void*> KeptBlocks::empty() {
    const std::lock_guard lock(mutex_);
    std::vector<void*> all;
    for (auto& [bytes, addresses] : small_) {
        all.insert(all.end(), addresses.begin(), addresses.end());
        addresses.clear();
    }
    for (const auto& [bytes, address] : large_) all.push_back(address);
    large_.clear();
    for (void* const address : all) blocks_.erase(address);
    kept_bytes_ = 0;
    return all;
}

std::int64_t KeptBlocks::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

std::int64_t KeptBlocks::high() const {
    const std::lock_guard lock(mutex_);
    return high_;
}

}  // namespace xcuda::device::cuda
