// What the named numbers of a faulting line held, as far as the fault tells: from the thread's place, the lengths of the
// arrays, the index that was met, and elements that were read and are as they were.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/fault.hpp"
#include "launch/read_element.hpp"

namespace xcuda::launch {

/// "i = 200, k = 3" of the line of `fault.site`; empty where no name's value follows. `typed` is the module before the
/// passes of a device, `compiled` the sites after them; `shape`: null where the thread's place says nothing of its index;
/// `element`: null where the arrays may have changed since.
std::string named_values(const device::FaultRecord& fault, const ir::Module& typed,
                         std::span<const ir::Site> compiled, const device::Shape* shape,
                         const ArgumentShapes& shapes, const ElementReader& element = {});

}  // namespace xcuda::launch
