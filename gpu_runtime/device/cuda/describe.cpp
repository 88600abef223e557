#include "device/cuda/describe.hpp"

#include <fmt/format.h>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

// From the CUDA programming guide's table of compute capabilities.
struct Row {
    const char* architecture;
    int threads, blocks;           // resident on a multiprocessor
    int shared_kib, shared_block;  // KiB of a multiprocessor, and of a block with opting in
};
constexpr Row rows[] = {
    {"sm_75", 1024, 16, 64, 64},    {"sm_80", 2048, 32, 164, 163},  {"sm_86", 1536, 16, 100, 99},
    {"sm_87", 1536, 16, 164, 163},  {"sm_89", 1536, 24, 100, 99},   {"sm_90", 2048, 32, 228, 227},
    {"sm_100", 2048, 32, 228, 227}, {"sm_103", 2048, 32, 228, 227}, {"sm_110", 1536, 24, 228, 227},
    {"sm_120", 1536, 24, 100, 99},  {"sm_121", 1536, 24, 100, 99},
};
constexpr std::int64_t registers = 65536;

}  // namespace

Info describe(CUdevice device, int ordinal) {
    const Driver& d = driver();
    const auto attribute = [&](CUdevice_attribute which) -> std::int64_t {
        int value = 0;
        return d.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
    };
    Info info;
    info.kind = "cuda";
    info.ordinal = ordinal;
    char name[256] = {};
    check(d.cuDeviceGetName(name, sizeof name, device), "asking for the GPU's name");
    info.name = name;
    info.architecture = fmt::format("sm_{}{}", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                    attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    info.multiprocessors = static_cast<int>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    info.warp_size = static_cast<int>(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
    std::size_t bytes = 0;
    check(d.cuDeviceTotalMem(&bytes, device), "asking for the GPU's memory");
    info.memory_bytes = static_cast<std::int64_t>(bytes);
    info.clock_hz = static_cast<double>(attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)) * 1e3;
    info.limits.threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info.limits.block = {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                         attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                         attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
    info.limits.grid = {attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                        attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                        attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
    info.limits.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info.limits.shared_bytes_per_block_optin =
        attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info.max_threads_per_multiprocessor =
        static_cast<int>(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
    info.max_blocks_per_multiprocessor =
        static_cast<int>(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
    info.registers_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    info.shared_bytes_per_multiprocessor =
        attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    return info;
}

std::optional<Info> describe_architecture(const std::string& architecture) {
    // sm_100a is sm_100 with instructions that no later one has.
    const std::string plain = architecture.substr(0, architecture.find_last_of("0123456789") + 1);
    for (const Row& row : rows) {
        if (plain != row.architecture) continue;
        Info info;
        info.kind = "cuda";
        info.name = architecture;
        info.architecture = architecture;
        info.limits.shared_bytes_per_block_optin = row.shared_block * 1024;
        info.max_threads_per_multiprocessor = row.threads;
        info.max_blocks_per_multiprocessor = row.blocks;
        info.registers_per_multiprocessor = registers;
        info.shared_bytes_per_multiprocessor = row.shared_kib * 1024;
        return info;
    }
    return std::nullopt;
}

}  // namespace xcuda::device::cuda
