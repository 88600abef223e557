"""Every request is answered exactly once, also when a handler throws; a bad message harms nobody."""

import pytest


def replies_to(kernel, message_id) -> list[dict]:
    """All replies to a request, up to the reply of a request sent after it."""
    last = kernel.client.kernel_info()
    found = []
    while True:
        reply = kernel.client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == message_id:
            found.append(reply)
        if reply["parent_header"].get("msg_id") == last:
            return found


def send(kernel, kind, content) -> str:
    message = kernel.client.session.msg(kind, content)
    kernel.client.shell_channel.send(message)
    return message["header"]["msg_id"]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("execute_request", {"code": 5}),
        ("execute_request", {"code": "1", "silent": "yes"}),
        ("complete_request", {"code": "imp", "cursor_pos": "three"}),
        ("complete_request", {"code": ["imp"], "cursor_pos": 3}),
        ("inspect_request", {"code": None, "cursor_pos": 0}),
        ("is_complete_request", {"code": {}}),
        ("history_request", {"hist_access_type": "tail", "n": "many"}),
        ("history_request", {"hist_access_type": "range", "session": 10**8, "start": "a"}),
        ("comm_info_request", {"target_name": 4}),
    ],
)
def test_a_request_of_the_wrong_types_gets_one_error_reply(kernel, kind, content):
    [reply] = replies_to(kernel, send(kernel, kind, content))
    assert reply["msg_type"] == kind.replace("request", "reply")
    assert reply["content"]["status"] == "error"
    assert reply["content"]["ename"]
    assert kernel.run("1").result == "1"


@pytest.mark.parametrize("kind", ["comm_msg", "comm_open", "comm_close"])
@pytest.mark.parametrize(
    "content",
    [{}, {"comm_id": 5}, {"comm_id": None, "target_name": "t"}, {"comm_id": "c", "target_name": 5}, {"comm_id": "c"}],
)  # fmt: skip
def test_a_comm_message_without_its_fields(kernel, kind, content):
    send(kernel, kind, content)
    assert kernel.run("1").result == "1"


def test_good_requests_get_one_reply_each(kernel):
    for kind, content in [
        ("execute_request", {"code": "1/0", "silent": False, "stop_on_error": False}),
        ("complete_request", {"code": "zi", "cursor_pos": 2}),
        ("inspect_request", {"code": "zip", "cursor_pos": 3, "detail_level": 0}),
        ("kernel_info_request", {}),
        ("comm_info_request", {}),
    ]:
        assert len(replies_to(kernel, send(kernel, kind, content))) == 1


def test_cursor_beyond_the_text_and_broken_code(kernel):
    assert kernel.ask("complete", "zi", 999)["status"] == "ok"
    assert kernel.ask("inspect", "(((", 3)["status"] == "ok"
    assert kernel.ask("is_complete", "\x00")["status"] in ("invalid", "unknown", "complete", "incomplete")


def test_an_exception_from_cpp_is_a_python_exception(kernel):
    code = "from xcuda.kernel import _kernel\n_kernel.serve('/nowhere.json')"
    outcome = kernel.run(code)
    assert outcome.reply["ename"] == "RuntimeError"
    assert "runs in this process already" in outcome.reply["evalue"]


def test_a_wrong_signature_is_dropped_and_told_on_the_process_stderr(own_kernel):
    key = own_kernel.client.session.key
    own_kernel.client.session.key = b"wrong"
    own_kernel.client.execute("seen = 1")
    own_kernel.client.session.key = key
    assert own_kernel.run("'seen' in globals()").result == "False"


def test_a_broken_hook_of_a_library_does_not_lose_the_reply(kernel):
    kernel.run("def hook(*_): raise ValueError('hook')\nget_ipython().events.register('post_run_cell', hook)")
    outcome = kernel.run("2 + 2")
    assert outcome.result == "4" and outcome.reply["status"] == "ok"
    kernel.run("get_ipython().events.unregister('post_run_cell', hook)")


def test_payload_that_is_no_json(kernel):
    outcome = kernel.run(
        "get_ipython().payload_manager.write_payload({'source': 'x', 'data': {1, 2}, 'o': object})"
    )
    assert outcome.reply["status"] == "ok"
    assert outcome.reply["payload"][0]["data"] == [1, 2]
