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

// Most often a missing guard: the index is the thread's own place in the grid, beyond the end in an axis' last block. Where
// the block's length is not told, it follows from the index, if it is that place.
std::string guard_hint(const device::FaultRecord& f, const ir::Site& site, const device::Shape* launched) {
    if (site.parameter < 0) return {};  // a shared or local array is not what a grid is laid over
    const std::int64_t index = f.value[0];
    const std::int64_t axis = (f.kind >> 8) - 1;
    bool own = false;
    for (std::size_t k = 0; k < 3; ++k) {
        const std::int64_t thread = f.thread[k], block = f.block[k], before = index - thread;
        if (launched)
            own |= before == block * std::array{launched->block.x, launched->block.y, launched->block.z}[k];
        else if (block == 0)
            own |= before == 0 && thread > 0;
        else
            own |= before % (8 * block) == 0 && before / block > thread && before / block <= 1024;
    }
    if (!own || index < f.value[1] || site.subject.empty()) return {};
    return fmt::format(
        "threads come in whole blocks, and some lie beyond the end: a guard such as `if i < {}.shape[{}]:` "
        "keeps "
        "them out",
        site.subject, axis >= 0 ? axis : 0);
}

std::string other_site(std::span<const ir::Site> sites, std::int64_t index) {
    if (index < 0 || static_cast<std::size_t>(index) >= sites.size()) return "at another call";
    const ir::Site& site = sites[static_cast<std::size_t>(index)];
    return fmt::format("at {} in line {}", site.subject, site.place.line);
}

// value[0] is the site where others wait; value[1] says whether the grid was to meet.
std::string parted(const device::FaultRecord& f, const std::string& subject,
                   std::span<const ir::Site> sites) {
    return fmt::format("threads wait at {} and others {}: all threads of the {} must come to the same one",
                       subject, other_site(sites, f.value[0]), f.value[1] ? "grid" : "block");
}

// value[0] is the mask and above it a lane; value[1] the site where that lane waits, -1: it has ended, -2: the caller itself
// is not in the mask.
std::string wrong_mask(const device::FaultRecord& f, const std::string& subject,
                       std::span<const ir::Site> sites) {
    const auto mask = static_cast<std::uint32_t>(f.value[0]);
    if (f.value[1] == -2)
        return fmt::format("{} was called by a lane that its mask 0x{:08x} leaves out", subject, mask);
    return fmt::format(
        "{} with mask 0x{:08x} waits for lane {}, which waits {}: all lanes of a mask must come to the "
        "same call with the same mask",
        subject, mask, f.value[0] >> 32, other_site(sites, f.value[1]));
}

}  // namespace

Error fault_error(const device::FaultRecord& fault, std::span<const ir::Site> sites,
                  const ArgumentShapes& shapes, const device::Shape* launched) {
    using device::FaultKind;
    const auto kind = static_cast<FaultKind>(fault.kind & 0xff);
    if (kind == FaultKind::interrupted)
        return Error(Fault::user, "KeyboardInterrupt", "the kernel was interrupted");
    const ir::Site* site =
        fault.site >= 0 && static_cast<std::size_t>(fault.site) < sites.size() ? &sites[fault.site] : nullptr;
    std::string type, message, hint;
    switch (kind) {
        case FaultKind::index:
            type = "IndexError";
            if (site) hint = guard_hint(fault, *site, launched);
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
            message = parted(fault, site ? site->subject : "a barrier", sites);
            break;
        case FaultKind::warp:
            type = "RuntimeError";
            message = wrong_mask(fault, site ? site->subject : "a warp operation", sites);
            break;
        default:
            return bug(
                fmt::format("a launch ended with the unknown fault {} at site {}", fault.kind, fault.site));
    }
    if (site && site->place.known())
        message += fmt::format(", at line {} of {}", site->place.line, shown_file(site->place.file));
    message += ", " + where(fault);
    return Error(Fault::user, type, message, site ? std::optional<Place>(site->place) : std::nullopt, hint);
}

}  // namespace xcuda::launch
