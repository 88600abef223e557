// Named spans on this thread for a profiler that looks on from outside (Nsight Systems, Nsight Compute): NVTX.
#pragma once

#include <string>

#include "base/export.hpp"

namespace xcuda::device {

/// Whether one listens: told by the environment when the process began (NVTX_INJECTION64_PATH, which such tools set, or
/// XCUDA_NVTX: 1, or the library's file). Where none does, spans cost a look at this.
XCUDA_API extern const bool ranges_wanted;

/// Spans nest; each push wants its pop on the same thread.
XCUDA_API void push_range(const std::string& name) noexcept;
XCUDA_API void pop_range() noexcept;

class Range {
public:
    explicit Range(const std::string& name) {
        if (ranges_wanted) [[unlikely]]
            push_range(name);
    }
    ~Range() {
        if (ranges_wanted) [[unlikely]]
            pop_range();
    }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace xcuda::device
