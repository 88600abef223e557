#include "launch/disk_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "launch/image_file.hpp"

namespace xcuda::launch {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view suffix = ".kernel", temporary = ".writing";

std::string words(int error) { return std::strerror(error); }

struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes;
};

/// The kernels of a folder; left-overs of writers that died are removed on the way.
std::vector<Entry> entries_of(const fs::path& folder) {
    std::vector<Entry> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code gone;  // another process may remove it between
        const auto used = fs::last_write_time(at->path(), gone);
        const auto bytes = gone ? 0 : static_cast<std::int64_t>(fs::file_size(at->path(), gone));
        if (gone) continue;
        if (at->path().extension() == suffix)
            found.push_back({at->path(), used, bytes});
        else if (at->path().extension() == temporary &&
                 fs::file_time_type::clock::now() - used > std::chrono::hours(1))
            fs::remove(at->path(), gone);
    }
    return found;
}

class File {
public:
    File(const char* path, int flags, mode_t mode = 0) : descriptor_(open(path, flags | O_CLOEXEC, mode)) {}
    ~File() { close(); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    explicit operator bool() const { return descriptor_ >= 0; }
    int get() const { return descriptor_; }
    bool close() {
        const int descriptor = std::exchange(descriptor_, -1);
        return descriptor < 0 || ::close(descriptor) == 0;
    }
    bool write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }

private:
    int descriptor_;
};

std::optional<std::string> contents_of(const File& file) {
    struct stat status{};
    if (fstat(file.get(), &status) != 0 || status.st_size < 0) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t read = 0;
    while (read < bytes.size()) {
        const ssize_t count = ::read(file.get(), bytes.data() + read, bytes.size() - read);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        read += static_cast<std::size_t>(count);
    }
    return bytes;
}

constexpr mode_t others_write = S_IWGRP | S_IWOTH;

/// Why what lies there may be somebody else's work, who could have it run here by it; empty: it is this user's own.
std::string distrusted(const fs::path& path, const struct stat& status) {
    if (status.st_uid != geteuid())
        return path.string() +
               " belongs to another user: what it holds is not run here; XCUDA_CACHE_DIR may "
               "name a folder of your own";
    if (status.st_mode & others_write)
        return path.string() + " may be written by others: what it holds is not run here; remove it";
    return {};
}

/// The same of the cache's folder; one of the user's own that is open to others is closed first.
std::string distrusted_folder(const fs::path& folder) {
    struct stat status{};
    if (stat(folder.c_str(), &status) != 0) return folder.string() + " can't be read: " + words(errno);
    if (status.st_uid == geteuid() && (status.st_mode & others_write) && chmod(folder.c_str(), 0700) == 0)
        status.st_mode &= ~others_write;
    return distrusted(folder, status);
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::int64_t bound) : folder_(std::move(folder)), bound_(bound) {
    if (bound_ <= 0)
        problem_ = "it is turned off (XCUDA_CACHE_BYTES=0)";
    else if (folder_.empty())
        problem_ = "there is no home folder; XCUDA_CACHE_DIR may name one";
}

fs::path DiskCache::file_of(const std::string& key) const { return folder_ / (key + std::string(suffix)); }

std::optional<device::Image> DiskCache::load(const std::string& key) {
    if (!in_use()) return std::nullopt;
    try {
        const File file(file_of(key).c_str(), O_RDONLY | O_NOFOLLOW);
        if (!file) {
            if (errno != ENOENT) problem_ = file_of(key).string() + " can't be read: " + words(errno);
            return std::nullopt;
        }
        // A file that passes for our own must lie in a folder of our own, where nobody else could have put it.
        struct stat status{};
        if (fstat(file.get(), &status) != 0) return std::nullopt;
        std::string why = distrusted_folder(folder_);
        if (why.empty()) why = distrusted(file_of(key), status);
        if (!why.empty()) {
            problem_ = std::move(why);
            return std::nullopt;
        }
        const auto bytes = contents_of(file);
        auto image = bytes ? from_file(*bytes) : std::nullopt;
        if (image) futimens(file.get(), nullptr);  // used now: the last to go
        return image;
    } catch (const std::exception& error) {
        problem_ = error.what();
        return std::nullopt;
    }
}

void DiskCache::store(const std::string& key, const device::Image& image) {
    if (!in_use()) return;
    try {
        const std::string bytes = to_file(image);
        if (static_cast<std::int64_t>(bytes.size()) > bound_) return;
        std::error_code error;
        fs::create_directories(folder_.parent_path(), error);
        if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
            problem_ = folder_.string() + " can't be made: " + words(errno);
            return;
        }
        if (std::string why = distrusted_folder(folder_); !why.empty()) {
            problem_ = std::move(why);
            return;
        }
        static std::atomic<unsigned> number{0};
        const fs::path beside = folder_ / (key + "." + std::to_string(getpid()) + "." +
                                           std::to_string(number++) + std::string(temporary));
        File file(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const bool written = file && file.write(bytes) && file.close();
        if (!written || rename(beside.c_str(), file_of(key).c_str()) != 0) {
            problem_ = folder_.string() + " can't be written: " + words(errno);
            unlink(beside.c_str());
            return;
        }
        keep_bound(static_cast<std::int64_t>(bytes.size()));
    } catch (const std::exception& error) {
        problem_ = error.what();
    }
}

void DiskCache::keep_bound(std::int64_t written) {
    // The folder is looked through at a process' first write, then after each sixteenth of the bound: other
    // processes fill it too.
    static std::atomic<std::int64_t> since_look{std::numeric_limits<std::int64_t>::max() / 2};
    if (since_look.fetch_add(written) + written < bound_ / 16) return;
    since_look.store(0);
    std::vector<Entry> entries = entries_of(folder_);
    std::int64_t sum = 0;
    for (const Entry& entry : entries) sum += entry.bytes;
    if (sum <= bound_) return;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
        if (sum <= bound_ - bound_ / 8) break;
        std::error_code gone;
        fs::remove(entry.path, gone);
        sum -= entry.bytes;
    }
}

void DiskCache::clear() {
    if (folder_.empty()) return;
    for (const Entry& entry : entries_of(folder_)) {
        std::error_code gone;
        fs::remove(entry.path, gone);
    }
}

DiskCache::Contents DiskCache::contents() const {
    Contents all;
    if (folder_.empty()) return all;
    for (const Entry& entry : entries_of(folder_)) ++all.files, all.bytes += entry.bytes;
    return all;
}

}  // namespace xcuda::launch
