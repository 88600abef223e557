// What the host's threads are at: compiling, copying, running a kernel. Told to whoever asks from another thread, so that
// what takes long can say how far it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/export.hpp"

namespace xcuda::device {

enum class Doing : std::uint8_t { compile, copy, launch };

/// While it lives, this thread is at it. They nest: an inner one without a name goes on with the outer's. Costs two
/// exchanges of a word that only this thread writes to.
class XCUDA_API UnderWay {
public:
    /// `name` and `begun` outlive it; `begin` is on base/clock. `begun` counts pieces that were begun, out of `pieces`.
    UnderWay(Doing what, std::string_view name, double begin,
             const std::atomic<std::int64_t>* begun = nullptr, std::int64_t pieces = 0) noexcept;
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

private:
    friend struct UnderWayReader;
    const Doing what_;
    const std::string_view name_;
    const double begin_;
    const std::atomic<std::int64_t>* const begun_;
    const std::int64_t pieces_;
    const UnderWay* outer_ = nullptr;
    void* slot_ = nullptr;  // the thread's own
};

struct SeenUnderWay {
    Doing what;
    std::string name;  // "" where it is not known
    double begin;
    double share;  // of the pieces, begun; negative: not known
};
/// What all threads are at. From one thread at a time.
XCUDA_API std::vector<SeenUnderWay> under_way();

}  // namespace xcuda::device
