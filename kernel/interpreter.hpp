// What the kernel answers. The work is done by the Python modules beside this file; here are the requests'
// shapes, the window in which a cell can be interrupted, and the promise that every request gets an answer.
#pragma once

#include "server.hpp"

namespace xcuda::kernel {

class interpreter final : public interpreter_base {
public:
    // Lets asyncio's callbacks run that are due; returns what to wait for next. Takes the GIL.
    idle_work pump();

    void attach(server& s) { m_server = &s; }

private:
    void stop_what_cells_left();  // where an interrupt came while no cell ran

    void configure_impl() override;
    void instanciate_ipython_shell() override;

    nl::json run_cell(const cell_request& request) override;
    nl::json complete_request_impl(const std::string& code, int cursor_pos) override;
    nl::json inspect_request_impl(const std::string& code, int cursor_pos, int detail_level) override;
    nl::json is_complete_request_impl(const std::string& code) override;
    nl::json kernel_info_request_impl() override;
    nl::json internal_request_impl(const nl::json& content) override;

    server* m_server = nullptr;
    py::object m_python;  // the module xcuda.kernel.requests
    nl::json m_info;      // answered from the control thread too, without the GIL
};

}  // namespace xcuda::kernel
