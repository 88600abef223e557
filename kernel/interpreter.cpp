#include "interpreter.hpp"

#include "comms.hpp"
#include "interrupt.hpp"

namespace xcuda::kernel {

namespace {

nl::json error_reply(const std::string& ename, const std::string& evalue) {
    return {{"status", "error"}, {"ename", ename}, {"evalue", evalue}, {"traceback", nl::json::array()}};
}

// The Python side answers in JSON text.
nl::json parsed(const py::object& text) { return nl::json::parse(text.cast<std::string>()); }

// For requests that must never fail the front-end: what goes wrong becomes an error reply. They run users' code too (a
// property that is completed, a __repr__), which an interrupt ends.
template <class Ask>
nl::json answered(Ask ask) {
    py::gil_scoped_acquire gil;
    try {
        interrupt_window window;
        return parsed(ask());
    } catch (py::error_already_set& error) {
        return error_reply(py::str(error.type().attr("__name__")), py::str(error.value()));
    } catch (const std::exception& error) {
        return error_reply("KernelFault", error.what());
    }
}

// An interrupt, or worse, outside the user's own code. Telling of it may run users' code again (an exception's __str__)
// and be interrupted as well.
void tell_escaped(const py::object& cell, const py::error_already_set& error) {
    try {
        interrupt_window window;
        cell.attr("escaped")(error.value());
    } catch (py::error_already_set&) {
        cell.attr("escaped_again")(error.value());
    }
}

}  // namespace

void interpreter::instanciate_ipython_shell() {
    m_ipython_shell_app = py::module_::import("xcuda.kernel.shell").attr("make_app")();
}

void interpreter::configure_impl() {
    interpreter_base::configure_impl();
    py::gil_scoped_acquire gil;
    m_python = py::module_::import("xcuda.kernel.requests");
    m_python.attr("start")(m_ipython_shell);
    m_info = parsed(m_python.attr("kernel_info")());
    m_server->set_execution_count(m_ipython_shell.attr("execution_count").cast<int>());
}

void interpreter::stop_what_cells_left() {
    if (take_idle_interrupt()) {
        m_python.attr("stop_kernels")();
    }
}

nl::json interpreter::run_cell(const cell_request& request) {
    py::gil_scoped_acquire gil;
    nl::json reply;
    try {
        stop_what_cells_left();
        py::object cell = m_python.attr("Cell")(request.code, request.silent, request.store_history,
                                                to_text(request.user_expressions), request.allow_stdin);
        for (const char* part : {"run", "show_report"}) {
            try {
                interrupt_window window;
                stop_what_cells_left();  // an interrupt that came just before would stand over the whole cell
                cell.attr(part)();
            } catch (py::error_already_set& error) {
                tell_escaped(cell, error);
            }
        }
        reply = parsed(cell.attr("reply")());
    } catch (py::error_already_set& error) {
        reply = error_reply(py::str(error.type().attr("__name__")), py::str(error.value()));
    } catch (const std::exception& error) {
        reply = error_reply("KernelFault", error.what());
    }
    m_server->streams().flush();
    m_server->set_execution_count(reply.value("execution_count", 0));
    return reply;
}

nl::json interpreter::complete_request_impl(const std::string& code, int cursor_pos) {
    return answered([&] { return m_python.attr("complete")(code, cursor_pos); });
}

nl::json interpreter::inspect_request_impl(const std::string& code, int cursor_pos, int detail_level) {
    return answered([&] { return m_python.attr("inspect")(code, cursor_pos, detail_level); });
}

nl::json interpreter::is_complete_request_impl(const std::string& code) {
    return answered([&] { return m_python.attr("is_complete")(code); });
}

nl::json interpreter::kernel_info_request_impl() { return m_info; }

nl::json interpreter::internal_request_impl(const nl::json& content) {
    return answered([&] { return m_python.attr("run_internal")(content.value("code", "")); });
}

idle_work interpreter::pump() {
    py::gil_scoped_acquire gil;
    try {  // of any Python too: a thread of the user's may ask for an interrupt
        bury_closed_comms();
        m_server->set_execution_count(m_ipython_shell.attr("execution_count").cast<int>());
        stop_what_cells_left();
        interrupt_window window;
        const py::tuple wait = m_python.attr("pump")();
        return {wait[0].cast<int>(), wait[1].cast<long>()};
    } catch (py::error_already_set& error) {
        if (error.matches(PyExc_KeyboardInterrupt)) {
            m_python.attr("stop_kernels")();
        }
        m_server->streams().log(std::string("xcuda kernel: between cells: ") + error.what() + "\n");
        return {-1, 50};
    } catch (const std::exception& error) {
        m_server->streams().log(std::string("xcuda kernel: between cells: ") + error.what() + "\n");
        return {-1, 50};
    }
}

}  // namespace xcuda::kernel
