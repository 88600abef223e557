#include "device/cpu/boxes.hpp"

#include <algorithm>

#include "device/cpu/compiler.hpp"

namespace xcuda::device::cpu {

namespace {

// Threads of a piece, by weight: saxpy runs through the light one in about 5 us.
constexpr std::int64_t threads_of_piece[] = {32768, 8192, 512};
constexpr std::int64_t heavy = 2;
constexpr std::int64_t rows_of_tiled_piece = 32, tiles_of_tiled_piece = 4;
constexpr std::int64_t least_heavy_pieces = 64;
constexpr std::int64_t tiles_of_edge_box = 1;  // small boxes where the whole piece can't run as tiles

struct Axes {
    std::size_t vector, row, third;
    explicit Axes(const Cut& cut)
        : vector(static_cast<std::size_t>(cut.vector_axis)),
          row(vector == 0 ? 1 : 0),
          third(3 - vector - row) {}
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Box {
    std::int64_t low[3], high[3];
};

void run_box(const Kernel& kernel, const LaunchBlock& launch, const void* arguments, Worker& worker,
             const Box& box) {
    if (!kernel.tiles) {
        kernel.threads(&launch, arguments, &worker, box.low, box.high);
        return;
    }
    if (kernel.tiles(&launch, arguments, &worker, box.low, box.high)) return;
    const Axes axes(*kernel.cut);
    std::int64_t step[3] = {1, 1, 1};
    step[axes.vector] = tiles_of_edge_box * kernel.cut->width;
    step[axes.row] = kernel.cut->rows;
    Box small;
    const auto along = [&](std::size_t axis, auto&& inner) {
        for (std::int64_t at = box.low[axis]; at < box.high[axis]; at += step[axis]) {
            small.low[axis] = at;
            small.high[axis] = std::min(at + step[axis], box.high[axis]);
            inner();
        }
    };
    along(axes.third, [&] {
        along(axes.row, [&] {
            along(axes.vector, [&] {
                if (*launch.stop) worker.leave(&worker);
                if (!kernel.tiles(&launch, arguments, &worker, small.low, small.high))
                    kernel.threads(&launch, arguments, &worker, small.low, small.high);
            });
        });
    });
}

}  // namespace

Boxes cut_domain(const Kernel& kernel, const LaunchBlock& launch, const void* arguments) {
    Boxes boxes;
    kernel.domain(&launch, arguments, boxes.low.data(), boxes.high.data());
    const Cut& cut = *kernel.cut;
    const Axes axes(cut);
    std::array<std::int64_t, 3> length;
    for (std::size_t axis = 0; axis < 3; ++axis)
        length[axis] = std::max<std::int64_t>(0, boxes.high[axis] - boxes.low[axis]);
    if (length[0] == 0 || length[1] == 0 || length[2] == 0) return boxes;

    if (cut.rows > 1) {
        boxes.chunk[axes.vector] = tiles_of_tiled_piece * cut.width;
        boxes.chunk[axes.row] = rows_of_tiled_piece;
    } else {
        const std::int64_t threads = threads_of_piece[cut.weight];
        std::int64_t across = std::min(length[axes.vector], threads);
        if (cut.weight == heavy) {
            const std::int64_t part = ceil_div(length[axes.vector], least_heavy_pieces);
            across = std::min(across, ceil_div(part, cut.width) * cut.width);
        }
        boxes.chunk[axes.vector] = std::max<std::int64_t>(1, across);
        boxes.chunk[axes.row] = std::max<std::int64_t>(1, threads / boxes.chunk[axes.vector]);
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
        boxes.pieces[axis] = ceil_div(length[axis], boxes.chunk[axis]);
    return boxes;
}

void run_boxes(const Kernel& kernel, const Boxes& boxes, const LaunchBlock& launch, const void* arguments,
               Worker& worker, std::int64_t begin, std::int64_t end) {
    const Axes axes(*kernel.cut);
    for (std::int64_t piece = begin; piece < end; ++piece) {
        if (*launch.stop) worker.leave(&worker);
        Box box;
        std::int64_t rest = piece;
        // Rows first: neighbouring pieces then share what they read along the vector axis.
        for (const std::size_t axis : {axes.row, axes.vector, axes.third}) {
            const std::int64_t index = rest % boxes.pieces[axis];
            rest /= boxes.pieces[axis];
            box.low[axis] = boxes.low[axis] + index * boxes.chunk[axis];
            box.high[axis] = std::min(boxes.high[axis], box.low[axis] + boxes.chunk[axis]);
        }
        run_box(kernel, launch, arguments, worker, box);
    }
}

}  // namespace xcuda::device::cpu
