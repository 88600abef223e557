#include "launch/arguments.hpp"

#include <cstring>

namespace xcuda::launch {

void pack(const emit::ArgumentLayout& layout, std::span<const Argument> arguments, device::Device& device,
          std::byte* to) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& a = arguments[i];
        std::byte* slot = to + layout.slots[i].offset;
        if (!a.is_array) {
            std::memcpy(slot, &a.bits, 8);
            if (a.dtype == DType::c128) std::memcpy(slot + 8, &a.more_bits, 8);
            continue;
        }
        const auto lengths = static_cast<std::size_t>(a.ndim) * 8;
        std::memcpy(slot, &a.address, 8);
        std::memcpy(slot + 8, a.lengths.data(), lengths);
        std::memcpy(slot + 8 + lengths, a.strides.data(), lengths);
    }
    for (const emit::MapSlot& map : layout.maps) {
        const Argument& a = arguments[map.parameter];
        const auto axes = static_cast<std::size_t>(a.ndim);
        device.describe_boxes(
            std::span<std::byte, emit::MapSlot::bytes>(to + map.offset, emit::MapSlot::bytes),
            {a.dtype, a.address, {a.lengths.data(), axes}, {a.strides.data(), axes}, map.box});
    }
}

}  // namespace xcuda::launch
