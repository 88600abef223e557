// Compiled kernels as files that many processes share: one kernel a file, whole or not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "device/device.hpp"

namespace xcuda::launch {

/// A folder of images by key. Nothing here throws: a disk that fails is a miss, and `problem` says why.
class DiskCache {
public:
    DiskCache(std::filesystem::path folder, std::int64_t bound);

    bool in_use() const { return bound_ > 0 && !folder_.empty(); }
    /// A damaged file is a miss; the next `store` replaces it.
    std::optional<device::Image> load(const std::string& key);
    /// Written beside and renamed, so that a reader sees a whole file or none; then the oldest go if over the
    /// bound.
    void store(const std::string& key, const device::Image& image);
    void clear();

    struct Contents {
        std::int64_t files = 0, bytes = 0;
    };
    Contents contents() const;
    const std::filesystem::path& folder() const { return folder_; }
    std::int64_t bound() const { return bound_; }
    const std::string& problem() const { return problem_; }

private:
    std::filesystem::path file_of(const std::string& key) const;
    void keep_bound(std::int64_t written);

    std::filesystem::path folder_;
    std::int64_t bound_;
    std::string problem_;
};

}  // namespace xcuda::launch
