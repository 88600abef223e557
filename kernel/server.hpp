// The five channels. The shell channel is served by the thread that calls start(); control, heartbeat and the
// debugger's events have a thread each, and every one of them is joined before start() returns.
//
// Ours rather than xeus's because between two messages it must let asyncio work, abort a queue as ipykernel
// does, leave input() at an interrupt, answer a request whose handler threw, and end without a thread still
// holding a socket.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "publisher.hpp"
#include "streams.hpp"

namespace xcuda::kernel {

// What the main thread waits for besides messages.
struct idle_work {
    int descriptor = -1;   // wakes when readable
    long timeout_ms = -1;  // wakes after this long; -1: never
};

class server final : public xeus::xserver, private xeus::xcontrol_messenger {
public:
    server(zmq::context_t& shared_context, const xeus::xconfiguration& config);
    ~server() override;

    publisher& output() { return m_output; }
    output_streams& streams() { return m_streams; }

    // Called on the main thread between messages; says what to wait for.
    void on_idle(std::function<idle_work()> pump) { m_pump = std::move(pump); }

    // The number that execute_input and execute_reply carry.
    void set_execution_count(int next) { m_execution_count = next; }

    // Asks the front-end that sent the current request for a line. Returns false if it was interrupted by
    // keep_waiting(), which is asked at least every 100 ms and after each signal.
    bool ask_input(const std::string& prompt, bool password, const std::function<bool()>& keep_waiting,
                   std::string& answer);

    // Ends start() when the current request is answered; a shutdown from outside interrupts the cell that
    // runs.
    void request_stop();
    void stop_from_outside();
    bool stopping() const { return m_stopping; }

    // Sends what is still under way and frees the ports; for when this object itself can't be destroyed.
    void close_channels();

private:
    xeus::xcontrol_messenger& get_control_messenger_impl() override { return *this; }
    nl::json send_to_shell_impl(const nl::json& message) override;

    void send_shell_impl(xeus::xmessage message) override;
    void send_control_impl(xeus::xmessage message) override;
    void send_stdin_impl(xeus::xmessage message) override;
    void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
    void start_impl(xeus::xpub_message message) override;
    void abort_queue_impl(const listener& l, long polling_interval) override;
    void stop_impl() override { stop_from_outside(); }
    void update_config_impl(xeus::xconfiguration& config) const override { config = m_config; }

    void serve_shell();
    void serve_control();
    void serve_heartbeat();
    void serve_debugger_events();
    void serve_internal();

    bool receive(zmq::socket_t& socket, xeus::xmessage& message);
    void fetch_waiting_requests();
    void handle_shell(xeus::xmessage message);
    bool sent_before_current(const nl::json& header) const;
    void reply_with_fault(const std::string& fault);
    void send_reply(const xeus::xmessage& request, const std::string& type, const nl::json& content);
    void publish_status(const char* state);

    // The request being handled on the shell channel.
    struct current_request {
        std::vector<std::string> identities;
        nl::json header;
        bool answered = true;
    };

    struct internal_call {
        nl::json message;
        std::promise<nl::json> reply;
    };

    xeus::xconfiguration m_config;
    signer m_key;
    // Our own, so that closing it sends what is left whatever the debugger still holds open.
    zmq::context_t m_context{1};
    zmq::socket_t m_shell, m_control, m_stdin, m_heartbeat, m_events;
    publisher m_output;
    output_streams m_streams;

    std::function<idle_work()> m_pump;
    std::deque<xeus::xmessage> m_waiting;
    current_request m_current;
    int m_execution_count = 1;

    // The current request's session and date and when it began, for the control channel's thread.
    mutable std::mutex m_sent_mutex;
    std::string m_sent_by, m_sent_at;
    std::chrono::steady_clock::time_point m_began;

    std::mutex m_input_mutex;  // two threads may ask at once
    std::mutex m_internal_mutex;
    std::deque<internal_call> m_internal;

    std::atomic<bool> m_stopping{false};
    int m_wake_shell = -1, m_wake_others = -1;
};

}  // namespace xcuda::kernel
