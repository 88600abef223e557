"""Executing cells: results, errors, counts, displays, exits."""

import sys
import time

import pytest


def test_execution_count_follows_stored_cells(kernel):
    first = kernel.run("1")
    number = first.reply["execution_count"]
    assert first.of("execute_input")[0]["execution_count"] == number
    assert first.of("execute_result")[0]["execution_count"] == number
    kernel.run("2", silent=True)
    kernel.run("3", store_history=False)
    after = kernel.run("4")
    assert after.reply["execution_count"] == number + 1
    assert after.of("execute_input")[0]["execution_count"] == number + 1
    assert kernel.run("Out[%d]" % (number + 1)).result == "4"


@pytest.mark.parametrize(
    ("code", "name", "value"),
    [
        ("1/0", "ZeroDivisionError", "division by zero"),
        ("class Mine(Exception): pass\nraise Mine('so')", "Mine", "so"),
        ("def f(:", "SyntaxError", None),
        ("  x = 1\n y = 2", "IndentationError", None),
        ("undefined_name", "NameError", "name 'undefined_name' is not defined"),
        ("raise SystemExit(3)", "SystemExit", "3"),
        ("import asyncio\nawait asyncio.sleep(0)\nraise KeyError('k')", "KeyError", "'k'"),
    ],
)
def test_errors_have_clean_names(kernel, code, name, value):
    outcome = kernel.run(code)
    [shown] = outcome.of("error")
    assert outcome.reply["status"] == "error"
    assert shown["ename"] == outcome.reply["ename"] == name
    if value is not None:
        assert shown["evalue"] == outcome.reply["evalue"] == value
    assert shown["traceback"] == outcome.reply["traceback"]
    assert kernel.run("40 + 2").result == "42"


def test_traceback_names_the_cell_and_its_line(kernel):
    outcome = kernel.run("x = 1\ny = 2\nx / (y - 2)")
    trace = "\n".join(outcome.reply["traceback"])
    assert f"In[{outcome.reply['execution_count']}]" in trace.replace("\x1b[32m", "")
    assert "line 3" in trace


def test_an_exception_that_cannot_be_printed_is_still_told(kernel):
    outcome = kernel.run("class Bad(Exception):\n    def __str__(self): raise ValueError('no')\nraise Bad()")
    assert outcome.reply["ename"] == "Bad"
    assert kernel.run("1").result == "1"


def test_silent_cell_shows_nothing(kernel):
    outcome = kernel.run("1/0", silent=True)
    assert outcome.reply["status"] == "error"
    assert outcome.reply["ename"] == "ZeroDivisionError"
    assert {message["msg_type"] for message in outcome.messages} == {"status"}


def test_user_expressions(kernel):
    outcome = kernel.run("x = 5", user_expressions={"good": "x + 1", "bad": "1/0"})
    answers = outcome.reply["user_expressions"]
    assert answers["good"]["data"]["text/plain"] == "6"
    assert answers["bad"]["status"] == "error"
    assert answers["bad"]["ename"] == "ZeroDivisionError"


def test_top_level_await(kernel):
    assert kernel.run("import asyncio\nawait asyncio.sleep(0.01, 'slept')").result == "'slept'"


def test_tasks_go_on_between_cells(kernel):
    kernel.run(
        "import asyncio, time\nseen = []\nasync def tick():\n    while True:\n"
        "        seen.append(time.monotonic())\n        await asyncio.sleep(0.02)\ntask = asyncio.create_task(tick())"
    )
    kernel.run("time.sleep(0.1); before = len(seen)")  # a cell that computes holds the tasks up
    for _ in range(100):
        time.sleep(0.5)
        if int(kernel.run("len(seen) - before").result) >= 10:
            break
    else:
        pytest.fail("the task stood still")
    kernel.run("task.cancel()")


def test_a_callback_from_another_thread_wakes_an_idle_kernel(kernel, tmp_path):
    woken = tmp_path / "woken"
    kernel.run(
        "import asyncio, os, threading\nloop = asyncio.get_running_loop()\n"
        f"threading.Timer(0.2, lambda: loop.call_soon_threadsafe(os.mkdir, {str(woken)!r})).start()"
    )
    for _ in range(600):
        if woken.exists():
            break
        time.sleep(0.1)
    assert woken.exists()


def test_a_failing_background_task_leaves_the_kernel_well(kernel):
    kernel.run(
        "import asyncio\nasync def fail(): raise ValueError('in the background')\n"
        "t = asyncio.create_task(fail())"
    )
    assert kernel.run("type(t.exception()).__name__").result == "'ValueError'"


def test_display_update_and_clear(kernel):
    outcome = kernel.run(
        "from IPython.display import clear_output\nh = display('one', display_id='d')\n"
        "h.update('two')\nclear_output(wait=True)"
    )
    [shown] = outcome.of("display_data")
    [updated] = outcome.of("update_display_data")
    assert shown["transient"]["display_id"] == updated["transient"]["display_id"] == "d"
    assert updated["data"]["text/plain"] == "'two'"
    assert outcome.of("clear_output") == [{"wait": True}]


def test_bundles_with_bytes_and_nan_reach_the_front_end(kernel):
    outcome = kernel.run(
        "import numpy as np\ndisplay({'image/png': b'\\x89PNG', 'application/json': {'a': float('nan'),"
        " 'b': np.float32(0.5), 3: np.int64(4)}}, raw=True)"
    )
    [shown] = outcome.of("display_data")
    assert shown["data"]["image/png"] == "iVBORw=="
    assert shown["data"]["application/json"] == {"a": "nan", "b": 0.5, "3": 4}


def test_matplotlib_inline(kernel):
    outcome = kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", timeout=60)
    [shown] = outcome.of("display_data")
    assert shown["data"]["image/png"].startswith("iVBOR")
    magic = kernel.run("%matplotlib inline\nplt.plot([2, 1]); plt.show()")
    assert magic.reply["status"] == "ok"
    assert len(magic.of("display_data")) == 1


def test_an_unknown_gui_is_refused_with_advice(kernel):
    outcome = kernel.run("%gui qt")
    assert "runs no event loop for 'qt'" in outcome.text("stderr")


def test_capture_magic(kernel):
    quiet = kernel.run("%%capture got\nimport sys\nprint('out')\nprint('err', file=sys.stderr)\n7")
    assert not quiet.of("stream") and not quiet.of("execute_result")
    assert (
        kernel.run("(got.stdout, got.stderr, got.outputs[0].data['text/plain'])").result
        == "('out\\n', 'err\\n', '7')"
    )


def test_load_ext_and_pickle_of_a_class_from_a_cell(kernel):
    assert kernel.run("%load_ext autoreload").reply["status"] == "ok"
    code = "class Point:\n    x = 1\nimport pickle\npickle.loads(pickle.dumps(Point())).x"
    assert kernel.run(code).result == "1"


def test_source_of_a_function_from_a_cell(kernel):
    assert kernel.run("def double(x):\n    return 2 * x").reply["status"] == "ok"
    assert "return 2 * x" in kernel.run("import inspect\nprint(inspect.getsource(double))").text()


def test_pager_payload(kernel):
    [payload] = kernel.run("len?").reply["payload"]
    assert payload["source"] == "page"
    assert "Docstring" in payload["data"]["text/plain"]
    assert kernel.run("1").reply["payload"] == []


def test_argv_holds_no_connection_file(kernel):
    argv = kernel.run("import sys; sys.argv").result
    assert "-f" not in argv and ".json" not in argv


def test_language_version_is_the_running_one(kernel):
    info = kernel.ask("kernel_info")
    assert info["language_info"]["version"] == sys.version.split()[0]
    assert info["implementation"] == "xcuda"
    assert info["debugger"] is True


def test_libraries_see_a_notebook(kernel):
    assert kernel.run("type(get_ipython()).__name__").result == "'ZMQInteractiveShell'"
    assert kernel.run("'IPKernelApp' in get_ipython().config").result == "True"
