#include "wire.hpp"

namespace xcuda::kernel {

std::unique_ptr<xeus::xauthentication> make_signer(const std::string& scheme, const std::string& key) {
    return xeus::make_xauthentication(key.empty() ? "none" : scheme, key);
}

zmq::multipart_t to_frames(const wire_parts& parts, const xeus::xauthentication& signer) {
    auto raw = [](const std::string& text) {
        return xeus::xraw_buffer(reinterpret_cast<const unsigned char*>(text.data()), text.size());
    };
    zmq::multipart_t frames;
    for (const std::string& identity : parts.routing) {
        frames.addstr(identity);
    }
    frames.addstr("<IDS|MSG>");
    frames.addstr(signer.sign(raw(parts.header), raw(parts.parent), raw(parts.metadata), raw(parts.content)));
    frames.addstr(parts.header);
    frames.addstr(parts.parent);
    frames.addstr(parts.metadata);
    frames.addstr(parts.content);
    for (const std::string& buffer : parts.buffers) {
        frames.addstr(buffer);
    }
    return frames;
}

std::string to_text(const nl::json& value) {
    return value.dump(-1, ' ', false, nl::json::error_handler_t::replace);
}

}  // namespace xcuda::kernel
