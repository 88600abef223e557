#include "emit/arguments.hpp"

namespace xcuda::emit {

namespace {

ArgumentLayout parameters_layout(const ir::Function& kernel) {
    constexpr std::size_t word = 8;
    ArgumentLayout layout;
    for (const ir::VarId p : kernel.params) {
        const ir::Type& type = kernel.vars[static_cast<std::size_t>(p)].type;
        const int ndim = type.is_array() ? type.ndim : -1;
        layout.slots.push_back({layout.bytes, ndim});
        layout.bytes += word * (type.is_array()             ? 1 + 2 * static_cast<std::size_t>(ndim)
                                : type.dtype == DType::c128 ? 2
                                                            : 1);
    }
    return layout;
}

}  // namespace

std::size_t argument_bytes(const ir::Function& kernel) { return parameters_layout(kernel).bytes; }

ArgumentLayout argument_layout(const ir::Module& module) {
    ArgumentLayout layout = parameters_layout(module.kernel());
    for (const ir::TensorMap& map : module.maps) {
        layout.bytes = (layout.bytes + MapSlot::alignment - 1) / MapSlot::alignment * MapSlot::alignment;
        layout.maps.push_back({layout.bytes, static_cast<std::size_t>(map.parameter), map.box});
        layout.bytes += MapSlot::bytes;
    }
    return layout;
}

}  // namespace xcuda::emit
