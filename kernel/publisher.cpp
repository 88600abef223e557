#include "publisher.hpp"

namespace xcuda::kernel {

publisher::publisher(zmq::socket_t socket, const signer& key) : m_socket(std::move(socket)), m_key(key) {}

void publisher::set_identity(const std::string& user, const std::string& session) {
    std::lock_guard lock(m_mutex);
    m_user = user;
    m_session = session;
}

void publisher::set_parent(const nl::json& header) {
    std::lock_guard lock(m_mutex);
    m_parent = header;
}

nl::json publisher::parent() const {
    std::lock_guard lock(m_mutex);
    return m_parent;
}

nl::json publisher::make_header(const std::string& type) const {
    std::string user, session;
    {
        std::lock_guard lock(m_mutex);
        user = m_user;
        session = m_session;
    }
    return xeus::make_header(type, user, session);
}

void publisher::publish(const std::string& type, std::string content, std::string metadata,
                        std::vector<std::string> buffers) {
    wire_parts parts;
    parts.routing = {"kernel." + type};
    parts.header = to_text(make_header(type));
    parts.metadata = std::move(metadata);
    parts.content = std::move(content);
    parts.buffers = std::move(buffers);
    std::lock_guard lock(m_mutex);
    if (m_enabled) {
        parts.parent = to_text(m_parent);
        to_frames(parts, m_key).send(m_socket);
    }
}

void publisher::forward(const xeus::xpub_message& message) {
    wire_parts parts = to_parts(message);
    parts.routing = {message.topic()};
    forward(to_frames(parts, m_key));
}

void publisher::forward(zmq::multipart_t frames) {
    std::lock_guard lock(m_mutex);
    if (m_enabled) {
        frames.send(m_socket);
    }
}

void publisher::close() {
    std::lock_guard lock(m_mutex);
    m_enabled = false;
    m_socket.close();
}

}  // namespace xcuda::kernel
