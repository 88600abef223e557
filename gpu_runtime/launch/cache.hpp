// From a kernel's text to a loaded kernel, compiling only what no earlier process has: memory first, then the
// disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "device/device.hpp"

namespace xcuda::launch {

struct CompileInfo {
    std::string_view source;  // "compiled", "memory", "disk", "file" (preloaded); of static life
    double seconds = 0;       // spent in this call: compiling or reading, and loading
    std::int64_t bytes = 0;   // of the object or cubin
    device::Attributes attributes;
};

/// The name of a source as it is met again by any process: text, entry, options, device, toolchain and
/// xcuda's version.
XCUDA_API std::string cache_key(device::Device& device, const device::Source& source);  // 32 hex digits

/// Two threads that ask for the same kernel compile it once. A disk that can't be used only costs time.
XCUDA_API std::shared_ptr<device::Function> get_or_compile(device::Device& device,
                                                           const device::Source& source,
                                                           CompileInfo* info = nullptr);

/// The name of a source for files that go from machine to machine: of a GPU only the architecture counts (`target`:
/// "sm_90"), of the CPU device its toolchain and instruction set (`target`: empty).
XCUDA_API std::string portable_key(const device::Source& source, const std::string& target);
XCUDA_API std::string portable_key(device::Device& device, const device::Source& source);
/// The bytes behind a kernel: of the disk cache, else compiled anew.
XCUDA_API device::Image image_of(device::Device& device, const device::Source& source);
/// Whoever asks for this kernel gets the image, without disk and compiler.
XCUDA_API void preload(const std::string& portable_key, device::Image image);
bool any_preloaded();
bool is_preloaded(device::Device& device, const device::Source& source);

struct CacheStats {
    std::int64_t kernels_in_memory = 0;
    std::int64_t memory_hits = 0, disk_hits = 0, compiled = 0;  // of this process
    double compile_seconds = 0;
    std::filesystem::path folder;  // empty: none is in use
    std::int64_t files = 0, bytes = 0, bound = 0;
    std::string disk_problem;  // why the disk was not used the last time it failed; empty: it never did
};
XCUDA_API CacheStats cache_stats();

/// Forgets every kernel, in memory and on disk; kernels in use live on.
XCUDA_API void clear_cache();

}  // namespace xcuda::launch
