// Starts a specialised kernel: packs, launches and records the event with the model of its work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "launch/fault.hpp"
#include "launch/program.hpp"
#include "launch/read_element.hpp"

namespace xcuda::launch {

/// Threads along each axis of cuda.grid that a call without a shape takes over these arguments. Throws a TypeError that
/// asks for [grid, block] where the kernel does not tell.
XCUDA_API std::vector<std::int64_t> domain_lengths(const Lowered& lowered,
                                                   std::span<const Argument> arguments,
                                                   const std::string& kernel);
/// The same by the hardware's axes, as a GPU's launch whose shape is ours lays them out.
XCUDA_API std::vector<std::int64_t> by_hardware_axis(const Lowered& lowered,
                                                     std::span<const std::int64_t> lengths);

/// The launch shape for a call that named none: from the kernel's domain over these arguments. Throws a TypeError
/// that asks for [grid, block] where the kernel does not tell.
XCUDA_API device::Shape shape_for(const Lowered& lowered, std::span<const Argument> arguments,
                                  const device::Info& device, const std::string& kernel);

/// The same for the kernel as it is written, a thread for each element and axis 0 of cuda.grid along x, whatever the device.
XCUDA_API device::Shape written_shape_for(const Lowered& lowered, std::span<const Argument> arguments,
                                          const device::Info& device, const std::string& kernel);

/// The shape with what the kernel itself asks for: that its whole grid is resident, room for what it prints.
device::Shape whole_shape(const Lowered& lowered, device::Shape shape);

/// A launch that was started, with what its fault needs to be told. A launch of no blocks has no `timing`, nor has one
/// that a graph captured.
struct Started {
    std::shared_ptr<const Specialisation> kernel;
    std::shared_ptr<device::Device::Launch> timing;
    std::shared_ptr<const Event> event;  // of it and its like: see event_of

    /// The error of a launch that is done; nothing where it went well. `element`: of arrays that are as they were.
    XCUDA_API std::optional<Error> error(const ElementReader& element = {}) const;
    /// What the threads of a launch that is done printed.
    XCUDA_API std::string printed() const;
};

/// `shape` has been checked; `arguments` match the specialisation's signature and are visible to the device.
XCUDA_API Started start(std::shared_ptr<const Specialisation> kernel, const device::Shape& shape,
                        bool automatic_shape, std::span<const Argument> arguments, device::Stream* stream);

/// What the log keeps of such launches, but for their times.
std::shared_ptr<const Event> event_of(const Specialisation& kernel, const device::Shape& shape,
                                      bool automatic_shape, std::span<const Argument> arguments);

}  // namespace xcuda::launch
