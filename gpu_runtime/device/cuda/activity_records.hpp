// CUPTI's records of what the GPUs did, read into device::Activity.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/activity.hpp"
#include "device/cuda/cupti.hpp"

namespace xcuda::device::cuda {

/// A record before it is known whose it is and what its clock means.
struct RawActivity {
    Activity::Kind kind;
    int ordinal;
    std::uint32_t stream, correlation;
    std::uint64_t begin, end;  // ns of CUPTI's clock
    std::int64_t bytes;
    std::shared_ptr<const SeenKernel> kernel;
    std::uint64_t node = 0;  // of a graph, and the instantiated graph's number
    std::uint32_t graph = 0;
};

/// The kernels met so far, one each.
class KernelNames {
public:
    std::shared_ptr<const SeenKernel> of(const CUpti_Activity& record);

private:
    std::unordered_map<std::string, std::vector<std::shared_ptr<const SeenKernel>>> by_name_;
};

/// Nothing for a record of another kind, or one whose times could not be had; a kernel of a graph without a time has 0.
std::optional<RawActivity> read_record(const CUpti_Activity& record, KernelNames& names);

}  // namespace xcuda::device::cuda
