#include "device/cuda/kept_blocks.hpp"

#include <algorithm>

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

void* KeptBlocks::take(std::size_t bytes, std::int64_t limit) {
    if (bytes > largest) return nullptr;
    const std::lock_guard lock(mutex_);
    if (limit > 0 && used_ + static_cast<std::int64_t>(bytes) > limit) return nullptr;
    const auto found = kept_.find(rounded(bytes));
    if (found == kept_.end() || found->second.empty()) return nullptr;
    void* const address = found->second.back();
    found->second.pop_back();
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
    if (block.bytes > largest || kept_bytes_ + block.bytes > most) return false;
    kept_[block.bytes].push_back(address);
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
    return kept_bytes_ > most / 2;
}

std::vector<void*> KeptBlocks::empty() {
    const std::lock_guard lock(mutex_);
    std::vector<void*> all;
    for (auto& [bytes, addresses] : kept_) {
        all.insert(all.end(), addresses.begin(), addresses.end());
        addresses.clear();
    }
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
