#include "server.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include "connection.hpp"
#include "interrupt.hpp"
#include "polling.hpp"

namespace xcuda::kernel {

namespace {

std::string text_of(const nl::json& header, const char* name) {
    const auto found = header.find(name);
    return found != header.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

server::server(zmq::context_t& shared_context, const xeus::xconfiguration& config)
    : m_config(config),
      m_key(config.m_signature_scheme, config.m_key),
      m_shell(bind_channel(m_context, zmq::socket_type::router, config, config.m_shell_port)),
      m_control(bind_channel(m_context, zmq::socket_type::router, config, config.m_control_port)),
      m_stdin(bind_channel(m_context, zmq::socket_type::router, config, config.m_stdin_port)),
      m_heartbeat(bind_channel(m_context, zmq::socket_type::router, config, config.m_hb_port)),
      m_events(shared_context, zmq::socket_type::sub),
      m_output(bind_channel(m_context, zmq::socket_type::pub, config, config.m_iopub_port), m_key),
      m_streams(m_output),
      m_wake_shell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_wake_others(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    m_events.set(zmq::sockopt::linger, 0);
    m_events.set(zmq::sockopt::subscribe, "");
    m_events.bind(xeus::get_publisher_end_point());
}

server::~server() {
    m_streams.stop();
    m_output.close();
    ::close(m_wake_shell);
    ::close(m_wake_others);
}

void server::request_stop() {
    m_stopping = true;
    signal_event(m_wake_shell);
    signal_event(m_wake_others);
}

void server::stop_from_outside() {
    request_stop();
    interrupt_main_thread();  // a cell that still runs would keep the kernel alive
}

void server::close_channels() {
    m_output.close();
    for (zmq::socket_t* socket : {&m_shell, &m_control, &m_stdin, &m_heartbeat}) {
        socket->close();
    }
    m_context.close();
}

// ---- messages out ----

void server::send_shell_impl(xeus::xmessage message) {
    nl::json content = message.content();
    if (message.header().value("msg_type", "") == "execute_reply") {
        content["execution_count"] = m_execution_count;
        if (content.value("status", "") == "error") {
            // Only what the client sent before it could see this failure is aborted.
            fetch_waiting_requests();
        }
    }
    wire_parts parts = to_parts(message);
    parts.routing = message.identities();
    parts.content = to_text(content);
    to_frames(parts, m_key).send(m_shell);
    m_current.answered = true;
}

void server::send_control_impl(xeus::xmessage message) {
    wire_parts parts = to_parts(message);
    parts.routing = message.identities();
    to_frames(parts, m_key).send(m_control);
}

void server::send_stdin_impl(xeus::xmessage message) {
    wire_parts parts = to_parts(message);
    parts.routing = message.identities();
    to_frames(parts, m_key).send(m_stdin);
}

void server::publish_impl(xeus::xpub_message message, xeus::channel channel) {
    const std::string type = message.header().value("msg_type", "");
    if (channel == xeus::channel::SHELL) {
        m_streams.flush();
    }
    if (type == "execute_input") {
        nl::json content = message.content();
        content["execution_count"] = m_execution_count;
        m_output.publish(type, to_text(content));
        return;
    }
    m_output.forward(message);
}

void server::publish_status(const char* state) {
    m_streams.flush();
    m_output.publish("status", to_text({{"execution_state", state}}));
}

void server::send_reply(const xeus::xmessage& request, const std::string& type, const nl::json& content) {
    wire_parts parts;
    parts.routing = request.identities();
    parts.header = to_text(m_output.make_header(type));
    parts.parent = to_text(request.header());
    parts.metadata = to_text({{"status", content.value("status", "ok")}});
    parts.content = to_text(content);
    to_frames(parts, m_key).send(m_shell);
}

// ---- messages in ----

bool server::receive(zmq::socket_t& socket, xeus::xmessage& message) {
    zmq::multipart_t frames;
    try {
        if (!frames.recv(socket, ZMQ_DONTWAIT)) {
            return false;
        }
        message = from_frames(frames, m_key);
        return true;
    } catch (const std::exception& error) {
        m_streams.log(std::string("xcuda kernel: a message was dropped: ") + error.what() + "\n");
        return false;
    }
}

void server::fetch_waiting_requests() {
    std::vector<zmq::pollitem_t> items{{m_shell, 0, ZMQ_POLLIN, 0}};
    while (poll_items(items, 0) && readable(items[0])) {
        xeus::xmessage message;
        if (receive(m_shell, message)) {
            m_waiting.push_back(std::move(message));
        }
    }
}

void server::handle_shell(xeus::xmessage message) {
    m_streams.flush();  // what is buffered belongs to the request before this one
    m_current = {message.identities(), message.header(), false};
    m_output.set_parent(m_current.header);
    {
        std::lock_guard lock(m_sent_mutex);
        m_sent_by = text_of(m_current.header, "session");
        m_sent_at = text_of(m_current.header, "date");
        m_began = std::chrono::steady_clock::now();
    }
    const std::string type = m_current.header.value("msg_type", "");
    std::string fault = "the kernel could not handle this " + type;
    try {
        notify_shell_listener(std::move(message));
    } catch (const std::exception& error) {
        fault += std::string(": ") + error.what();
    }
    if (!m_current.answered && type.ends_with("_request")) {
        reply_with_fault(fault);
    }
    m_current.answered = true;
}

// Whether a client sent a message before the request that is being handled, which it sent too: by its own clock, which is
// believed while such a message can still be on its way, since a clock that was set back must not forbid interrupts.
bool server::sent_before_current(const nl::json& header) const {
    const auto digits = [](std::string date) { return date.substr(0, date.find_first_of("Z+")); };
    const std::string session = text_of(header, "session"), date = digits(text_of(header, "date"));
    std::lock_guard lock(m_sent_mutex);
    return std::chrono::steady_clock::now() - m_began < std::chrono::seconds(2) && !session.empty() &&
           session == m_sent_by && !date.empty() && date < digits(m_sent_at);
}

void server::reply_with_fault(const std::string& fault) {
    std::string type = m_current.header.value("msg_type", "");
    type.replace(type.size() - std::string("request").size(), std::string::npos, "reply");
    xeus::xmessage request(m_current.identities, m_current.header, nl::json::object(), nl::json::object(),
                           nl::json::object(), {});
    send_reply(
        request, type,
        {{"status", "error"}, {"ename", "KernelFault"}, {"evalue", fault}, {"traceback", nl::json::array()}});
}

void server::abort_queue_impl(const listener&, long) {
    std::deque<xeus::xmessage> kept;
    for (xeus::xmessage& message : m_waiting) {
        if (message.header().value("msg_type", "") != "execute_request") {
            kept.push_back(std::move(message));
            continue;
        }
        m_output.set_parent(message.header());
        publish_status("busy");
        send_reply(message, "execute_reply", {{"status", "aborted"}});
        publish_status("idle");
    }
    m_waiting = std::move(kept);
    m_output.set_parent(m_current.header);
}

bool server::ask_input(const std::string& prompt, bool password, const std::function<bool()>& keep_waiting,
                       std::string& answer) {
    std::lock_guard lock(m_input_mutex);
    m_streams.flush();
    xeus::xmessage reply;
    std::vector<zmq::pollitem_t> items{{m_stdin, 0, ZMQ_POLLIN, 0}};
    while (poll_items(items, 0) && readable(items[0])) {
        receive(m_stdin, reply);  // an answer to a question that was interrupted
    }
    wire_parts parts;
    parts.routing = m_current.identities;
    parts.header = to_text(m_output.make_header("input_request"));
    parts.parent = to_text(m_current.header);
    parts.content = to_text({{"prompt", prompt}, {"password", password}});
    to_frames(parts, m_key).send(m_stdin);
    while (keep_waiting()) {
        if (poll_items(items, 100) && readable(items[0]) && receive(m_stdin, reply)) {
            answer = reply.content().value("value", "");
            return true;
        }
    }
    return false;
}

}  // namespace xcuda::kernel
