// A fused kernel with its figures, compiled where its structure is new, and started.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays/structure.hpp"
#include "arrays/value.hpp"
#include "launch/launch.hpp"

namespace xcuda::arrays {

/// What a slot or an output of a structure stands for in one launch.
struct Memory {
    char* address = nullptr;  // of element 0 of the view
    View view;                // along all axes of the kernel; of an output along those of its threads
    std::uint64_t bits = 0, more_bits = 0;  // a number's
};

struct Kernel {
    Structure structure;
    std::vector<Memory> outputs, slots;
    std::vector<std::int64_t> figures;  // integers after the slots, the identity aside
    std::uint64_t identity = 0, more_identity = 0;
    std::optional<device::Shape> shape;  // of the launch, where it is not the compiler's choice
};

/// The axes of a view that its elements differ along (`all`: every one), slowest in memory first.
Axes axes_of(const View& view, bool all);

/// Where launches go, and who is told of them. `launched` may throw (a launch on the CPU device that was interrupted).
struct Queue {
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Stream> stream;
    std::function<void(launch::Started)> launched;
    // How kernels are compiled and laid out; the same one gives the same kernel.
    bool fast = false;  // they may contract and reorder floating arithmetic
    int threads = 0;    // of a block; 0: the compiler's choice
    int elements = 0;   // 1: no vectors of neighbours on a GPU; 0: the compiler's choice
};

/// What is known of a site in the user's program; set once by the floor that makes sites.
using PlaceOf = Place (*)(const Site&);
XCUDA_API void set_place_of(PlaceOf place_of);

/// One launch, as it follows from the graph: what is computed, and how many bytes of different elements are moved.
struct Launched {
    std::string text;  // "sqrt(a * a + b)", whole
    std::int64_t threads = 0, bytes_read = 0, bytes_written = 0;
    int arrays_read = 0, arrays_written = 0, operations = 0;
    bool folds = false;
};
/// Launches are told to `log` from now on; null: to nobody. Gives who was told before.
XCUDA_API std::vector<Launched>* watch(std::vector<Launched>* log);

/// Lengths are not 0.
void start(const Kernel& kernel, const Site& site, const Queue& queue);

/// Every structure met so far compiled for an architecture that need not be here, as its last launch would have it.
struct Targeted {
    std::string name, text;
    std::optional<int> registers;
    std::optional<std::int64_t> local_bytes;  // spills, and arrays that are not in registers
};
XCUDA_API std::vector<Targeted> compile_all_for(const std::string& architecture);

/// Kernels started since the process began, and how many structures they were of.
struct Counts {
    std::uint64_t launches = 0, structures = 0;
};
XCUDA_API Counts counts();

}  // namespace xcuda::arrays
