// Which array an address is of, and which element: a launch's arguments, a block's shared arrays, a thread's local ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "launch/signature.hpp"
#include "launch/watch.hpp"

namespace xcuda::profile::check {

struct Range {
    std::uint64_t begin = 0, end = 0;
    int parameter = -1;  // of an argument
    int variable = -1;   // of a shared or local array, in the kernel's variables
    ir::Space space = ir::Space::global;
    std::uint64_t element = 1;  // bytes
    bool holds(std::uint64_t address) const { return begin <= address && address < end; }
};

class MemoryMap {
public:
    /// `thread`: the function whose variables its shared and local arrays are.
    MemoryMap(const ir::Module& module, const ir::Function& thread,
              std::span<const launch::Argument> arguments);

    /// A shared or local array of a thread (its number in the grid) that begins. True where its memory is fresh.
    bool lies(int variable, std::uint32_t thread, std::uint64_t address, std::uint64_t bytes);
    void begin_block();
    /// The array that an access at `site` is of; null where it is of none that is known.
    const Range* find(std::uint64_t address, std::int32_t site, std::uint32_t thread);
    /// "part[3]", "a[1, 2]".
    std::string element(std::uint64_t address, std::int32_t site, std::uint32_t thread);
    std::string name(const Range& range) const;
    /// Where in its array an address lies; empty where strides don't tell.
    std::vector<std::int64_t> index(const Range& range, std::uint64_t address) const;

private:
    std::span<const launch::Argument> arguments_;
    const ir::Module& module_;
    const ir::Function& thread_;
    std::vector<Range> given_, shared_;
    std::unordered_map<std::uint32_t, std::vector<Range>> local_;  // by thread
    std::vector<Range> last_;                                      // by site
};

}  // namespace xcuda::profile::check
