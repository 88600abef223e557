#include "wire.hpp"

#include <stdexcept>

namespace xcuda::kernel {

namespace {

constexpr std::string_view delimiter = "<IDS|MSG>";

nl::json parsed(std::string_view text) { return text.empty() ? nl::json::object() : nl::json::parse(text); }

// xeus copies a comm_id into an array of this length, and writes past its end.
constexpr std::size_t longest_comm_id = 54;

// What is wrong with what a comm message names; null where nothing is. xeus does not look: it reads where a name that is
// not there would be.
const char* wrong_with_comm(std::string_view type, const nl::json& content) {
    const auto text = [&content](const char* name) -> const std::string* {
        const auto found = content.is_object() ? content.find(name) : content.end();
        return found != content.end() && found->is_string() ? &found->get_ref<const std::string&>() : nullptr;
    };
    const std::string* const id = text("comm_id");
    if (id && id->size() > longest_comm_id) {
        return "its comm_id is too long";
    }
    if (type != "comm_open" && type != "comm_msg" && type != "comm_close") {
        return nullptr;
    }
    if (!id) {
        return "it names no comm_id";
    }
    return type == "comm_open" && !text("target_name") ? "it names no target_name" : nullptr;
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
    if (const char* wrong =
            wrong_with_comm(parsed_header["msg_type"].get_ref<const std::string&>(), parsed_content)) {
        throw std::runtime_error(wrong);
    }
    return xeus::xmessage(identities, std::move(parsed_header), parsed(texts[1]), parsed(texts[2]),
                          std::move(parsed_content), std::move(buffers));
}

std::string to_text(const nl::json& value) {
    return value.dump(-1, ' ', false, nl::json::error_handler_t::replace);
}

}  // namespace xcuda::kernel
