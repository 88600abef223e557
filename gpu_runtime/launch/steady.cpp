#include "launch/steady.hpp"

#include <algorithm>

#include "passes/fixed.hpp"

namespace xcuda::launch {
namespace {

template <class Visit>
void each_figure(std::span<const Argument> arguments, const Visit& visit) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& a = arguments[i];
        const auto parameter = static_cast<int>(i);
        if (!a.is_array) {
            if (is_integer(a.dtype) || a.dtype == DType::b1) visit(Fixed{parameter, -1, a.bits});
            continue;
        }
        for (int axis = 0; axis < a.ndim; ++axis) {
            const std::int64_t length = a.lengths[static_cast<std::size_t>(axis)];
            if (length <= Steady::small_length)
                visit(Fixed{parameter, axis, static_cast<std::uint64_t>(length)});
        }
    }
}

// Every integer and length that the kernel reads and does not assign, however long an axis is now.
std::vector<Fixed> those_read(ir::Module module, std::span<const Argument> arguments) {
    std::vector<passes::Known> all;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto parameter = static_cast<int>(i);
        if (!arguments[i].is_array) all.push_back({parameter, -1, 0});
        for (int axis = 0; arguments[i].is_array && axis < arguments[i].ndim; ++axis)
            all.push_back({parameter, axis, 0});
    }
    const std::vector<bool> read = passes::fix_arguments(module, all);
    std::vector<Fixed> out;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (read[i]) out.push_back({all[i].parameter, all[i].axis, 0});
    return out;
}

}  // namespace

std::shared_ptr<const Lowered> Steady::choose(Program& program, const std::shared_ptr<const Lowered>& general,
                                              std::span<const Argument> arguments) {
    for (const auto& variant : variants_)
        if (matches(variant->signature, arguments) && holds(variant->fixed, arguments)) return variant;
    if (variants_.size() >= most_variants) return general;

    if (signature_ != general->signature) {
        signature_ = general->signature;
        figures_.clear();
        read_ = those_read(general->module, arguments);
    }
    if (read_.empty()) return general;
    std::vector<Figure> now;
    std::vector<Fixed> steady;
    each_figure(arguments, [&](const Fixed& f) {
        const auto here = [&](const Fixed& r) { return r.parameter == f.parameter && r.axis == f.axis; };
        if (std::none_of(read_.begin(), read_.end(), here)) return;
        const auto before =
            std::find_if(figures_.begin(), figures_.end(), [&](const Figure& g) { return g.last == f; });
        now.push_back({f, before == figures_.end() ? 1 : before->calls + 1});
        if (now.back().calls >= calls_before) steady.push_back(f);
    });
    figures_ = std::move(now);
    if (steady.empty()) return general;
    const auto made = program.lower(general->signature, steady);
    variants_.push_back(made);
    return made;
}

}  // namespace xcuda::launch
