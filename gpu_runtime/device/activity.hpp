// What the GPUs did, as their vendor's profiling library sees it: the work of every library in the process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace xcuda::device {

/// A kernel as it was launched; shared by all its launches.
struct SeenKernel {
    std::string name;  // demangled, in full
    int ordinal = 0;   // of the GPU
    Shape shape;
    Attributes attributes;
};

struct Activity {
    enum class Kind : std::uint8_t { kernel, copy_in, copy_out, copy_within, fill };
    Kind kind;
    bool ours;  // asked for by this library
    int ordinal;
    std::uint32_t stream;          // the profiling library's number
    double begin, end;             // base/clock
    std::int64_t bytes;            // copies and fills
    const Device::Launch* launch;  // that started the kernel; null: not one of ours
    std::uint32_t call;            // number of the driver's call that asked for it
    std::shared_ptr<const SeenKernel> kernel;
    // Of a graph's node, else 0: its number, and that of the graph as it was instantiated. `call`, and so `ours` and
    // `launch`, may be another one's then (CUPTI 13.0).
    std::uint64_t node = 0;
    std::uint32_t graph = 0;
    // Of a graph's kernel that was measured as one with the others: the time of all, which is in `begin` and `end` too.
    std::shared_ptr<const Device::Launch> whole = nullptr;
};

struct Activities {
    std::vector<Activity> seen;                    // in the order in which they began
    std::uint64_t lost = 0;                        // there was no room for them
    std::map<int, std::uint32_t> default_streams;  // the number of a GPU's default stream, where known
    std::map<const Device::Launch*, std::uint32_t> replays;  // ours: the number of the graph, where known
};

/// While one lives, the GPUs' work is noted. The first one costs some ms to start; each launch costs about 1 us more.
class XCUDA_API Watch {
public:
    /// `overlapping`: kernels of different streams may run at once, as without; a kernel of very many, very short blocks
    /// then takes up to a tenth longer. Otherwise kernels run one after the other, and their times are exact. The
    /// outermost watch decides. From the first replay of a graph on they may overlap: else a graph is measured as one.
    explicit Watch(bool overlapping);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// True where there is no GPU: nothing to see, and nothing wrong.
    bool idle() const { return !on_ && problem_.empty(); }
    /// Why nothing is seen; empty where all is well.
    const std::string& problem() const { return problem_; }
    /// "CUPTI 13.0.1"; and whether kernels may overlap.
    std::string source() const;
    bool overlaps() const;
    /// Since the watch began. Work under way is waited for, `seconds` at most; may be interrupted.
    Activities seen(double seconds);

private:
    bool on_ = false;
    double began_ = 0;
    std::string problem_;
};

/// Finds out which launches are over, on devices that don't tell by themselves. An error that has ended one is left to
/// whoever waits for it.
XCUDA_API void look_at_launches() noexcept;

}  // namespace xcuda::device
