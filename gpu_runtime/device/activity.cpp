#include "device/activity.hpp"

#include "base/clock.hpp"
#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/activity.hpp"
#endif

namespace xcuda::device {

#ifdef XCUDA_CUDA_DEVICE

Watch::Watch(bool overlapping) : began_(now()) {
    bool gpu = false;
    for (const auto& device : devices()) gpu |= device->info().kind == "cuda";
    if (!gpu) return;
    problem_ = cuda::start_watching(overlapping);
    on_ = problem_.empty();
}

Watch::~Watch() {
    if (on_) cuda::stop_watching();
}

std::string Watch::source() const { return on_ ? cuda::watch_source() : std::string(); }
bool Watch::overlaps() const { return on_ && cuda::watch_overlaps(); }
Activities Watch::seen(double seconds) { return on_ ? cuda::watched_since(began_, seconds) : Activities(); }

void look_at_launches() noexcept {
    try {
        cuda::look_at_launches();
    } catch (...) {
        // Told where the launch is waited for.
    }
}

#else

void look_at_launches() noexcept {}
Watch::Watch(bool) : began_(now()) {}
Watch::~Watch() = default;
std::string Watch::source() const { return {}; }
bool Watch::overlaps() const { return false; }
Activities Watch::seen(double) { return {}; }

#endif

}  // namespace xcuda::device
