// The blocks of a GPU's pool: how much arrays have of it, and those that the default stream has let go of, kept for its next
// arrays. Asking the driver costs more than most small operations do, and stands between large ones: 10 to 20 us on an H200.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace xcuda::device::cuda {

/// What was let go of in the default stream's order is used again in that order: nobody has to wait. Thread-safe.
class KeptBlocks {
public:
    /// At most an eighth of the GPU's memory is kept at once, and 256 MiB of a small one.
    explicit KeptBlocks(std::int64_t gpu_bytes)
        : most_(std::max(static_cast<std::size_t>(gpu_bytes) / 8, std::size_t{256} << 20)) {}

    /// Bytes of the block that an array of so many is given.
    static std::size_t rounded(std::size_t bytes) {
        return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    }

    /// A block that the driver has given for an array of so many bytes.
    void add(void* address, std::size_t bytes);
    /// A kept one for so many bytes, a large one up to an eighth larger; null where there is none, or where arrays would
    /// have more than `limit` (0: no limit).
    void* take(std::size_t bytes, std::int64_t limit);
    /// An array has let go of it. False where it is not kept: it goes to the driver then, after `remove`.
    bool keep(void* address);
    void remove(void* address);
    /// So much is kept that it is not what is asked for.
    bool crowded() const;
    /// All that is kept: it goes to the driver.
    std::vector<void*> empty();

    std::int64_t used() const;  // bytes of arrays
    std::int64_t high() const;  // the most so far

private:
    static constexpr std::size_t unit = 512;                    // the driver's
    static constexpr std::size_t large = std::size_t{1} << 20;  // from here on by the best fit

    struct Block {
        std::size_t bytes = 0;
        std::int64_t of_array = 0;  // 0: kept
    };
    void give(Block& block, std::size_t bytes);
    void* find(std::size_t rounded);

    mutable std::mutex mutex_;
    std::unordered_map<void*, Block> blocks_;
    std::unordered_map<std::size_t, std::vector<void*>> small_;  // kept, by size
    std::multimap<std::size_t, void*> large_;
    std::size_t most_;
    std::size_t kept_bytes_ = 0;
    std::int64_t used_ = 0, high_ = 0;
};

}  // namespace xcuda::device::cuda
