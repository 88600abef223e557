// The blocks of a GPU's pool: how much arrays have of it, and small ones that the default stream has let go of, kept for its
// next arrays. Asking the driver costs more than most small operations do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace xcuda::device::cuda {

/// What was let go of in the default stream's order is used again in that order: nobody has to wait. Thread-safe.
class KeptBlocks {
public:
    static constexpr std::size_t largest = std::size_t{32} << 20;  // above, the driver's time is no matter
    static constexpr std::size_t most = std::size_t{256} << 20;    // kept at once

    /// Bytes of the block that an array of so many is given.
    static std::size_t rounded(std::size_t bytes) {
        return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    }

    /// A block that the driver has given for an array of so many bytes.
    void add(void* address, std::size_t bytes);
    /// A kept one for so many bytes; null where there is none, or where arrays would have more than `limit` (0: no limit).
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
    static constexpr std::size_t unit = 512;  // the driver's

    struct Block {
        std::size_t bytes = 0;
        std::int64_t of_array = 0;  // 0: kept
    };
    void give(Block& block, std::size_t bytes);

    mutable std::mutex mutex_;
    std::unordered_map<void*, Block> blocks_;
    std::unordered_map<std::size_t, std::vector<void*>> kept_;  // by size
    std::size_t kept_bytes_ = 0;
    std::int64_t used_ = 0, high_ = 0;
};

}  // namespace xcuda::device::cuda
