"""The debugger's messages over the control channel, as JupyterLab sends them."""

import time

import pytest


class Debugger:
    def __init__(self, session):
        self.session = session
        self.sequence = 0

    def ask(self, command: str, **arguments) -> dict:
        self.sequence += 1
        content = {"type": "request", "seq": self.sequence, "command": command, "arguments": arguments}
        message = self.session.client.session.msg("debug_request", content)
        self.session.client.control_channel.send(message)
        while True:
            reply = self.session.client.get_control_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]

    def event(self, name: str) -> dict:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            message = self.session.client.get_iopub_msg(timeout=60)
            if message["msg_type"] == "debug_event" and message["content"]["event"] == name:
                return message["content"]
        pytest.fail(f"no event {name}")


def test_breakpoint_variables_continue_and_shutdown(own_kernel):
    debugger = Debugger(own_kernel)
    own_kernel.run("seen = 41")
    assert debugger.ask("debugInfo")["body"]["isStarted"] is False
    assert debugger.ask(
        "initialize",
        clientID="test",
        adapterID="",
        pathFormat="path",
        linesStartAt1=True,
        columnsStartAt1=True,
    )["success"]
    assert debugger.ask("attach")["success"]

    code = "def add(a, b):\n    total = a + b\n    return total\nadd(1, 2)"
    path = debugger.ask("dumpCell", code=code)["body"]["sourcePath"]
    placed = debugger.ask(
        "setBreakpoints", source={"path": path}, breakpoints=[{"line": 3}], sourceModified=False
    )
    assert placed["success"] and placed["body"]["breakpoints"][0]["verified"]
    assert debugger.ask("configurationDone")["success"]
    assert debugger.ask("debugInfo")["body"]["isStarted"] is True

    message_id = own_kernel.client.execute(code)
    stopped = debugger.event("stopped")
    thread = stopped["body"]["threadId"]
    frame = debugger.ask("stackTrace", threadId=thread)["body"]["stackFrames"][0]
    assert (frame["name"], frame["line"]) == ("add", 3)
    [scope, *_] = debugger.ask("scopes", frameId=frame["id"])["body"]["scopes"]
    variables = debugger.ask("variables", variablesReference=scope["variablesReference"])["body"]["variables"]
    assert {v["name"]: v["value"] for v in variables}["total"] == "3"
    inside = debugger.ask("richInspectVariables", variableName="total", frameId=frame["id"])
    assert inside["success"] and inside["body"]["data"]["text/plain"] == "3"
    assert debugger.ask("continue", threadId=thread)["success"]
    assert own_kernel.finish(message_id).result == "3"

    names = [v["name"] for v in debugger.ask("inspectVariables")["body"]["variables"]]
    assert "seen" in names
    rich = debugger.ask("richInspectVariables", variableName="seen")
    assert rich["body"]["data"]["text/plain"] == "41"
    assert own_kernel.run("'debugpy' in globals()").result == "False"
    # The debugger's client is still connected: the end must be clean even so.
    assert own_kernel.close() == 0


KERNEL = """import warnings; warnings.simplefilter("ignore")
import numpy as np, xcuda.core as cuda
@cuda.kernel
def stops(x, by):
    i = cuda.grid(1)
    v = x[i] * by
    if v < 0:
        breakpoint()
    x[i] = v"""


def test_a_breakpoint_in_a_kernel_stops_under_cuda_debug(own_kernel):
    debugger = Debugger(own_kernel)
    for command, arguments in (
        ("initialize", {"clientID": "test", "adapterID": "", "pathFormat": "path", "linesStartAt1": True}),
        ("attach", {}),
        ("configurationDone", {}),
    ):
        assert debugger.ask(command, **arguments)["success"]
    assert own_kernel.run(KERNEL).reply["status"] == "ok"
    message_id = own_kernel.client.execute("%%cuda_debug\nstops[1, 4](np.array([1.0, 2.0, -3.0, 4.0]), 2.0)")
    thread = debugger.event("stopped")["body"]["threadId"]
    frame = debugger.ask("stackTrace", threadId=thread)["body"]["stackFrames"][0]
    assert frame["line"] == 8
    [scope, *_] = debugger.ask("scopes", frameId=frame["id"])["body"]["scopes"]
    variables = debugger.ask("variables", variablesReference=scope["variablesReference"])["body"]["variables"]
    values = {v["name"]: v["value"] for v in variables}
    assert "-6.0" in values["v"] and "2" in values["i"] and "2.0" in values["by"]
    assert debugger.ask("continue", threadId=thread)["success"]
    assert own_kernel.finish(message_id).reply["status"] == "ok"


def test_requests_with_fields_missing_are_refused(own_kernel):
    debugger = Debugger(own_kernel)
    assert debugger.ask("stackTrace", threadId=1)["message"] == "the debugger is not started"
    assert debugger.ask("initialize", clientID="test", adapterID="")["success"]
    assert debugger.ask("attach")["success"]
    for command in ("dumpCell", "setBreakpoints", "source", "variables", "richInspectVariables"):
        reply = debugger.ask(command)
        assert reply["success"] is False and "is missing" in reply["message"]
    assert debugger.ask("richInspectVariables", variableName="not_there")["success"] is False
    assert own_kernel.run("1").result == "1"


def test_disconnect_leaves_a_kernel_that_works(own_kernel):
    debugger = Debugger(own_kernel)
    assert debugger.ask("initialize", clientID="test", adapterID="")["success"]
    assert debugger.ask("attach")["success"]
    assert debugger.ask("disconnect", restart=False, terminateDebuggee=False)["success"]
    assert own_kernel.run("6 * 7").result == "42"
    assert own_kernel.close() == 0


def test_busy_kernel_still_answers_the_control_channel(kernel, gate):
    message_id = kernel.client.execute(f"print('begun')\n{gate.wait}")
    kernel.wait_for("stream", message_id)
    kernel.client.control_channel.send(kernel.client.session.msg("kernel_info_request", {}))
    assert kernel.client.get_control_msg(timeout=60)["msg_type"] == "kernel_info_reply"
    gate.open()
    kernel.finish(message_id)
