#include "device/cuda/libraries.hpp"

#include <fmt/format.h>

#include "device/cuda/activity.hpp"
#include "device/cuda/cupti.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/nvrtc.hpp"

namespace xcuda::device::cuda {

namespace {

Library of_driver() {
    Library row{"NVIDIA driver", "runs kernels on a GPU", {}, {}, {}, {}, {}};
    if (const Driver* d = find_driver(&row.problem)) {
        row.version = "CUDA " + version_text(d->version);
        row.file = d->found.file.string();
        row.from = d->found.from;
    } else {
        row.advice =
            "install NVIDIA's driver on a machine with a GPU; kernels run on the CPU device without it";
    }
    return row;
}

Library of_nvrtc() {
    Library row{"NVRTC", "compiles kernels for a GPU", {}, {}, {}, {}, {}};
    try {
        const Nvrtc& n = nvrtc();
        row.version = fmt::format("CUDA {}, for sm_{} to sm_{}", version_text(n.version),
                                  n.architectures.front(), n.architectures.back());
        row.file = n.found.file.string();
        row.from = n.found.from;
    } catch (const Error& error) {
        row.problem = error.what();
        row.advice = error.hint;
    }
    return row;
}

Library of_cupti() {
    Library row{"CUPTI", "shows reports other libraries' kernels and hardware counters", {}, {}, {}, {}, {}};
    if (const Cupti* c = find_cupti(&row.problem, &row.advice)) {
        row.version = watch_source();
        if (!c->no_counters.empty()) row.version += ", without hardware counters (those need CUDA 12.6)";
        row.file = c->found.file.string();
        row.from = c->found.from;
    }
    return row;
}

}  // namespace

std::vector<Library> libraries() { return {of_driver(), of_nvrtc(), of_cupti()}; }

}  // namespace xcuda::device::cuda
