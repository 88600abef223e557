// The one way onto the iopub channel: any thread may publish, messages leave whole and in order.
//
// Lock order: the GIL is outermost; nothing here calls Python. Sockets may be used from several threads as
// long as a mutex separates them, which is what m_mutex does.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "wire.hpp"

namespace xcuda::kernel {

class publisher {
public:
    publisher(zmq::socket_t socket, const signer& key);

    // The names that every header carries; known once the kernel starts.
    void set_identity(const std::string& user, const std::string& session);

    // The request whose outputs follow.
    void set_parent(const nl::json& header);
    nl::json parent() const;

    // Content and metadata are JSON text.
    void publish(const std::string& type, std::string content, std::string metadata = "{}",
                 std::vector<std::string> buffers = {});

    // xeus's own messages, whose parent may be a request on the control channel.
    void forward(const xeus::xpub_message& message);

    // The debugger's events, signed already.
    void forward(zmq::multipart_t frames);

    // A header of the given type in this session.
    nl::json make_header(const std::string& type) const;

    // From then on nothing is sent.
    void close();

private:
    mutable std::mutex m_mutex;
    zmq::socket_t m_socket;
    signer m_key;
    std::string m_user, m_session;
    nl::json m_parent = nl::json::object();
    bool m_enabled = true;
};

}  // namespace xcuda::kernel
