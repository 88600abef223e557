#include "device/cuda/cubin.hpp"

#include <elf.h>

#include <cstring>
#include <string_view>

namespace xcuda::device::cuda {

namespace {

// Attributes of a .nv.info section: a format byte, the attribute's byte, then two bytes that are the value or, in
// the sized format, the length of what follows.
constexpr unsigned char sized = 4;
constexpr unsigned char frame_size = 0x11, register_count = 0x2f;  // (symbol, value), 32 bits each

constexpr std::int64_t reserved_shared_bytes = 1024;

struct Elf {
    std::span<const std::byte> bytes;
    std::span<const Elf64_Shdr> sections;
    std::string_view names;

    std::span<const std::byte> content(const Elf64_Shdr& s) const {
        if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes.size() || s.sh_size > bytes.size() - s.sh_offset)
            return {};
        return bytes.subspan(s.sh_offset, s.sh_size);
    }
    std::string_view name(const Elf64_Shdr& s) const {
        return s.sh_name < names.size() ? std::string_view(names.data() + s.sh_name) : std::string_view();
    }
    const Elf64_Shdr* find(std::string_view wanted) const {
        for (const Elf64_Shdr& s : sections)
            if (name(s) == wanted) return &s;
        return nullptr;
    }
};

bool read(std::span<const std::byte> bytes, Elf& elf) {
    Elf64_Ehdr head;
    if (bytes.size() < sizeof head) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return false;
    const std::size_t table = std::size_t{head.e_shnum} * sizeof(Elf64_Shdr);
    if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff % alignof(Elf64_Shdr) != 0 ||
        head.e_shoff > bytes.size() || table > bytes.size() - head.e_shoff || head.e_shstrndx >= head.e_shnum)
        return false;
    elf.bytes = bytes;
    elf.sections = {reinterpret_cast<const Elf64_Shdr*>(bytes.data() + head.e_shoff), head.e_shnum};
    const auto names = elf.content(elf.sections[head.e_shstrndx]);
    elf.names = {reinterpret_cast<const char*>(names.data()), names.size()};
    return !names.empty() && elf.names.back() == '\0';
}

std::uint32_t word(std::span<const std::byte> bytes, std::size_t at) {
    std::uint32_t out = 0;
    std::memcpy(&out, bytes.data() + at, sizeof out);
    return out;
}

/// The kernel's index in the table of symbols; 0 (the null symbol) where it is not there.
std::uint32_t symbol_of(const Elf& elf, std::string_view entry) {
    const Elf64_Shdr* table = elf.find(".symtab");
    if (!table || table->sh_link >= elf.sections.size()) return 0;
    const auto symbols = elf.content(*table);
    const auto texts = elf.content(elf.sections[table->sh_link]);
    for (std::size_t i = 0; (i + 1) * sizeof(Elf64_Sym) <= symbols.size(); ++i) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, symbols.data() + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name + entry.size() >= texts.size())
            continue;
        const char* name = reinterpret_cast<const char*>(texts.data()) + symbol.st_name;
        if (std::memcmp(name, entry.data(), entry.size()) == 0 && name[entry.size()] == '\0')
            return static_cast<std::uint32_t>(i);
    }
    return 0;
}

}  // namespace

Attributes cubin_attributes(std::span<const std::byte> cubin, const std::string& entry) {
    Attributes out;
    Elf elf;
    if (!read(cubin, elf)) return out;
    const std::uint32_t kernel = symbol_of(elf, entry);
    if (kernel == 0) return out;
    out.shared_bytes = 0;
    if (const Elf64_Shdr* shared = elf.find(".nv.shared." + entry)) {
        const auto bytes = static_cast<std::int64_t>(shared->sh_size);
        const bool reserved = elf.find(".nv.shared.reserved.0") && bytes >= reserved_shared_bytes;
        out.shared_bytes = bytes - (reserved ? reserved_shared_bytes : 0);
    }
    if (const Elf64_Shdr* section = elf.find(".nv.info")) {
        const auto info = elf.content(*section);
        for (std::size_t at = 0; at + 4 <= info.size();) {
            const auto format = static_cast<unsigned char>(info[at]),
                       what = static_cast<unsigned char>(info[at + 1]);
            const std::size_t length = format == sized ? word(info, at) >> 16 : 0;
            if (length == 8 && at + 12 <= info.size() && word(info, at + 4) == kernel) {
                const std::uint32_t value = word(info, at + 8);
                if (what == register_count) out.registers = static_cast<int>(value);
                if (what == frame_size) out.local_bytes = value;
            }
            at += 4 + length;
        }
    }
    return out;
}

}  // namespace xcuda::device::cuda
