// xcuda.kernel._kernel: what the Python modules beside it call.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include "comms.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "serve.hpp"

namespace {

using namespace xcuda::kernel;

// Before and after the kernel's life, when Python's exit handlers print, text goes to the process's own
// descriptors.
void write_stream(int name, const py::str& written) {
    Py_ssize_t size = 0;
    const char* begin = PyUnicode_AsUTF8AndSize(written.ptr(), &size);
    if (begin == nullptr) {
        throw py::error_already_set();  // UnicodeEncodeError: lone surrogates
    }
    const std::string_view text(begin, static_cast<std::size_t>(size));
    if (serving()) {
        running_server().streams().write(static_cast<stream>(name), text);
    } else {
        [[maybe_unused]] ssize_t ignored = ::write(name + 1, text.data(), text.size());
    }
}

void flush_streams() {
    if (serving()) {
        running_server().streams().flush();
    }
}

void publish(const std::string& type, std::string content, std::string metadata, const py::list& buffers) {
    std::vector<std::string> bytes;
    for (const py::handle& item : buffers) {
        const py::buffer_info info = py::memoryview(py::reinterpret_borrow<py::object>(item))
                                         .attr("cast")("B")
                                         .cast<py::buffer>()
                                         .request();
        bytes.emplace_back(static_cast<const char*>(info.ptr), static_cast<std::size_t>(info.size));
    }
    if (!serving()) {
        return;  // an exit handler that displays something: nobody is left to see it
    }
    running_server().streams().flush();  // what was printed before comes before
    running_server().output().publish(type, std::move(content), std::move(metadata), std::move(bytes));
}

std::string ask_input(const std::string& prompt, bool password) {
    server& asked = running_server();
    std::string answer;
    bool raised = false;
    bool answered;
    {
        py::gil_scoped_release release;
        answered = asked.ask_input(
            prompt, password,
            [&] {
                py::gil_scoped_acquire gil;
                raised = PyErr_CheckSignals() != 0;
                return !raised && !asked.stopping();
            },
            answer);
    }
    if (raised) {
        throw py::error_already_set();
    }
    if (!answered) {
        PyErr_SetString(PyExc_EOFError, "the kernel is shutting down");
        throw py::error_already_set();
    }
    return answer;
}

}  // namespace

PYBIND11_MODULE(_kernel, m) {
    m.doc() = "The C++ half of the xcuda Jupyter kernel: channels, streams, interrupts.";
    m.attr("__version__") = XCUDA_VERSION;
    m.def("serve", &serve, py::arg("connection_file"), "Serve Jupyter's five channels until shutdown.");
    m.def(
        "capture_descriptors", [] { return running_server().streams().capture_descriptors(); },
        "Show what C code and child processes write to descriptors 1 and 2. False if it can't be done.");
    m.def("write", &write_stream, py::arg("stream"), py::arg("text"), "Append to stdout (0) or stderr (1).");
    m.def("flush", &flush_streams, "Publish what is buffered.");
    m.def(
        "log", [](const std::string& text) { running_server().streams().log(text); }, py::arg("text"),
        "Write to the process's own stderr, which a front-end doesn't show.");
    m.def("log_descriptor", [] { return running_server().streams().log_descriptor(); });
    m.def("publish", &publish, py::arg("type"), py::arg("content"), py::arg("metadata") = "{}",
          py::arg("buffers") = py::list(), "Publish a message on iopub; content and metadata are JSON text.");
    m.def("json_text", &json_text, py::arg("value"),
          "Plain values as JSON text; None where there is anything else among them.");
    m.def(
        "parent_header", [] { return to_text(running_server().output().parent()); },
        "The header of the request that is being handled, as JSON text.");
    m.def("ask_input", &ask_input, py::arg("prompt"), py::arg("password"),
          "Ask the front-end for a line. Raises KeyboardInterrupt at an interrupt.");
    m.def("request_stop", [] { running_server().request_stop(); }, "End the kernel after this request.");
    // At exit objects go that held comms, when the channels are gone already.
    m.def(
        "route_comm",
        [](const std::string& id, const std::string& target) {
            if (serving()) route_comm(id, target);
        },
        py::arg("comm_id"), py::arg("target"));
    m.def(
        "unroute_comm",
        [](const std::string& id) {
            if (serving()) unroute_comm(id);
        },
        py::arg("comm_id"));
    m.def(
        "route_target",
        [](const std::string& target) {
            if (serving()) route_target(target);
        },
        py::arg("target"));
}
