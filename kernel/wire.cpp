#include "wire.hpp"

#include <stdexcept>

namespace xcuda::kernel {

namespace {

constexpr std::string_view delimiter = "<IDS|MSG>";

nl::json parsed(std::string_view text) { return text.empty() ? nl::json::object() : nl::json::parse(text); }

// xeus copies a comm_id into an array of this length, and writes past its end.
constexpr std::size_t longest_comm_id = 54;

bool has_sound_comm_id(const nl::json& content) {
    if (!content.is_object()) {
        return true;
    }
    const auto id = content.find("comm_id");
    return id == content.end() || !id->is_string() ||
           id->get_ref<const std::string&>().size() <= longest_comm_id;
}

}  // namespace

zmq::multipart_t to_frames(const wire_parts& parts, const signer& key) {
    zmq::multipart_t frames;
    for (const std::string& identity : parts.routing) {
        frames.addstr(identity);
    }
    frames.addstr(std::string(delimiter));
    frames.addstr(key.sign({parts.header, parts.parent, parts.metadata, parts.content}));
    for (const std::string* text : {&parts.header, &parts.parent, &parts.metadata, &parts.content}) {
        frames.addstr(*text);
    }
    for (const std::string& buffer : parts.buffers) {
        frames.addstr(buffer);
    }
    return frames;
}

wire_parts to_parts(const xeus::xmessage_base& message) {
    wire_parts parts;
    parts.header = to_text(message.header());
    parts.parent = to_text(message.parent_header());
    parts.metadata = to_text(message.metadata());
    parts.content = to_text(message.content());
    for (const xeus::binary_buffer& buffer : message.buffers()) {
        parts.buffers.emplace_back(buffer.begin(), buffer.end());
    }
    return parts;
}

xeus::xmessage from_frames(zmq::multipart_t& frames, const signer& key) {
    std::vector<std::string> identities;
    while (!frames.empty() && frames.peek(0)->to_string_view() != delimiter) {
        identities.push_back(frames.popstr());
    }
    if (frames.size() < 6) {
        throw std::runtime_error("it lacks the delimiter, the signature or one of its four parts");
    }
    frames.pop();
    const std::string signature = frames.popstr();
    const zmq::message_t header = frames.pop(), parent = frames.pop(), metadata = frames.pop(),
                         content = frames.pop();
    const signer::frames texts = {header.to_string_view(), parent.to_string_view(), metadata.to_string_view(),
                                  content.to_string_view()};
    if (!key.verify(signature, texts)) {
        throw std::runtime_error("its signature is not made with this kernel's key");
    }
    xeus::buffer_sequence buffers;
    while (!frames.empty()) {
        const zmq::message_t buffer = frames.pop();
        const char* bytes = buffer.data<const char>();
        buffers.emplace_back(bytes, bytes + buffer.size());
    }
    nl::json parsed_header = parsed(texts[0]);
    if (!parsed_header.is_object() || !parsed_header.contains("msg_type") ||
        !parsed_header["msg_type"].is_string()) {
        throw std::runtime_error("its header names no msg_type");
    }
    nl::json parsed_content = parsed(texts[3]);
    if (!has_sound_comm_id(parsed_content)) {
        throw std::runtime_error("its comm_id is too long");
    }
    return xeus::xmessage(identities, std::move(parsed_header), parsed(texts[1]), parsed(texts[2]),
                          std::move(parsed_content), std::move(buffers));
}

std::string to_text(const nl::json& value) {
    return value.dump(-1, ' ', false, nl::json::error_handler_t::replace);
}

}  // namespace xcuda::kernel
