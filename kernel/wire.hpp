// Jupyter messages as frames on a ZeroMQ socket, signed; contents go out as JSON text and are not parsed
// again.
#pragma once

#include <string>
#include <vector>

#include "signer.hpp"
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

zmq::multipart_t to_frames(const wire_parts& parts, const signer& key);

// What xeus made, as parts; routing is left to the caller.
wire_parts to_parts(const xeus::xmessage_base& message);

// Throws std::runtime_error saying what is wrong with the frames.
xeus::xmessage from_frames(zmq::multipart_t& frames, const signer& key);

// JSON text that is always valid UTF-8: what is not becomes U+FFFD.
std::string to_text(const nl::json& value);

}  // namespace xcuda::kernel
