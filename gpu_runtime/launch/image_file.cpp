#include "launch/image_file.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace xcuda::launch {

namespace {

constexpr std::string_view magic = "xcuda kernel 1\n";  // the number rises with this layout

XXH128_canonical_t checksum(std::string_view bytes) {
    XXH128_canonical_t out;
    XXH128_canonicalFromHash(&out, XXH3_128bits(bytes.data(), bytes.size()));
    return out;
}

void put(std::string& out, std::int64_t number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& out, std::string_view text) {
    put(out, static_cast<std::int64_t>(text.size()));
    out.append(text);
}

template <class T>
void put(std::string& out, const std::optional<T>& number) {
    put(out, std::int64_t{number.has_value()});
    put(out, static_cast<std::int64_t>(number.value_or(0)));
}

struct Reader {
    std::string_view bytes;
    bool good = true;

    std::string_view take(std::uint64_t count) {
        if (count > bytes.size()) good = false, count = 0;
        const std::string_view out = bytes.substr(0, count);
        bytes.remove_prefix(count);
        return out;
    }
    std::int64_t number() {
        std::int64_t out = 0;
        const std::string_view from = take(sizeof out);
        if (good) std::memcpy(&out, from.data(), sizeof out);
        return out;
    }
    std::string_view text() { return take(static_cast<std::uint64_t>(number())); }
    template <class T>
    void optional(std::optional<T>& out) {
        const bool there = number() != 0;
        const auto value = static_cast<T>(number());
        if (there) out = value;
    }
};

}  // namespace

std::string to_file(const device::Image& image) {
    std::string body;
    put(body, image.entry);
    put(body, image.attributes.registers);
    put(body, image.attributes.local_bytes);
    put(body, image.attributes.shared_bytes);
    put(body, image.attributes.max_threads_per_block);
    put(body, std::string_view(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()));
    const XXH128_canonical_t sum = checksum(body);
    std::string file(magic);
    file.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    return file += body;
}

std::optional<device::Image> from_file(std::string_view bytes) {
    Reader reader{bytes};
    if (reader.take(magic.size()) != magic) return std::nullopt;
    XXH128_canonical_t sum;
    const std::string_view written = reader.take(sizeof sum);
    if (!reader.good) return std::nullopt;
    sum = checksum(reader.bytes);
    if (std::memcmp(written.data(), &sum, sizeof sum) != 0) return std::nullopt;
    device::Image image;
    image.entry = reader.text();
    reader.optional(image.attributes.registers);
    reader.optional(image.attributes.local_bytes);
    reader.optional(image.attributes.shared_bytes);
    reader.optional(image.attributes.max_threads_per_block);
    const std::string_view code = reader.text();
    if (!reader.good || !reader.bytes.empty()) return std::nullopt;
    image.bytes.resize(code.size());
    if (!code.empty()) std::memcpy(image.bytes.data(), code.data(), code.size());
    return image;
}

}  // namespace xcuda::launch
