// The server's threads: what each waits for, and when it ends.
#include <unistd.h>

#include <cstdlib>

#include "background.hpp"
#include "interrupt.hpp"
#include "polling.hpp"
#include "server.hpp"

namespace xcuda::kernel {

void server::start_impl(xeus::xpub_message message) {
    m_output.set_identity(message.header().value("username", ""), message.header().value("session", ""));
    m_output.forward(message);
    std::thread others[] = {
        start_background("xcuda-control", [this] { serve_control(); }),
        start_background("xcuda-heart", [this] { serve_heartbeat(); }),
        start_background("xcuda-events", [this] { serve_debugger_events(); }),
    };
    serve_shell();
    for (std::thread& thread : others) {
        thread.join();
    }
    m_streams.flush();
}

void server::serve_shell() {
    wake_by(m_wake_shell);
    while (!m_stopping) {
        const idle_work idle = m_pump ? m_pump() : idle_work{};
        std::vector<zmq::pollitem_t> items{{m_shell, 0, ZMQ_POLLIN, 0},
                                           {nullptr, m_wake_shell, ZMQ_POLLIN, 0}};
        if (idle.descriptor >= 0) {
            items.push_back({nullptr, idle.descriptor, ZMQ_POLLIN, 0});
        }
        if (!poll_items(items, m_waiting.empty() ? idle.timeout_ms : 0)) {
            continue;
        }
        if (readable(items[1])) {
            std::uint64_t ignored_count;
            [[maybe_unused]] ssize_t ignored = ::read(m_wake_shell, &ignored_count, sizeof ignored_count);
            serve_internal();
        }
        if (!m_waiting.empty()) {
            xeus::xmessage message = std::move(m_waiting.front());
            m_waiting.pop_front();
            handle_shell(std::move(message));
        } else if (readable(items[0])) {
            xeus::xmessage message;
            if (receive(m_shell, message)) {
                handle_shell(std::move(message));
            }
        }
    }
    serve_internal();
}

void server::serve_control() {
    std::vector<zmq::pollitem_t> items{{m_control, 0, ZMQ_POLLIN, 0},
                                       {nullptr, m_wake_others, ZMQ_POLLIN, 0}};
    while (!m_stopping) {
        if (!poll_items(items, -1) || !readable(items[0])) {
            continue;
        }
        xeus::xmessage message;
        if (!receive(m_control, message)) {
            continue;
        }
        // Of two sockets the later message may come first: an interrupt is of what ran when it was sent.
        if (message.header().value("msg_type", "") == "interrupt_request" &&
            !sent_before_current(message.header())) {
            interrupt_main_thread();
        }
        try {
            notify_control_listener(std::move(message));
        } catch (const std::exception& error) {
            m_streams.log(std::string("xcuda kernel: on the control channel: ") + error.what() + "\n");
        }
    }
}

void server::serve_heartbeat() {
    const bool has_parent = std::getenv("JPY_PARENT_PID") != nullptr;
    const pid_t parent = ::getppid();
    std::vector<zmq::pollitem_t> items{{m_heartbeat, 0, ZMQ_POLLIN, 0},
                                       {nullptr, m_wake_others, ZMQ_POLLIN, 0}};
    while (!m_stopping) {
        if (has_parent && ::getppid() != parent) {
            stop_from_outside();  // Jupyter died without saying good-bye
            return;
        }
        if (poll_items(items, 1000) && readable(items[0])) {
            zmq::multipart_t beat;
            beat.recv(m_heartbeat);
            beat.send(m_heartbeat);
        }
    }
}

void server::serve_debugger_events() {
    std::vector<zmq::pollitem_t> items{{m_events, 0, ZMQ_POLLIN, 0}, {nullptr, m_wake_others, ZMQ_POLLIN, 0}};
    while (!m_stopping) {
        if (poll_items(items, -1) && readable(items[0])) {
            zmq::multipart_t event;
            event.recv(m_events);
            m_output.forward(std::move(event));
        }
    }
}

nl::json server::send_to_shell_impl(const nl::json& message) {
    std::future<nl::json> reply;
    {
        std::lock_guard lock(m_internal_mutex);
        m_internal.push_back({message, {}});
        reply = m_internal.back().reply.get_future();
    }
    signal_event(m_wake_shell);
    while (reply.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
        if (m_stopping) {
            return {{"status", "error"},
                    {"ename", "KernelStopping"},
                    {"evalue", "the kernel is shutting down"},
                    {"traceback", nl::json::array()}};
        }
    }
    return reply.get();
}

void server::serve_internal() {
    std::deque<internal_call> calls;
    {
        std::lock_guard lock(m_internal_mutex);
        calls.swap(m_internal);
    }
    for (internal_call& call : calls) {
        try {
            call.reply.set_value(notify_internal_listener(call.message));
        } catch (const std::exception& error) {
            call.reply.set_value({{"status", "error"},
                                  {"ename", "KernelFault"},
                                  {"evalue", error.what()},
                                  {"traceback", nl::json::array()}});
        }
    }
}

}  // namespace xcuda::kernel
