// Hardware counters of kernels, read by running each counted launch several times over (its memory is put back between).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace xcuda::device {

struct Counter {
    std::string key, unit;           // as the report has them
    double scale = 1;                // from the vendor's unit
    std::vector<std::string> names;  // the vendor's: the first that the GPU has
};

struct CounterValues {
    std::shared_ptr<const std::vector<Counter>> of;
    std::vector<double> values;  // in the report's units; not a number where the GPU has no such counter
    double seconds = 0;          // the kernel's time
};

/// While one lives, launches of ours have counters read: the first few of each kernel and shape. Each takes some 15 ms a
/// pass of the hardware, and nothing else may run beside it. Other libraries' kernels are left alone.
class XCUDA_API Counting {
public:
    Counting(std::vector<Counter> which, int launches);
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    /// Why there are none; empty where all is well so far.
    std::string problem() const;
    /// By launch; null where a launch could not be read after it had been disturbed. Launches must still be alive.
    std::map<const Device::Launch*, std::shared_ptr<const CounterValues>> counted() const;

private:
    bool on_ = false;
    std::string problem_;
};

/// For tests: which of the names a GPU's chip ("GH100") knows. Needs the profiling library, not a GPU; throws missing().
XCUDA_API std::vector<bool> known_counters(const std::string& chip, const std::vector<std::string>& names);

}  // namespace xcuda::device
