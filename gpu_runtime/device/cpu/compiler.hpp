// The compiler module, opened at the first compile or load: clang and LLVM stay out of the process until
// then.
#pragma once

#include <memory>
#include <string>

#include "device/cpu/abi.hpp"
#include "device/device.hpp"

namespace xcuda::device::cpu {

/// "clang 19.1.7, x86-64-v4 0123456789abcdef, abi 1"; known without opening the module.
std::string toolchain();
/// Throws missing() without the module, bug() if the text does not compile.
Image compile(const Source& source);
std::string assembly(const Source& source);

/// A kernel linked into this process.
class Kernel : public Function {
public:
    explicit Kernel(const Image& image);
    ~Kernel() override;

    RunFunction run = nullptr;      // null for a box kernel
    UnitsFunction units = nullptr;  // null: one piece a block
    const Cut* cut = nullptr;       // of a box kernel; so the next three
    DomainFunction domain = nullptr;
    BoxFunction threads = nullptr;
    TilesFunction tiles = nullptr;  // may be null
    std::size_t shared_bytes = 0;   // static ones, or the room left for them where the kernel does not say
    std::size_t frame_bytes = 0;

private:
    void* handle_ = nullptr;
};

}  // namespace xcuda::device::cpu
