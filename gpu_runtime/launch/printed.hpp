// What a launch's threads printed, as the text that Python would have written.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/dtype.hpp"
#include "ir/module.hpp"

namespace xcuda::launch {

/// The text of a launch's print buffer (device::PrintBuffer and its words), block by block, within one as its threads came;
/// `as_they_came`: in the order of the whole grid. Ends with a line that tells how many records did not fit.
XCUDA_API std::string printed_text(const std::uint64_t* buffer, std::span<const ir::Site> sites,
                                   bool as_they_came);

/// A number as Python prints it; `bits` holds it in its low bytes.
XCUDA_API std::string printed_number(std::uint64_t bits, DType dtype);

}  // namespace xcuda::launch
