#include "device/cuda/lost.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>

#include "device/cuda/driver.hpp"

namespace xcuda::device::cuda {

namespace {

struct Loss {
    CUresult by;
    std::string doing;
};
struct Known {
    std::mutex mutex;
    std::map<CUcontext, CUdevice> devices;
    std::map<CUdevice, Loss> losses;
};
Known& known() {
    static Known& all = *new Known;
    return all;
}

}  // namespace

void know(CUcontext context, CUdevice device) {
    const std::lock_guard lock(known().mutex);
    known().devices[context] = device;
}

std::optional<CUdevice> device_of(CUcontext context) {
    const std::lock_guard lock(known().mutex);
    const auto at = known().devices.find(context);
    return at == known().devices.end() ? std::nullopt : std::optional(at->second);
}

void lose(CUdevice device, CUresult by, const char* doing) {
    const std::lock_guard lock(known().mutex);
    known().losses.try_emplace(device, Loss{by, doing});
    any_lost = true;
}

int lost_by(CUdevice device) noexcept {
    if (!any_lost.load(std::memory_order_relaxed)) [[likely]]
        return 0;
    const std::lock_guard lock(known().mutex);
    const auto at = known().losses.find(device);
    return at == known().losses.end() ? 0 : static_cast<int>(at->second.by);
}

Error lost_error(CUdevice device) {
    Loss loss{CUDA_ERROR_UNKNOWN, "using it"};
    {
        const std::lock_guard lock(known().mutex);
        if (const auto at = known().losses.find(device); at != known().losses.end()) loss = at->second;
    }
    const char *name = nullptr, *words = nullptr;
    driver().cuGetErrorName(loss.by, &name);
    driver().cuGetErrorString(loss.by, &words);
    return Error(Fault::machine, "DeviceLostError",
                 fmt::format("cuda:{} is lost: {}, the CUDA driver answered {} ({}: {})", device, loss.doing,
                             name ? name : "an error without a name", static_cast<int>(loss.by),
                             words ? words : "no words for it"),
                 std::nullopt, "restart the process to use the GPU again");
}

void expect_usable(CUcontext context) {
    if (const auto device = device_of(context); device && lost_by(*device) != 0) throw lost_error(*device);
}

}  // namespace xcuda::device::cuda
