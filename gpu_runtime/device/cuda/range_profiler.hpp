// CUPTI's range profiler on one context, set up for a list of counters.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/cupti.hpp"

namespace xcuda::device::cuda {

/// What of CUPTI's calls failed, in a sentence.
struct ProfilerError {
    std::string problem;
};

/// CUPTI's view of a chip: which counters it has, how to schedule and evaluate them. Needs no GPU.
class ProfilerHost {
public:
    /// `availability`: of a GPU that is here; empty otherwise. Throws ProfilerError.
    ProfilerHost(const Cupti& cupti, const char* chip, const std::vector<std::uint8_t>& availability);
    ~ProfilerHost();
    ProfilerHost(const ProfilerHost&) = delete;
    ProfilerHost& operator=(const ProfilerHost&) = delete;

    bool knows(const std::string& counter) const;
    /// The plan for reading these, to be given to the GPU.
    std::vector<std::uint8_t> plan(const std::vector<const char*>& counters);
    /// Of the one range in `image`; empty where it holds none.
    std::vector<double> evaluate(const std::vector<std::uint8_t>& image,
                                 const std::vector<const char*>& counters);

private:
    const Cupti& cupti_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
};

/// On the current context.
class RangeProfiler {
public:
    /// `counters` in order of wish; those that the GPU lacks are left out of `counters()`. Throws ProfilerError.
    RangeProfiler(const Cupti& cupti, CUcontext context, int ordinal,
                  const std::vector<std::vector<std::string>>& wanted);
    ~RangeProfiler();
    RangeProfiler(const RangeProfiler&) = delete;
    RangeProfiler& operator=(const RangeProfiler&) = delete;

    void start();  // the next kernel in the context is the range
    /// A value for each of what was wanted, not a number for those the GPU lacks; empty where no kernel was seen.
    std::vector<double> stop();

private:
    const Cupti& cupti_;
    std::unique_ptr<ProfilerHost> host_;
    std::vector<std::string> names_;  // of the counters that are read
    std::vector<const char*> asked_;  // the same
    std::vector<int> place_;          // of each wanted one among them; -1: it has none
    std::vector<std::uint8_t> plan_, image_;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
};

}  // namespace xcuda::device::cuda
