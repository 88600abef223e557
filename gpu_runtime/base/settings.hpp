// What a user may set from outside, read once from the environment (XCUDA_...), each with its meaning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/export.hpp"

namespace xcuda {

/// The side of each array's memory on the CPU device where a page lies that faults when it is touched.
enum class Guard { none, end, begin };

struct Settings {
    std::string device;                  // XCUDA_DEVICE: "cpu", "cuda:0"; empty: the first found
    int workers = 0;                     // XCUDA_WORKERS: threads of the CPU device; 0: one a core
    std::filesystem::path cache_dir;     // XCUDA_CACHE_DIR: compiled kernels; else the user's cache folder
    std::int64_t cache_bytes = 1 << 30;  // XCUDA_CACHE_BYTES: the folder's bound; 0 turns the disk cache off
    std::int64_t memory_limit = 0;  // XCUDA_MEMORY_LIMIT: bytes of a device's arrays at most; 0: no limit
    std::int64_t print_bytes = 1 << 20;  // XCUDA_PRINT_BYTES: what the threads of one launch may print
    std::filesystem::path
        cpu_compiler;  // XCUDA_CPU_COMPILER: libxcuda_cpu_jit.so; else the one beside the runtime
    std::vector<std::filesystem::path>
        python_paths;  // the running Python's sys.path, where NVIDIA's wheels lie; set by the binding, never read
                       // from the environment
    Guard pool_guard = Guard::none;  // XCUDA_POOL_GUARD: "end" (or 1), "begin"; empty or 0: none
    bool compile_ahead =
        true;          // XCUDA_COMPILE_AHEAD: 0: no kernel compiles on a thread of its own at its definition
    std::string dump;  // XCUDA_DUMP: comma list of ir, text, asm, passes
};

XCUDA_API Settings& settings();
/// The environment as it is now. Throws ValueError naming the variable that can't be read.
XCUDA_API Settings read_settings();

}  // namespace xcuda
