#include "device/counters.hpp"

#ifdef XCUDA_CUDA_DEVICE
#include "device/cuda/counters.hpp"
#endif

namespace xcuda::device {

#ifdef XCUDA_CUDA_DEVICE

Counting::Counting(std::vector<Counter> which, int launches) {
    bool gpu = false;
    for (const auto& device : devices()) gpu |= device->info().kind == "cuda";
    problem_ = gpu ? cuda::start_counting(std::move(which), launches)
                   : "hardware counters are a GPU's, and there is none here";
    on_ = problem_.empty();
}
Counting::~Counting() {
    if (on_) cuda::stop_counting();
}
std::string Counting::problem() const { return on_ ? cuda::counting_problem() : problem_; }
std::map<const Device::Launch*, std::shared_ptr<const CounterValues>> Counting::counted() const {
    if (on_) return cuda::counted_launches();
    return {};
}
std::vector<bool> known_counters(const std::string& chip, const std::vector<std::string>& names) {
    return cuda::known_counters(chip, names);
}

#else

Counting::Counting(std::vector<Counter>, int) : problem_("this build has no CUDA device") {}
Counting::~Counting() = default;
std::string Counting::problem() const { return problem_; }
std::map<const Device::Launch*, std::shared_ptr<const CounterValues>> Counting::counted() const { return {}; }
std::vector<bool> known_counters(const std::string&, const std::vector<std::string>&) {
    throw missing("counters: this build has no CUDA device", "build xcuda with -DXCUDA_CUDA_DEVICE=ON");
}

#endif

}  // namespace xcuda::device
