#include "connection.hpp"

#include <fstream>
#include <stdexcept>

namespace xcuda::kernel {

namespace {

constexpr int linger_ms = 1000;
// Messages kept for a slow front-end; ZeroMQ's own 1000 would lose a cell's displays.
constexpr int unsent_limit = 100'000;

std::string port_of(const nl::json& file, const char* field) {
    const nl::json& port = file.at(field);
    return port.is_string() ? port.get<std::string>() : std::to_string(port.get<long>());
}

}  // namespace

xeus::xconfiguration read_connection(const std::string& path) {
    std::ifstream stream(path);
    if (!stream) {
        throw std::runtime_error("the connection file " + path + " can't be opened");
    }
    try {
        const nl::json file = nl::json::parse(stream);
        xeus::xconfiguration config;
        config.m_transport = file.value("transport", "tcp");
        config.m_ip = file.value("ip", "127.0.0.1");
        config.m_shell_port = port_of(file, "shell_port");
        config.m_control_port = port_of(file, "control_port");
        config.m_stdin_port = port_of(file, "stdin_port");
        config.m_iopub_port = port_of(file, "iopub_port");
        config.m_hb_port = port_of(file, "hb_port");
        config.m_signature_scheme = file.value("signature_scheme", "hmac-sha256");
        config.m_key = file.value("key", "");
        return config;
    } catch (const nl::json::exception& error) {
        throw std::runtime_error("the connection file " + path +
                                 " is not as Jupyter writes it: " + error.what());
    }
}

zmq::socket_t bind_channel(zmq::context_t& context, zmq::socket_type type, const xeus::xconfiguration& config,
                           const std::string& port) {
    zmq::socket_t socket(context, type);
    socket.set(zmq::sockopt::linger, linger_ms);
    if (type == zmq::socket_type::router) {
        socket.set(zmq::sockopt::router_handover, true);  // a client that reconnects keeps its identity
    }
    if (type == zmq::socket_type::pub) {
        socket.set(zmq::sockopt::sndhwm, unsent_limit);
    }
    const char* separator = config.m_transport == "ipc" ? "-" : ":";
    const std::string address = config.m_transport + "://" + config.m_ip + separator + port;
    try {
        socket.bind(address);
    } catch (const zmq::error_t& error) {
        throw std::runtime_error("the address " + address + " can't be used: " + error.what());
    }
    return socket;
}

}  // namespace xcuda::kernel
