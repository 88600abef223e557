// The debugger: xeus-python's (debugpy over DAP), made safe against what a front-end may send.
#pragma once

#include <memory>
#include <string>

#include "xeus_compat.hpp"

namespace xcuda::kernel {

// A builder, as xeus wants it. Missing fields and faults become replies with success = false and a message;
// xeus would abort the process or not answer.
std::unique_ptr<xeus::xdebugger> build_debugger(xeus::xcontext& context, const xeus::xconfiguration& config,
                                                const std::string& user, const std::string& session,
                                                const nl::json& debugger_config);

// Whether a debugger was ever started: its client thread then lives until the process ends, and so must its
// sockets.
bool debugger_was_started();

}  // namespace xcuda::kernel
