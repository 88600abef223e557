// The host as LLVM names it: what every kernel is compiled for.
#pragma once

#include <string>
#include <vector>

namespace xcuda::device::cpu {

struct HostTarget {
    std::string triple;                 // "x86_64-unknown-linux-gnu"
    std::string processor;              // "sapphirerapids"
    std::vector<std::string> features;  // "+avx512f", ...
    int vector_bits = 128;              // widest register worth filling
};

const HostTarget& host_target();

}  // namespace xcuda::device::cpu
