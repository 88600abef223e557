#include "device/cuda/function.hpp"

#include <fmt/format.h>

#include "device/cuda/context.hpp"

namespace xcuda::device::cuda {

namespace {

constexpr std::int64_t without_opting_in = 48 * 1024;

}  // namespace

CudaFunction::CudaFunction(const Image& image, CUcontext context) : context_(context), entry_(image.entry) {
    const Driver& d = driver();
    check(d.cuModuleLoadData(&module_, image.bytes.data()), "loading a kernel");
    try {
        check(d.cuModuleGetFunction(&function_, module_, image.entry.c_str()),
              "finding a kernel in its module");
        const auto attribute = [&](CUfunction_attribute which) {
            int value = 0;
            check(d.cuFuncGetAttribute(&value, which, function_), "asking for a kernel's figures");
            return value;
        };
        max_threads_ = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        static_shared_ = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
        registers_ = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
    } catch (...) {
        d.cuModuleUnload(module_);
        throw;
    }
    allowed_dynamic_ = without_opting_in - static_shared_;
}

CudaFunction::~CudaFunction() {
    try {
        const Current here(context_);
        driver().cuModuleUnload(module_);
    } catch (...) {
        // The context is lost, and the module with it.
    }
}

void CudaFunction::prepare_rare(const Shape& shape, const Limits& limits) {
    if (shape.block.count() > max_threads_)
        throw Error(
            Fault::user, "ValueError",
            fmt::format(
                "a block of ({}, {}, {}) has {} threads, and {} uses {} registers a thread, so that at "
                "most {} fit",
                shape.block.x, shape.block.y, shape.block.z, shape.block.count(), entry_, registers_,
                max_threads_),
            std::nullopt, "launch smaller blocks");
    const std::int64_t most = limits.shared_bytes_per_block_optin - static_shared_;
    if (shape.dynamic_shared_bytes > most)
        throw Error(
            Fault::user, "ValueError",
            fmt::format("{} bytes of dynamic shared memory: from 0 to {} are possible beside the {} that {} "
                        "declares",
                        shape.dynamic_shared_bytes, most, static_shared_, entry_));
    const std::lock_guard lock(mutex_);
    if (shape.dynamic_shared_bytes <= allowed_dynamic_.load()) return;
    check(driver().cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(most)),
          "opting in to more shared memory");
    allowed_dynamic_ = most;
}

void CudaFunction::require_resident(const Shape& shape, int multiprocessors) const {
    int blocks = 0;
    check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, function_, static_cast<int>(shape.block.count()),
              static_cast<std::size_t>(shape.dynamic_shared_bytes)),
          "asking how many blocks fit");
    const std::int64_t most = std::int64_t{blocks} * multiprocessors;
    if (shape.grid.count() <= most) return;
    throw Error(
        Fault::user, "ValueError",
        fmt::format("a grid of {} blocks of {} threads can't meet in grid.sync(): at most {} such blocks "
                    "can be resident on this GPU",
                    shape.grid.count(), shape.block.count(), most),
        std::nullopt, "launch fewer blocks, and let each thread loop over its elements");
}

}  // namespace xcuda::device::cuda
