// Where a run of bytes may be cut without cutting a UTF-8 character.
#pragma once

#include <string_view>

namespace xcuda::kernel {

// Length of the longest prefix that does not end inside a character. Bytes that can't be UTF-8 count as
// whole.
inline std::size_t complete_prefix(std::string_view bytes) {
    const std::size_t size = bytes.size();
    for (std::size_t back = 1; back <= 3 && back <= size; ++back) {
        const unsigned char byte = static_cast<unsigned char>(bytes[size - back]);
        if ((byte & 0xC0) == 0x80) {
            continue;
        }
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return length > back ? size - back : size;
    }
    return size;
}

}  // namespace xcuda::kernel
