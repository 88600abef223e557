#include "launch/fault.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace xcuda::launch {
namespace {

std::string tuple(std::span<const std::int64_t> values) {
    std::string text = "(";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
    return text + (values.size() == 1 ? ",)" : ")");
}

std::string where(const device::FaultRecord& f) {
    return fmt::format("thread ({}, {}, {}) of block ({}, {}, {})", f.thread[0], f.thread[1], f.thread[2],
                       f.block[0], f.block[1], f.block[2]);
}

// value[0] is the index met, value[1] the axis' length; the axis plus one is the kind's second byte (0: not told).
std::string out_of_range(const device::FaultRecord& f, const ir::Site& site, const ArgumentShapes& shapes) {
    std::vector<std::int64_t> shape = site.extents;
    if (site.parameter >= 0 && static_cast<std::size_t>(site.parameter) < shapes.size())
        shape = shapes[static_cast<std::size_t>(site.parameter)];
    std::int64_t axis = (f.kind >> 8) - 1;
    if (axis < 0) {  // told by its length alone where only one axis has it
        int candidates = 0;
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (shape[i] == f.value[1]) axis = static_cast<std::int64_t>(i), ++candidates;
        if (candidates != 1) axis = -1;
    }
    const std::string of_axis = axis >= 0 ? fmt::format("axis {} of ", axis)
                                          : "an axis of length " + std::to_string(f.value[1]) + " of ";
    if (shape.empty())
        return fmt::format("index {} is out of range for {}{} with length {}", f.value[0], of_axis,
                           site.subject, f.value[1]);
    return fmt::format("index {} is out of range for {}{} with shape {}", f.value[0], of_axis, site.subject,
                       tuple(shape));
}

}  // namespace

Error fault_error(const device::FaultRecord& fault, std::span<const ir::Site> sites,
                  const ArgumentShapes& shapes) {
    using device::FaultKind;
    const auto kind = static_cast<FaultKind>(fault.kind & 0xff);
    if (kind == FaultKind::interrupted)
        return Error(Fault::user, "KeyboardInterrupt", "the kernel was interrupted");
    const ir::Site* site =
        fault.site >= 0 && static_cast<std::size_t>(fault.site) < sites.size() ? &sites[fault.site] : nullptr;
    std::string type, message;
    switch (kind) {
        case FaultKind::index:
            type = "IndexError";
            message = site ? out_of_range(fault, *site, shapes)
                           : fmt::format("index {} is out of range for an axis of length {}", fault.value[0],
                                         fault.value[1]);
            break;
        case FaultKind::zero_division:
            type = "ZeroDivisionError";
            message = site && !site->message.empty() ? site->message : "integer division or modulo by zero";
            break;
        case FaultKind::assertion:
            type = "AssertionError";
            message = site && !site->message.empty() ? site->message : "assertion failed";
            break;
        case FaultKind::raised:
            type = site && !site->subject.empty() ? site->subject : "RuntimeError";
            message = site && !site->message.empty() ? site->message : "raised";
            break;
        case FaultKind::unbound:
            type = "UnboundLocalError";
            message = fmt::format("'{}' is read before it has a value", site ? site->subject : "a variable");
            break;
        case FaultKind::barrier:
            type = "RuntimeError";
            message = "not all threads of the block reached the same syncthreads()";
            break;
        default:
            return bug(
                fmt::format("a launch ended with the unknown fault {} at site {}", fault.kind, fault.site));
    }
    if (site && site->place.known())
        message += fmt::format(", at line {} of {}", site->place.line, shown_file(site->place.file));
    message += ", " + where(fault);
    return Error(Fault::user, type, message, site ? std::optional<Place>(site->place) : std::nullopt);
}

}  // namespace xcuda::launch
