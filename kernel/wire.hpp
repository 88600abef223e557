// Jupyter messages as frames on a ZeroMQ socket, signed; contents come as JSON text and are not parsed again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "xeus_compat.hpp"
#include "zmq_addon.hpp"

namespace xcuda::kernel {

struct wire_parts {
    std::vector<std::string> routing;  // identities of a reply, or the topic of a broadcast
    std::string header = "{}";
    std::string parent = "{}";
    std::string metadata = "{}";
    std::string content = "{}";
    std::vector<std::string> buffers;
};

// Signs with the connection file's key; an empty key means unsigned messages.
std::unique_ptr<xeus::xauthentication> make_signer(const std::string& scheme, const std::string& key);

zmq::multipart_t to_frames(const wire_parts& parts, const xeus::xauthentication& signer);

// JSON text that is always valid UTF-8: what is not becomes U+FFFD.
std::string to_text(const nl::json& value);

}  // namespace xcuda::kernel
