#include "launch/cache.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <future>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "launch/disk_cache.hpp"

namespace xcuda::launch {

namespace {

struct Loaded {
    std::shared_ptr<device::Function> function;
    std::int64_t bytes;
    device::Attributes attributes;
};

// A kernel belongs to the device it was loaded on; two devices of one kind share the file only.
using MemoryKey = std::pair<const device::Device*, std::string>;

struct Cache {
    std::mutex mutex;  // of all below; never held while compiling, reading or writing
    std::map<MemoryKey, std::shared_future<Loaded>> kernels;
    std::int64_t memory_hits = 0, disk_hits = 0, compiled = 0;
    double compile_seconds = 0;
    std::string disk_problem;
    std::map<std::string, device::Image> preloaded;  // by portable_key
};

Cache& cache() {
    static auto* all = new Cache;  // never destroyed: a worker may still compile while the process ends
    return *all;
}

DiskCache disk() { return {settings().cache_dir, settings().cache_bytes}; }

void remember(const DiskCache& used) {
    if (used.problem().empty()) return;
    const std::lock_guard lock(cache().mutex);
    cache().disk_problem = used.problem();
}

Loaded load(device::Device& device, const device::Image& image) {
    return {device.load(image), static_cast<std::int64_t>(image.bytes.size()), image.attributes};
}

}  // namespace

bool any_preloaded() {
    const std::lock_guard lock(cache().mutex);
    return !cache().preloaded.empty();
}

namespace {

std::optional<device::Image> preloaded(device::Device& device, const device::Source& source) {
    if (!any_preloaded()) return std::nullopt;
    const std::string key = portable_key(device, source);
    const std::lock_guard lock(cache().mutex);
    const auto found = cache().preloaded.find(key);
    return found == cache().preloaded.end() ? std::nullopt : std::optional(found->second);
}

std::string hash(std::initializer_list<std::string_view> parts) {
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (const std::string_view part : parts) {
        const std::uint64_t size = part.size();
        XXH3_128bits_update(&state, &size, sizeof size);
        XXH3_128bits_update(&state, part.data(), part.size());
    }
    const XXH128_hash_t sum = XXH3_128bits_digest(&state);
    return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
}

Loaded from_disk_or_compiler(device::Device& device, const device::Source& source, const std::string& key,
                             std::string_view& from) {
    if (const auto image = preloaded(device, source)) {
        from = "file";
        return load(device, *image);
    }
    DiskCache files = disk();
    if (const auto image = files.load(key); image && image->entry == source.entry) {
        try {
            from = "disk";
            return load(device, *image);
        } catch (const Error& error) {
            // Whole, yet it can't be linked (a symbol that this machine's libraries lack): compiled anew.
            // What the machine lacks is no reason to.
            if (error.fault != Fault::internal) throw;
        }
    }
    from = "compiled";
    const double begin = now();
    const device::Image image = device.compile(source);
    const double seconds = now() - begin;
    Loaded loaded = load(device, image);
    files.store(key, image);
    remember(files);
    const std::lock_guard lock(cache().mutex);
    cache().compile_seconds += seconds;
    return loaded;
}

}  // namespace

std::string cache_key(device::Device& device, const device::Source& source) {
    return hash(
        {source.text, source.entry, source.options, device.info().kind, device.toolchain(), XCUDA_VERSION});
}

std::string portable_key(const device::Source& source, const std::string& target) {
    return hash({source.text, source.entry, source.options, target});
}

std::string portable_key(device::Device& device, const device::Source& source) {
    const device::Info& info = device.info();
    return portable_key(source, info.kind == "cpu" ? device.toolchain() : info.architecture);
}

device::Image image_of(device::Device& device, const device::Source& source) {
    if (auto image = preloaded(device, source)) return *image;
    if (auto image = disk().load(cache_key(device, source)); image && image->entry == source.entry)
        return *image;
    return device.compile(source);
}

bool is_preloaded(device::Device& device, const device::Source& source) {
    return preloaded(device, source).has_value();
}

void preload(const std::string& key, device::Image image) {
    const std::lock_guard lock(cache().mutex);
    cache().preloaded.insert_or_assign(key, std::move(image));
}

std::shared_ptr<device::Function> get_or_compile(device::Device& device, const device::Source& source,
                                                 CompileInfo* info) {
    const double begin = now();
    const std::string key = cache_key(device, source);
    const MemoryKey memory_key{&device, key};
    std::promise<Loaded> mine;
    std::shared_future<Loaded> kernel;
    bool make = false;
    {
        const std::lock_guard lock(cache().mutex);
        const auto [at, added] = cache().kernels.try_emplace(memory_key);
        if (added)
            at->second = mine.get_future().share();
        else
            ++cache().memory_hits;
        make = added;
        kernel = at->second;
    }
    std::string_view from = "memory";
    if (make) {
        try {
            mine.set_value(from_disk_or_compiler(device, source, key, from));
            const std::lock_guard lock(cache().mutex);
            if (from != "file") ++(from == "disk" ? cache().disk_hits : cache().compiled);
        } catch (...) {
            // Those who wait get the same error; the next to ask tries again.
            mine.set_exception(std::current_exception());
            const std::lock_guard lock(cache().mutex);
            cache().kernels.erase(memory_key);
        }
    }
    const Loaded& loaded = kernel.get();
    if (info) *info = {from, now() - begin, loaded.bytes, loaded.attributes};
    return loaded.function;
}

CacheStats cache_stats() {
    const DiskCache files = disk();
    const DiskCache::Contents contents = files.contents();
    const std::lock_guard lock(cache().mutex);
    const Cache& all = cache();
    CacheStats stats{static_cast<std::int64_t>(all.kernels.size()),
                     all.memory_hits,
                     all.disk_hits,
                     all.compiled,
                     all.compile_seconds,
                     {},
                     contents.files,
                     contents.bytes,
                     files.bound(),
                     all.disk_problem};
    if (files.in_use())
        stats.folder = files.folder();
    else
        stats.disk_problem = files.problem();
    return stats;
}

void clear_cache() {
    disk().clear();
    const std::lock_guard lock(cache().mutex);
    cache().kernels.clear();
}

}  // namespace xcuda::launch
