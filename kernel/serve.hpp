// One kernel in this process: from a connection file to its end.
#pragma once

#include <string>

#include "server.hpp"

namespace xcuda::kernel {

// Serves until shutdown. Call with the GIL, on the main thread; throws std::runtime_error for a bad
// connection file or an address that is taken.
void serve(const std::string& connection_file);

// The kernel that serves, for the functions that Python calls. Throws std::runtime_error if none does.
server& running_server();
bool serving();

}  // namespace xcuda::kernel
