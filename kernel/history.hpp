// history_request, answered from IPython's own store (SQLite), so that %history and the front-end agree.
#pragma once

#include <memory>

#include "xeus_compat.hpp"

namespace xcuda::kernel {

std::unique_ptr<xeus::xhistory_manager> make_history();

}  // namespace xcuda::kernel
