#include "launch/shape.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace xcuda::launch {
namespace {

// Threads along x, y, z: x is a multiple of a warp, 256 in all.
constexpr std::int64_t blocks[3][3] = {{256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
constexpr char axis_names[] = "xyz";

[[noreturn]] void invalid(const std::string& message, std::string hint = {}) {
    throw Error(Fault::user, "ValueError", message, std::nullopt, std::move(hint));
}

std::int64_t at(const device::Dim3& d, int axis) { return axis == 0 ? d.x : axis == 1 ? d.y : d.z; }

std::string text(const device::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

}  // namespace

device::Shape automatic_shape(std::span<const std::int64_t> domain, const device::Info& device,
                              const std::string& kernel, const std::optional<device::Dim3>& wanted) {
    device::Shape shape;
    std::int64_t* grid[3] = {&shape.grid.x, &shape.grid.y, &shape.grid.z};
    std::int64_t* block[3] = {&shape.block.x, &shape.block.y, &shape.block.z};
    for (std::size_t i = 0; i < domain.size() && i < 3; ++i) {
        *block[i] = wanted ? at(*wanted, static_cast<int>(i)) : blocks[domain.size() - 1][i];
        const std::int64_t length = domain[i] < 0 ? 0 : domain[i];
        *grid[i] = (length + *block[i] - 1) / *block[i];
        if (*grid[i] > at(device.limits.grid, static_cast<int>(i)))
            invalid(fmt::format("{}: {} threads along {} take {} blocks; {} has at most {} there", kernel,
                                length, axis_names[i], *grid[i], device.name,
                                at(device.limits.grid, static_cast<int>(i))),
                    "let each thread do several elements: for i in range(cuda.grid(1), n, cuda.gridsize(1))");
    }
    return shape;
}

void check_shape(const device::Shape& shape, std::int64_t static_shared_bytes, const device::Info& device,
                 const std::string& kernel) {
    const device::Limits& limits = device.limits;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t g = at(shape.grid, axis), b = at(shape.block, axis);
        if (b < 1)
            invalid(fmt::format("{}: the block {} has {} threads along {}; every length must be at least 1",
                                kernel, text(shape.block), b, axis_names[axis]));
        if (g < 0)
            invalid(fmt::format("{}: the grid {} has {} blocks along {}; a length can't be negative", kernel,
                                text(shape.grid), g, axis_names[axis]));
        if (b > at(limits.block, axis))
            invalid(fmt::format("{}: the block {} has {} threads along {}; {} takes at most {} there", kernel,
                                text(shape.block), b, axis_names[axis], device.name, at(limits.block, axis)));
        if (g > at(limits.grid, axis))
            invalid(fmt::format("{}: the grid {} has {} blocks along {}; {} takes at most {} there", kernel,
                                text(shape.grid), g, axis_names[axis], device.name, at(limits.grid, axis)));
    }
    if (shape.block.count() > limits.threads_per_block)
        invalid(fmt::format("{}: the block {} has {} threads; {} takes at most {} in a block", kernel,
                            text(shape.block), shape.block.count(), device.name, limits.threads_per_block),
                "use a smaller block and a larger grid");
    if (shape.dynamic_shared_bytes < 0)
        invalid(fmt::format("{}: the launch asks for {} bytes of dynamic shared memory; it can't be negative",
                            kernel, shape.dynamic_shared_bytes));
    const std::int64_t most = std::max(limits.shared_bytes_per_block, limits.shared_bytes_per_block_optin);
    const std::int64_t shared = static_shared_bytes + shape.dynamic_shared_bytes;
    if (shared > most)
        invalid(fmt::format(
                    "{}: a block takes {} bytes of shared memory ({} from shared.array, {} from the launch); "
                    "{} has at most {}",
                    kernel, shared, static_shared_bytes, shape.dynamic_shared_bytes, device.name, most),
                "use smaller shared arrays");
}

}  // namespace xcuda::launch
