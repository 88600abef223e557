// The only file that knows which xeus and xeus-python this is built with.
//
// Debian 12 has xeus 2.4 and xeus-python 0.14: a request's reply is the return value, and the ZeroMQ helpers
// are in xeus itself. From xeus 3 on the execute reply goes through a callback and the helpers live in xeus-
// zmq; what differs is translated here, so that the rest of kernel/ sees one shape: run_cell() takes a cell
// and returns its reply.
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <xeus/xeus.hpp>
#include <xeus/xinterpreter.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver.hpp>

#if XEUS_VERSION_MAJOR < 3
#include <xeus/xmiddleware.hpp>
#else
#include <xeus-zmq/xmiddleware.hpp>
#include <xeus-zmq/xzmq_context.hpp>
#endif

#include <xeus-python/xdebugger.hpp>
#include <xeus-python/xinterpreter.hpp>

namespace xcuda::kernel {

namespace nl = nlohmann;

struct cell_request {
    std::string code;
    bool silent = false;
    bool store_history = true;
    nl::json user_expressions;
    bool allow_stdin = true;
};

// xpyt::interpreter with the execute request in one shape for every xeus, and streams and displays left to
// us.
class interpreter_base : public xpyt::interpreter {
public:
    interpreter_base() : xpyt::interpreter(/*redirect_output=*/false, /*redirect_display=*/false) {
        m_release_gil_at_startup = false;  // serve() gives the GIL away round the server's loop
    }

protected:
    virtual nl::json run_cell(const cell_request& request) = 0;

private:
#if XEUS_VERSION_MAJOR < 3
    nl::json execute_request_impl(int, const std::string& code, bool silent, bool store_history,
                                  nl::json user_expressions, bool allow_stdin) final {
        return run_cell({code, silent, store_history, std::move(user_expressions), allow_stdin});
    }
    void shutdown_request_impl() final {}
#else
    void execute_request_impl(send_reply_callback reply, int, const std::string& code,
                              xeus::execute_request_config config, nl::json user_expressions) final {
        reply(run_cell(
            {code, config.silent, config.store_history, std::move(user_expressions), config.allow_stdin}));
    }
    nl::json shutdown_request_impl(bool restart) final { return xeus::create_shutdown_reply(restart); }
#endif
};

inline std::unique_ptr<xeus::xcontext> make_zmq_context() {
#if XEUS_VERSION_MAJOR < 3
    return xeus::make_context<zmq::context_t>();
#else
    return xeus::make_zmq_context();
#endif
}

}  // namespace xcuda::kernel
