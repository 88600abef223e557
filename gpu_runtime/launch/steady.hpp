// Which integers and small lengths stay the same from call to call: what a kernel may be specialised on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "launch/program.hpp"

namespace xcuda::launch {

class XCUDA_API Steady {
public:
    static constexpr int calls_before = 3;           // in a row with one value, then it counts as steady
    static constexpr std::size_t most_variants = 8;  // of a kernel; every other call runs the general version
    static constexpr std::int64_t small_length = 32;  // of an axis: loops of so few turns are worth unrolling

    /// The version for these arguments: one that was made for their figures, a new one where some have just become
    /// steady, else `general` (which is of their signature).
    std::shared_ptr<const Lowered> choose(Program& program, const std::shared_ptr<const Lowered>& general,
                                          std::span<const Argument> arguments);

    /// Nothing is left to find out for arguments of this signature.
    bool settled(const Signature& signature) const {
        return variants_.size() >= most_variants || (signature_ == signature && read_.empty());
    }

private:
    struct Figure {
        Fixed last;
        int calls = 0;  // in a row
    };
    Signature signature_;          // that the figures are of
    std::vector<Fixed> read_;      // which figures the kernel reads; their bits mean nothing
    std::vector<Figure> figures_;  // of the last call
    std::vector<std::shared_ptr<const Lowered>> variants_;
};

}  // namespace xcuda::launch
