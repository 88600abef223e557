"""Comms and widgets, from both ends."""


def send(kernel, kind, content, buffers=None):
    message = kernel.client.session.msg(kind, content)
    kernel.client.session.send(kernel.client.shell_channel.socket, message, buffers=buffers)
    return message["header"]["msg_id"]


def settle(kernel, message_id):
    """The iopub messages up to the idle status of a message that has no reply."""
    seen = []
    while True:
        message = kernel.client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != message_id:
            continue
        seen.append(message)
        if message["content"].get("execution_state") == "idle":
            return seen


def test_round_trip_opened_by_the_front_end(kernel):
    kernel.run(
        "import comm\nheard = []\ndef opened(c, message):\n    heard.append(('open', message['content']['data']))\n"
        "    def told(m):\n        heard.append(('msg', m['content']['data'], [bytes(b) for b in m['buffers']]))\n"
        "        c.send({'echo': m['content']['data']}, buffers=[b'back'])\n"
        "    c.on_msg(told)\n    c.on_close(lambda m: heard.append(('close', m['content']['data'])))\n"
        "comm.get_comm_manager().register_target('test.target', opened)"
    )
    settle(
        kernel, send(kernel, "comm_open", {"comm_id": "c1", "target_name": "test.target", "data": {"a": 1}})
    )
    listed = kernel.ask("comm_info", "test.target")
    assert listed["comms"] == {"c1": {"target_name": "test.target"}}
    seen = settle(kernel, send(kernel, "comm_msg", {"comm_id": "c1", "data": {"b": 2}}, [b"\x00\x01"]))
    [echo] = [message for message in seen if message["msg_type"] == "comm_msg"]
    assert echo["content"]["data"] == {"echo": {"b": 2}}
    assert [bytes(buffer) for buffer in echo["buffers"]] == [b"back"]
    settle(kernel, send(kernel, "comm_close", {"comm_id": "c1", "data": {"c": 3}}))
    assert kernel.run("heard").result == (
        "[('open', {'a': 1}), ('msg', {'b': 2}, [b'\\x00\\x01']), ('close', {'c': 3})]"
    )
    assert kernel.ask("comm_info", "test.target")["comms"] == {}


def test_opened_by_the_kernel_and_closed_from_inside_its_handler(kernel):
    outcome = kernel.run(
        "import comm\nc = comm.create_comm(target_name='page', data={'x': 1}, comm_id='k1')\ngot = []\n"
        "def told(m):\n    got.append(m['content']['data'])\n    c.close()\nc.on_msg(told)"
    )
    [opened] = outcome.of("comm_open")
    assert opened == {"comm_id": "k1", "target_name": "page", "target_module": None, "data": {"x": 1}}
    seen = settle(kernel, send(kernel, "comm_msg", {"comm_id": "k1", "data": 7}))
    assert "comm_close" in [message["msg_type"] for message in seen]
    assert kernel.run("got").result == "[7]"
    assert "k1" not in kernel.ask("comm_info")["comms"]


def test_an_unknown_target_is_closed_again_or_ignored(kernel):
    settle(kernel, send(kernel, "comm_open", {"comm_id": "u1", "target_name": "nobody", "data": {}}))
    settle(kernel, send(kernel, "comm_msg", {"comm_id": "u1", "data": {}}))
    assert kernel.run("1").result == "1"


def test_a_handler_that_fails_leaves_the_kernel_well(kernel):
    kernel.run(
        "import comm\nbad = comm.create_comm(target_name='page', comm_id='b1')\nbad.on_msg(lambda m: 1/0)"
    )
    seen = settle(kernel, send(kernel, "comm_msg", {"comm_id": "b1", "data": {}}))
    assert "ZeroDivisionError" in "".join(m["content"]["text"] for m in seen if m["msg_type"] == "stream")
    assert kernel.run("1").result == "1"


def test_widget_state_reaches_python_and_interact_runs(kernel):
    outcome = kernel.run(
        "import ipywidgets\nslider = ipywidgets.IntSlider(value=3)\n"
        "shown = ipywidgets.interactive_output(lambda v: print('value', v), {'v': slider})\ndisplay(slider, shown)",
        timeout=60,
    )
    assert outcome.reply["status"] == "ok"
    model = kernel.run("slider.model_id").result.strip("'")
    seen = settle(
        kernel,
        send(
            kernel,
            "comm_msg",
            {"comm_id": model, "data": {"method": "update", "state": {"value": 8}, "buffer_paths": []}},
        ),
    )
    assert kernel.run("slider.value").result == "8"
    printed = [m["content"]["text"] for m in seen if m["msg_type"] == "stream"]
    assert "".join(printed) == "value 8\n"


def test_output_widget_captures_by_the_request_it_was_entered_in(kernel):
    outcome = kernel.run("import ipywidgets\nout = ipywidgets.Output()\nwith out:\n    print('inside')")
    updates = [m["data"]["state"] for m in outcome.of("comm_msg") if m["data"].get("method") == "update"]
    entered = [state["msg_id"] for state in updates if state.get("msg_id")]
    [message] = [m for m in outcome.messages if m["msg_type"] == "stream"]
    assert entered == [message["parent_header"]["msg_id"]]


def test_old_import_of_ipykernels_comm(kernel):
    assert kernel.run("from ipykernel.comm import Comm\nComm(target_name='x').comm_id != ''").result == "True"


def test_many_comms_are_opened_and_closed(kernel):
    kernel.run("import comm\nmany = [comm.create_comm(target_name='crowd') for _ in range(200)]")
    kernel.run("[c.send({'i': 1}) for c in many]; [c.close() for c in many];")
    assert kernel.ask("comm_info", "crowd")["comms"] == {}
