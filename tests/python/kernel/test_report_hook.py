"""What the kernel does with a runtime: told of cells, asked for reports and completions; its faults harm no cell.

The runtime here is a stand-in made inside the kernel, so that each answer and each failure can be had at will.
"""

import pytest

STAND_IN = """
import sys, types
calls, answer = [], None
profiler, magics = types.ModuleType("xcuda.profiler"), types.ModuleType("xcuda.magics")
profiler.cell_begin = lambda code, count: calls.append(("begin", code, count))
def cell_end(failed, count):
    calls.append(("end", failed, count))
    if isinstance(answer, Exception):
        raise answer
    return answer
profiler.cell_end = cell_end
magics.render_report = lambda report: ({"text/plain": f"report {report}"}, {"m": 1})
magics.kernel_completions = lambda code, cursor: (["block_sum"], cursor - 2, cursor) if code.endswith("bl") else None
sys.modules.update({"xcuda._runtime": types.ModuleType("xcuda._runtime"),
                    "xcuda.profiler": profiler, "xcuda.magics": magics})
"""


@pytest.fixture(scope="module")
def runtime(kernel):
    """The kernel after the cell in which the runtime was first loaded."""
    assert kernel.run(STAND_IN).reply["status"] == "ok"
    return kernel


def test_the_cell_that_loads_the_runtime_is_ended(runtime):
    # It was not begun: nobody could be told yet.
    assert runtime.run("calls[0][:2]").result == "('end', False)"


def test_each_cell_is_begun_and_ended(runtime):
    runtime.run("calls.clear()")
    count = runtime.run("1").reply["execution_count"]
    assert runtime.run("calls[1:3]").result == f"[('begin', '1', {count}), ('end', False, {count})]"
    count = runtime.run("calls.clear(); 1/0").reply["execution_count"]
    assert runtime.run("calls[0]").result == f"('end', True, {count})"


def test_a_report_is_the_last_display_of_its_cell(runtime):
    outcome = runtime.run("answer = 'R1'\nprint('out')\n5")
    assert outcome.of("display_data") == [
        {"data": {"text/plain": "report R1"}, "metadata": {"m": 1}, "transient": {}}
    ]
    kinds = [message["msg_type"] for message in outcome.messages]
    assert kinds[-2:] == ["display_data", "status"]


def test_silent_cells_have_none(runtime):
    runtime.run("answer = 'R2'; calls.clear()")
    outcome = runtime.run("1", silent=True)
    assert not outcome.of("display_data")
    assert not runtime.run("answer = None\n[c for c in calls[1:] if c[0] == 'end']").of("display_data")


def test_a_failure_is_logged_once_and_breaks_no_cell(runtime):
    outcome = runtime.run("answer = ValueError('broken')\n5")
    assert outcome.result == "5" and outcome.reply["status"] == "ok"
    assert not outcome.of("stream") and not outcome.of("display_data")
    assert runtime.run("6").result == "6"
    runtime.run("answer = None")


def test_a_report_that_waits_can_be_interrupted(runtime):
    runtime.run(
        "import time\nquick = profiler.cell_end\nprofiler.cell_end = lambda failed, count: time.sleep(100)",
        silent=True,
    )
    message_id = runtime.client.execute("print('begun')")
    runtime.wait_for("stream", message_id)
    runtime.manager.interrupt_kernel()
    assert runtime.finish(message_id).reply["ename"] == "KeyboardInterrupt"
    runtime.run("profiler.cell_end = quick", silent=True)
    assert runtime.run("1").result == "1"


def test_completions_of_the_runtime_come_in(runtime):
    reply = runtime.ask("complete", "bl", 2)
    assert reply["matches"][0] == "block_sum"
    assert "len" in runtime.ask("complete", "le", 2)["matches"]
