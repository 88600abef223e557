#include "comms.hpp"

#include <pybind11_json/pybind11_json.hpp>

#include <memory>
#include <unordered_map>
#include <vector>

#include "interrupt.hpp"

namespace xcuda::kernel {

namespace {

// Never destroyed: xeus's comm manager, which each of them points to, goes first at exit.
auto& routes() {
    static auto* map = new std::unordered_map<std::string, std::unique_ptr<xeus::xcomm>>;
    return *map;
}

std::vector<std::unique_ptr<xeus::xcomm>> closed;
int handlers_running = 0;

void deliver(const char* handler, const xeus::xmessage& message) {
    py::gil_scoped_acquire gil;
    ++handlers_running;
    try {
        interrupt_window window;  // a widget's handler may run for as long as a cell
        py::module_::import("xcuda.kernel.comms").attr(handler)(to_python(message));
    } catch (...) {
        --handlers_running;
        throw;
    }
    --handlers_running;
}

void listen(xeus::xcomm& comm) {
    comm.on_message([](const xeus::xmessage& message) { deliver("deliver_message", message); });
    comm.on_close([](const xeus::xmessage& message) { deliver("deliver_close", message); });
}

}  // namespace

py::dict to_python(const xeus::xmessage& message) {
    py::list buffers;
    for (const xeus::binary_buffer& buffer : message.buffers()) {
        buffers.append(py::memoryview(py::bytes(buffer.data(), buffer.size())));
    }
    py::dict result;
    result["header"] = py::cast(message.header());
    result["parent_header"] = py::cast(message.parent_header());
    result["metadata"] = py::cast(message.metadata());
    result["content"] = py::cast(message.content());
    result["buffers"] = buffers;
    result["msg_id"] = py::cast(message.header().value("msg_id", ""));
    result["msg_type"] = py::cast(message.header().value("msg_type", ""));
    return result;
}

void route_comm(const std::string& comm_id, const std::string& target_name) {
    if (routes().contains(comm_id)) {
        return;
    }
    route_target(target_name);
    xeus::xtarget* target = xeus::get_interpreter().comm_manager().target(target_name);
    // Moved once: xeus 2.4 leaves a new comm's "moved from" mark uninitialised, and moving sets it.
    xeus::xcomm fresh(target, xeus::xguid(comm_id));
    auto comm = std::make_unique<xeus::xcomm>(std::move(fresh));
    listen(*comm);
    routes().emplace(comm_id, std::move(comm));
}

void unroute_comm(const std::string& comm_id) {
    auto found = routes().find(comm_id);
    if (found == routes().end()) {
        return;
    }
    if (handlers_running > 0) {
        closed.push_back(std::move(found->second));  // it may be the one whose handler runs
    }
    routes().erase(found);
}

void bury_closed_comms() { closed.clear(); }

void route_target(const std::string& target) {
    xeus::get_interpreter().comm_manager().register_comm_target(
        target, [](xeus::xcomm&& comm, const xeus::xmessage& message) {
            const std::string id = comm.id();
            auto owned = std::make_unique<xeus::xcomm>(std::move(comm));
            listen(*owned);
            routes()[id] = std::move(owned);
            deliver("deliver_open", message);
        });
}

}  // namespace xcuda::kernel
