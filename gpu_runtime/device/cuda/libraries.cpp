#include "device/cuda/libraries.hpp"

#include <fmt/format.h>

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

}  // namespace

std::vector<Library> libraries() { return {of_driver(), of_nvrtc()}; }

}  // namespace xcuda::device::cuda
