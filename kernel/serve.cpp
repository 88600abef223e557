#include "serve.hpp"

#include <iostream>
#include <stdexcept>

#include "connection.hpp"
#include "debugger.hpp"
#include "history.hpp"
#include "interpreter.hpp"
#include "interrupt.hpp"

namespace xcuda::kernel {

namespace {

// xeus takes plain functions as builders, so what they need is here.
xeus::xconfiguration connection;
server* current_server = nullptr;
interpreter* current_interpreter = nullptr;

std::unique_ptr<xeus::xserver> build_server(xeus::xcontext& context, const xeus::xconfiguration&,
                                            nl::json::error_handler_t) {
    auto built = std::make_unique<server>(context.get_wrapped_context<zmq::context_t>(), connection);
    current_server = built.get();
    current_interpreter->attach(*built);
    return built;
}

}  // namespace

server& running_server() {
    if (current_server == nullptr) {
        throw std::runtime_error("no xcuda kernel runs in this process");
    }
    return *current_server;
}

bool serving() { return current_server != nullptr; }

void serve(const std::string& connection_file) {
    if (current_server != nullptr) {
        throw std::runtime_error("an xcuda kernel runs in this process already");
    }
    connection = read_connection(connection_file);
    auto owned_interpreter = std::make_unique<interpreter>();
    current_interpreter = owned_interpreter.get();
    const std::string python = py::module_::import("sys").attr("executable").cast<std::string>();
    auto kernel = std::make_unique<xeus::xkernel>(connection, xeus::get_user_name(), make_zmq_context(),
                                                  std::move(owned_interpreter), build_server, make_history(),
                                                  nullptr, build_debugger, nl::json{{"python", python}});
    std::clog.setstate(std::ios_base::failbit);  // xeus's progress notes would be captured into the notebook
    ignore_interrupts_while_idle();
    current_server->on_idle([] { return current_interpreter->pump(); });
    {
        py::gil_scoped_release release;
        kernel->start();
    }
    // From here on nothing may publish. The debugger's client thread, once started, never ends and keeps its
    // sockets: destroying what it uses would abort the process, so then the operating system cleans up.
    server& ended = *current_server;
    current_server = nullptr;
    ended.streams().stop();
    if (debugger_was_started()) {
        [[maybe_unused]] xeus::xkernel* left_to_exit = kernel.release();
        ended.close_channels();
    }
}

}  // namespace xcuda::kernel
