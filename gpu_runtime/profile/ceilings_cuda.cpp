// A GPU's ceilings: a short copy through its memory, and its multiply-add peak from clock and units.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "profile/roofline.hpp"

namespace xcuda::profile {
namespace {

// Multiply-adds that a multiprocessor finishes in a clock: the CUDA programming guide's table of throughputs.
struct Row {
    std::string_view architecture;
    int float32, float64;
};
constexpr Row rows[] = {
    {"sm_75", 64, 2},   {"sm_80", 64, 32},   {"sm_86", 128, 2},  {"sm_87", 128, 2},  {"sm_89", 128, 2},
    {"sm_90", 128, 64}, {"sm_100", 128, 64}, {"sm_103", 128, 2}, {"sm_120", 128, 2}, {"sm_121", 128, 2},
};

constexpr std::int64_t copy_bytes = 128 << 20;  // of source and of target: together more than any L2 cache
constexpr int copies = 8;                       // the first ones wake the clocks

/// A piece of the device's memory for the length of a measurement.
struct Piece {
    device::Device& device;
    device::Stream* stream;
    void* address;
    Piece(device::Device& d, std::size_t bytes, device::Stream* s)
        : device(d),
          stream(s),
          address(d.allocate(bytes, s)) {}
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece() { device.release(address, stream); }
};

double copy_rate(device::Device& device) {
    const auto free = device.memory().available;
    const auto bytes = static_cast<std::size_t>(free > 0 ? std::min(copy_bytes, free / 8) : copy_bytes);
    const auto stream = device.make_stream(0);
    double best = std::numeric_limits<double>::infinity();
    {
        const Piece from(device, bytes, stream.get()), to(device, bytes, stream.get());
        const auto begin = device.make_event(true), end = device.make_event(true);
        for (int i = 0; i < copies; ++i) {
            device.record(*begin, stream.get());
            device.copy_on_device(to.address, from.address, bytes, stream.get());
            device.record(*end, stream.get());
            device.synchronize(*end);
            best = std::min(best, device.seconds(*begin, *end));
        }
    }
    device.synchronize(stream.get());  // the pieces went back in the stream's order: now they are back
    return best > 0 ? 2.0 * static_cast<double>(bytes) / best : 0;
}

}  // namespace

std::optional<Ceilings> multiply_add_peaks(const device::Info& device) {
    const auto row = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const Row& r) { return r.architecture == device.architecture; });
    if (row == std::end(rows) || device.clock_hz <= 0 || device.multiprocessors <= 0) return std::nullopt;
    const double clocks = 2.0 * device.clock_hz * device.multiprocessors;
    Ceilings peaks{0, clocks * row->float32, clocks * row->float64};
    peaks.flops_computed = true;
    return peaks;
}

std::optional<Ceilings> gpu_ceilings(device::Device& device) {
    auto found = multiply_add_peaks(device.info());
    if (!found) return std::nullopt;
    found->copy_bytes_per_second = copy_rate(device);
    return found->copy_bytes_per_second > 0 ? found : std::nullopt;
}

}  // namespace xcuda::profile
