#include "device/cuda/activity_records.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace xcuda::device::cuda {

namespace {

// A library of another version has another record, but what is read here lies where it always did.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#define XCUDA_SAME_PLACE(field) \
    static_assert(offsetof(CUpti_ActivityKernel9, field) == offsetof(CUpti_ActivityKernel10, field))
XCUDA_SAME_PLACE(registersPerThread);
XCUDA_SAME_PLACE(start);
XCUDA_SAME_PLACE(end);
XCUDA_SAME_PLACE(deviceId);
XCUDA_SAME_PLACE(streamId);
XCUDA_SAME_PLACE(gridX);
XCUDA_SAME_PLACE(blockZ);
XCUDA_SAME_PLACE(staticSharedMemory);
XCUDA_SAME_PLACE(dynamicSharedMemory);
XCUDA_SAME_PLACE(localMemoryPerThread);
XCUDA_SAME_PLACE(correlationId);
XCUDA_SAME_PLACE(name);
XCUDA_SAME_PLACE(graphNodeId);
XCUDA_SAME_PLACE(graphId);
#undef XCUDA_SAME_PLACE
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif
using CopyRecord = CUpti_ActivityMemcpy5;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> words(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return status == 0 && words ? std::string(words.get()) : std::string(name);
}

bool same(const SeenKernel& a, const SeenKernel& b) {
    return a.ordinal == b.ordinal && a.shape.grid == b.shape.grid && a.shape.block == b.shape.block &&
           a.shape.dynamic_shared_bytes == b.shape.dynamic_shared_bytes &&
           a.attributes.registers == b.attributes.registers &&
           a.attributes.shared_bytes == b.attributes.shared_bytes &&
           a.attributes.local_bytes == b.attributes.local_bytes;
}

const KernelRecord& kernel_of(const CUpti_Activity& record) {
    return reinterpret_cast<const KernelRecord&>(record);
}

std::optional<Activity::Kind> way_of(std::uint8_t copy_kind) {
    switch (copy_kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return Activity::Kind::copy_in;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return Activity::Kind::copy_out;
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH: return std::nullopt;  // no GPU has a part in it
        default: return Activity::Kind::copy_within;
    }
}

template <class Record>
RawActivity common(Activity::Kind kind, const Record& r) {
    return {kind,
            static_cast<int>(r.deviceId),
            r.streamId,
            r.correlationId,
            r.start,
            r.end,
            0,
            nullptr,
            r.graphNodeId,
            r.graphId};
}

}  // namespace

std::shared_ptr<const SeenKernel> KernelNames::of(const CUpti_Activity& record) {
    const KernelRecord& r = kernel_of(record);
    const char* name = r.name ? r.name : "a kernel without a name";
    SeenKernel seen;
    seen.ordinal = static_cast<int>(r.deviceId);
    seen.shape.grid = {r.gridX, r.gridY, r.gridZ};
    seen.shape.block = {r.blockX, r.blockY, r.blockZ};
    seen.shape.dynamic_shared_bytes = r.dynamicSharedMemory;
    seen.attributes.registers = r.registersPerThread;
    seen.attributes.shared_bytes = r.staticSharedMemory;
    seen.attributes.local_bytes = r.localMemoryPerThread;
    auto& known = by_name_[name];
    for (const auto& each : known)
        if (same(*each, seen)) return each;
    seen.name = known.empty() ? demangled(name) : known.front()->name;
    known.push_back(std::make_shared<const SeenKernel>(std::move(seen)));
    return known.back();
}

std::optional<RawActivity> read_record(const CUpti_Activity& record, KernelNames& names) {
    std::optional<RawActivity> out;
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            out = common(Activity::Kind::kernel, kernel_of(record));
            out->kernel = names.of(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const auto& r = reinterpret_cast<const CopyRecord&>(record);
            const auto way = way_of(r.copyKind);
            if (!way) return std::nullopt;
            out = common(*way, r);
            out->bytes = static_cast<std::int64_t>(r.bytes);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            const auto& r = reinterpret_cast<const PeerCopyRecord&>(record);
            out = common(Activity::Kind::copy_within, r);
            out->bytes = static_cast<std::int64_t>(r.bytes);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const auto& r = reinterpret_cast<const FillRecord&>(record);
            out = common(Activity::Kind::fill, r);
            out->bytes = static_cast<std::int64_t>(r.bytes);
            break;
        }
        default: return std::nullopt;
    }
    const bool of_a_graph = out->kernel && out->node != 0;  // measured as one with the others of the graph
    if (out->end < out->begin || (out->end == 0 && !of_a_graph)) return std::nullopt;
    return out;
}

}  // namespace xcuda::device::cuda
