#include "profile/occupancy.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace xcuda::profile {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t reserved_shared_bytes(const device::Info& device) {
    return device.architecture.starts_with("sm_") && std::atoi(device.architecture.c_str() + 3) >= 80 ? 1024
                                                                                                      : 0;
}

}  // namespace

std::optional<Occupancy> occupancy(const device::Info& device, const device::Attributes& kernel,
                                   const device::Shape& shape) {
    const std::int64_t threads = shape.block.count(), warp = device.warp_size;
    if (device.max_threads_per_multiprocessor <= 0 || warp <= 0 || threads <= 0) return std::nullopt;
    const std::int64_t possible = device.max_threads_per_multiprocessor / warp;
    const std::int64_t warps = rounded_up(threads, warp) / warp;

    std::array<std::pair<std::string_view, std::int64_t>, 4> limits;
    std::size_t known = 0;
    limits[known++] = {"threads", possible / warps};
    if (device.max_blocks_per_multiprocessor > 0)
        limits[known++] = {"blocks", device.max_blocks_per_multiprocessor};
    if (kernel.registers.value_or(0) > 0 && device.registers_per_multiprocessor > 0) {
        const std::int64_t a_warp = rounded_up(*kernel.registers * warp, 256);
        // Each of the four schedulers has its own quarter of the file.
        const std::int64_t resident = device.registers_per_multiprocessor / 4 / a_warp * 4;
        limits[known++] = {"registers", resident / warps};
    }
    const std::int64_t shared = kernel.shared_bytes.value_or(0) + shape.dynamic_shared_bytes;
    if (shared > 0 && device.shared_bytes_per_multiprocessor > 0) {
        const std::int64_t a_block = rounded_up(shared + reserved_shared_bytes(device), 128);
        limits[known++] = {"shared memory", device.shared_bytes_per_multiprocessor / a_block};
    }

    Occupancy result{limits[0].second, 0, limits[0].first};
    for (std::size_t i = 1; i < known; ++i) {
        if (limits[i].second < result.blocks)
            result.blocks = limits[i].second, result.limit = limits[i].first;
    }
    result.share = static_cast<double>(result.blocks * warps) / static_cast<double>(possible);
    return result;
}

}  // namespace xcuda::profile
