#include "debugger.hpp"

#include <atomic>
#include <vector>

namespace xcuda::kernel {

namespace {

std::atomic<bool> started{false};

// What xeus reads without looking whether it is there.
struct requirement {
    const char* command;
    std::vector<const char*> fields;
};

const std::vector<requirement>& requirements() {
    static const std::vector<requirement> table = {
        {"dumpCell", {"/arguments/code"}},
        {"setBreakpoints", {"/arguments/source/path", "/arguments/breakpoints"}},
        {"source", {"/arguments/source/path"}},
        {"variables", {"/arguments/variablesReference"}},
        {"richInspectVariables", {"/arguments/variableName"}},
        {"copyToGlobals",
         {"/arguments/srcVariableName", "/arguments/dstVariableName", "/arguments/srcFrameId"}},
        {"attach", {"/arguments"}},
    };
    return table;
}

nl::json reply_to(const nl::json& message, bool success) {
    return {{"type", "response"},
            {"request_seq", message.value("seq", 0)},
            {"seq", message.value("seq", 0)},
            {"command", message.value("command", "")},
            {"success", success},
            {"body", nl::json::object()}};
}

nl::json refusal(const nl::json& message, const std::string& why) {
    nl::json reply = reply_to(message, false);
    reply["message"] = why;
    return reply;
}

std::string missing_field(const nl::json& message) {
    for (const requirement& needed : requirements()) {
        if (message.value("command", "") == needed.command) {
            for (const char* field : needed.fields) {
                if (!message.contains(nl::json::json_pointer(field))) {
                    return field;
                }
            }
        }
    }
    return {};
}

class guarded_debugger final : public xeus::xdebugger {
public:
    explicit guarded_debugger(std::unique_ptr<xeus::xdebugger> inner) : m_inner(std::move(inner)) {}

private:
    nl::json process_request_impl(const nl::json& header, const nl::json& message) override {
        try {
            return answer(header, message);
        } catch (const std::exception& error) {
            return refusal(message, error.what());
        }
    }

    nl::json answer(const nl::json& header, const nl::json& message) {
        if (!message.is_object() || !message.contains("seq") || !message.contains("command")) {
            return refusal(message.is_object() ? message : nl::json::object(),
                           "a request needs seq and command");
        }
        if (const std::string field = missing_field(message); !field.empty()) {
            return refusal(message, "the field " + field + " is missing");
        }
        const std::string command = message.at("command");
        if (command == "richInspectVariables") {
            return rich_inspect(header, message);
        }
        if (command == "initialize") {
            m_inner->register_control_messenger(get_control_messenger());
            started = true;
        }
        nl::json reply = m_inner->process_request(header, message);
        return reply.empty() ? refusal(message, "the debugger is not started") : reply;
    }

    // A variable as the notebook would show it: of a stopped frame if one is named, else of the user's
    // namespace.
    nl::json rich_inspect(const nl::json& header, const nl::json& message) {
        const nl::json& arguments = message.at("arguments");
        const std::string name = arguments.at("variableName");
        nl::json reply = reply_to(message, true);
        std::string shown;
        const std::string rich_call = "__import__('xcuda.kernel.requests').kernel.requests.rich(";
        if (arguments.contains("frameId")) {
            nl::json request = message;
            request["command"] = "evaluate";
            request["arguments"] = {{"frameId", arguments["frameId"]},
                                    {"context", "clipboard"},
                                    {"expression", rich_call + name + ")"}};
            const nl::json evaluated = m_inner->process_request(header, request);
            if (!evaluated.value("success", false)) {
                return refusal(message,
                               evaluated.value("message", name + " can't be evaluated in this frame"));
            }
            py::gil_scoped_acquire gil;
            shown = py::module_::import("ast")
                        .attr("literal_eval")(evaluated.at("body").at("result").get<std::string>())
                        .cast<std::string>();
        } else {
            py::gil_scoped_acquire gil;
            shown =
                py::module_::import("xcuda.kernel.requests").attr("rich_by_name")(name).cast<std::string>();
        }
        reply["body"] = nl::json::parse(shown);
        return reply;
    }

    std::unique_ptr<xeus::xdebugger> m_inner;
};

}  // namespace

std::unique_ptr<xeus::xdebugger> build_debugger(xeus::xcontext& context, const xeus::xconfiguration& config,
                                                const std::string& user, const std::string& session,
                                                const nl::json& debugger_config) {
    return std::make_unique<guarded_debugger>(
        xpyt::make_python_debugger(context, config, user, session, debugger_config));
}

bool debugger_was_started() { return started; }

}  // namespace xcuda::kernel
