// The error of a call that does not fit a kernel's parameters, with what may have been meant.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace xcuda::python {

/// What other libraries take by name, at a launch or at the kernel, and stands in a launch's brackets here.
inline constexpr std::array<std::string_view, 10> of_the_launch = {
    "grid",    "block",  "griddim", "blockdim",     "blocks",
    "threads", "stream", "shared",  "shared_bytes", "sharedmem"};

/// `named`: the argument that the call gave by a name that no parameter has.
inline Error wrong_call_error(const std::string& kernel, const std::vector<std::string>& parameters,
                              const std::string& message, std::string_view named) {
    std::string advice;
    if (std::find(of_the_launch.begin(), of_the_launch.end(), named) != of_the_launch.end())
        advice =
            fmt::format("the shape and the stream stand in brackets: {}[grid, block, stream](...)", kernel);
    else if (!parameters.empty() && parameters[0] == "self")
        advice = "a kernel in a class is not given the object: take `self` out, and pass what it is to know";
    return Error(Fault::user, "TypeError",
                 fmt::format("{}({}) {}", kernel, fmt::join(parameters, ", "), message), std::nullopt,
                 advice);
}

}  // namespace xcuda::python
