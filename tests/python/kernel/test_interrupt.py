"""An interrupt ends the running cell, aborts the queued ones, and leaves the next alone."""

import time

import pytest

WAITS = {
    "a loop": "while True: pass",
    "a sleep": "import time\ntime.sleep(100)",
    "an await": "import asyncio\nawait asyncio.sleep(100)",
    "a gather": "import asyncio\nawait asyncio.gather(asyncio.sleep(100), asyncio.sleep(100))",
    "a child process": "import subprocess\nsubprocess.run(['sleep', '100'])",
    "a thread's join": "import threading\ne = threading.Event()\ne.wait(100)",
    "a magic": "%time __import__('time').sleep(100)",
}


@pytest.mark.parametrize("wait", WAITS)
def test_stops_and_the_next_cell_works(kernel, wait):
    body = WAITS[wait]
    code = body if body.startswith("%") else f"print('begun', flush=True)\n{body}"
    if body.startswith("%"):
        code = f"print('begun')\n{body}"
    outcome = kernel.interrupt_after(code)
    assert outcome.reply["status"] == "error"
    assert outcome.reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("6 * 7").result == "42"


def test_input_is_left_and_a_late_answer_is_not_taken_for_the_next(kernel):
    message_id = kernel.client.execute("input('first? ')", allow_stdin=True)
    kernel.client.get_stdin_msg(timeout=60)
    kernel.manager.interrupt_kernel()
    assert kernel.finish(message_id).reply["ename"] == "KeyboardInterrupt"
    kernel.client.input("late")
    time.sleep(0.2)
    message_id = kernel.client.execute("input('second? ')", allow_stdin=True)
    assert kernel.client.get_stdin_msg(timeout=60)["content"]["prompt"] == "second? "
    kernel.client.input("right")
    assert kernel.finish(message_id).result == "'right'"


def test_idle_kernel_ignores_it(kernel):
    for _ in range(5):
        kernel.manager.interrupt_kernel()
        time.sleep(0.02)
    assert kernel.run("'well'").result == "'well'"


def test_many_interrupts_leave_no_request_without_a_reply(kernel):
    for round_ in range(20):
        message_id = kernel.client.execute("import time\nfor i in range(3): time.sleep(0.002)")
        time.sleep(0.0013 * round_)
        kernel.manager.interrupt_kernel()
        kernel.manager.interrupt_kernel()
        reply = kernel.finish(message_id).reply
        assert reply["status"] == "ok" or reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("'well'").result == "'well'"


def test_queued_cells_are_aborted_and_other_requests_answered(kernel):
    begun = kernel.client.execute("print('begun')\nimport time\ntime.sleep(100)")
    kernel.wait_for("stream", begun)
    queued = [kernel.client.execute(f"x{i} = {i}") for i in range(3)]
    question = kernel.client.kernel_info()
    time.sleep(0.5)  # until they have come
    kernel.manager.interrupt_kernel()
    replies = {}
    while len(replies) < 5:
        message = kernel.client.get_shell_msg(timeout=60)
        replies[message["parent_header"]["msg_id"]] = message["content"]
    assert replies[begun]["ename"] == "KeyboardInterrupt"
    assert [replies[one]["status"] for one in queued] == ["aborted"] * 3
    assert replies[question]["status"] == "ok"
    assert kernel.run("'x0' in globals()").result == "False"


def test_an_error_aborts_the_queue_unless_told_otherwise(kernel, gate):
    fails = f"print('begun')\nimport time\n{gate.wait}\ntime.sleep(0.5)\n1/0"  # when the next has come
    begun = kernel.client.execute(fails)
    kernel.wait_for("stream", begun)
    queued = kernel.client.execute("1")
    gate.open()
    assert kernel.reply(begun)["status"] == "error"
    assert kernel.finish(queued).reply["status"] == "aborted"
    begun = kernel.client.execute(fails, stop_on_error=False)
    kernel.wait_for("stream", begun)
    queued = kernel.client.execute("'ran'")
    gate.open()
    assert kernel.reply(begun)["status"] == "error"
    assert kernel.finish(queued).result == "'ran'"


def test_a_cell_sent_after_the_failure_is_never_aborted(kernel):
    for _ in range(20):
        kernel.reply(kernel.client.execute("1/0"))
        assert kernel.run("'ran'").result == "'ran'"


def test_a_cell_may_set_its_own_handler(kernel):
    kernel.run("import signal\nhits = []\nold = signal.signal(signal.SIGINT, lambda *_: hits.append(1))")
    message_id = kernel.client.execute("print('begun')\nimport time\nwhile not hits: time.sleep(0.01)")
    kernel.wait_for("stream", message_id)
    kernel.manager.interrupt_kernel()
    assert kernel.finish(message_id).reply["status"] == "ok"
    kernel.run("signal.signal(signal.SIGINT, old);")
    assert kernel.interrupt_after("print('begun')\nwhile True: pass").reply["ename"] == "KeyboardInterrupt"


def test_interrupt_request_on_the_control_channel(kernel):
    message_id = kernel.client.execute("print('begun')\nwhile True: pass")
    kernel.wait_for("stream", message_id)
    kernel.client.control_channel.send(kernel.client.session.msg("interrupt_request", {}))
    assert kernel.finish(message_id).reply["ename"] == "KeyboardInterrupt"
    assert kernel.client.get_control_msg(timeout=60)["msg_type"] == "interrupt_reply"


def test_interrupts_between_questions_on_the_control_channel_harm_nobody(kernel):
    """Those are answered by another thread; what an interrupt does then is the main thread's to say."""
    kernel.run(
        "import time\nclass Some:\n    def __dir__(self):\n        time.sleep(0.002); return ['a']\nsome = Some()"
    )
    session, channel = kernel.client.session, kernel.client.control_channel
    for _ in range(60):
        channel.send(session.msg("complete_request", {"code": "some.", "cursor_pos": 5}))
        channel.send(session.msg("interrupt_request", {}))
        kernel.manager.interrupt_kernel()
    asked = session.msg("kernel_info_request", {})
    channel.send(asked)
    while kernel.client.get_control_msg(timeout=60)["parent_header"]["msg_id"] != asked["header"]["msg_id"]:
        pass
    assert kernel.run("6 * 7").result == "42"


def test_an_interrupt_that_a_thread_asks_for_between_cells_is_survived(kernel):
    kernel.run(
        "import _thread, threading, time\n"
        "def often():\n    for _ in range(50):\n        time.sleep(0.005)\n        _thread.interrupt_main()\n"
        "threading.Thread(target=often).start()"
    )
    time.sleep(1)
    assert kernel.run("6 * 7").result == "42"


SLOW = """
class Slow:
    def __dir__(self):
        while True: pass
    def __repr__(self):
        while True: pass
slow = Slow()
class Untold(Exception):
    def __str__(self):
        while True: pass
"""


@pytest.mark.parametrize(("question", "text"), [("complete", "slow.a"), ("inspect", "slow")])
def test_a_question_that_never_ends_is_interrupted(kernel, question, text):
    kernel.run(SLOW)
    message_id = getattr(kernel.client, question)(text, len(text))
    time.sleep(0.5)
    kernel.manager.interrupt_kernel()
    assert kernel.reply(message_id)["status"] in ("ok", "error")
    assert kernel.run("6 * 7").result == "42"


def test_an_error_that_can_not_be_shown_is_left(kernel):
    kernel.run(SLOW)
    message_id = kernel.client.execute("raise Untold()")
    for _ in range(8):  # each __str__ that is asked is one more
        time.sleep(0.4)
        kernel.manager.interrupt_kernel()
    assert kernel.reply(message_id)["status"] == "error"
    assert kernel.run("6 * 7").result == "42"


def test_a_widget_s_handler_is_interrupted(kernel):
    kernel.run(
        "import comm\ndef looper(made, message):\n    @made.on_msg\n    def got(message):\n        while True: pass\n"
        "comm.get_comm_manager().register_target('looper', looper)"
    )
    for kind, content in (("comm_open", {"target_name": "looper"}), ("comm_msg", {})):
        message = kernel.client.session.msg(kind, {"comm_id": "loops", "data": {}, **content})
        kernel.client.shell_channel.send(message)
    time.sleep(0.5)
    kernel.manager.interrupt_kernel()
    assert kernel.run("6 * 7").result == "42"


def test_a_request_of_before_the_cell_does_not_interrupt_it(kernel):
    stale = kernel.client.session.msg("interrupt_request", {})
    message_id = kernel.client.execute("print('begun', flush=True)\nimport time\ntime.sleep(0.7)\n'whole'")
    kernel.wait_for("stream", message_id)
    kernel.client.control_channel.send(stale)
    assert kernel.finish(message_id).result == "'whole'"


LOSES = {  # cells that lose what an interrupt raised in them
    "an except of its own": "try:\n    print('begun', flush=True)\n    time.sleep(100)\nexcept KeyboardInterrupt:\n    pass",
    "a __del__": "class Goes:\n    def __del__(self):\n        print('begun', flush=True)\n        time.sleep(100)\nGoes()\n1",
    "a callback of IPython's": "def told(result):\n    ip.events.unregister('post_run_cell', told)\n"
    "    print('begun', flush=True)\n    time.sleep(100)\nip = get_ipython()\nip.events.register('post_run_cell', told)",
}


@pytest.mark.parametrize("how", LOSES)
def test_kernels_end_with_a_cell_that_lost_its_interrupt(kernel, how):
    pytest.importorskip("xcuda.core")
    kernel.run(
        "import time\nfrom xcuda import core as cuda\n@cuda.kernel\ndef spin(x):\n    while x[0] == 0:\n        x[0] *= 1\n"
        "s, x = cuda.stream(), cuda.zeros(1)\nspin[1, 1].compile('float64[::1]')"
    )
    outcome = kernel.interrupt_after(f"with s:\n    spin[1, 1](x)\n{LOSES[how]}")
    assert outcome.reply["status"] == "ok", outcome.reply
    assert kernel.run("s.synchronize()\n'over'", timeout=30).result == "'over'"


FIRST_STEP = """
import signal, asyncio
from xcuda.kernel import loop
events = loop.get()
make = events.create_task
def interrupted_make(coroutine, **more):
    del events.create_task
    if BEFORE: signal.raise_signal(signal.SIGINT)
    made = make(coroutine, **more)
    if not BEFORE: signal.raise_signal(signal.SIGINT)
    return made
events.create_task = interrupted_make
"""


@pytest.mark.parametrize("before", [True, False])
def test_an_interrupt_before_a_cells_first_step_is_a_keyboard_interrupt(kernel, before):
    kernel.run(f"BEFORE = {before}; ran = False" + FIRST_STEP)
    outcome = kernel.run("ran = True\nawait asyncio.sleep(5)\n'whole'")
    assert outcome.reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("await asyncio.sleep(0.2)\nran").result == str(not before)  # nothing of it runs later
    assert kernel.run("await asyncio.sleep(0)\n'well'").result == "'well'"


def test_what_is_awaited_may_not_swallow_an_interrupt(kernel):
    kernel.run(
        "import asyncio\nasync def stubborn():\n    try:\n        await asyncio.sleep(100)\n"
        "    except asyncio.CancelledError:\n        return 'swallowed'"
    )
    code = (
        "print('begun', flush=True)\nprint(await asyncio.create_task(stubborn()))\nawait asyncio.sleep(100)"
    )
    outcome = kernel.interrupt_after(code)
    assert outcome.reply["ename"] == "KeyboardInterrupt" and "swallowed" not in outcome.text()
    assert kernel.run("6 * 7").result == "42"


def test_a_task_that_is_interrupted_between_cells_leaves_the_next_cells_loop_alone(kernel):
    kernel.run(
        "import asyncio, signal, time\nasync def ends():\n    await asyncio.sleep(0.2)\n"
        "    for _ in range(5): await asyncio.sleep(0)\n    print('begun', flush=True)\n    time.sleep(1)\n"
        "    signal.raise_signal(signal.SIGINT)\ntask = asyncio.create_task(ends());"
    )
    time.sleep(0.5)  # the next cell waits while the task computes
    assert kernel.run("await asyncio.sleep(0.1)\n'whole'").result == "'whole'"
    assert kernel.run("type(task.exception()).__name__").result == "'KeyboardInterrupt'"
