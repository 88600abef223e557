"""The kernel and the real runtime together, on the CPU device."""

import re
import time

import pytest

pytest.importorskip("xcuda.core")

SETUP = """from xcuda import core as cuda
import numpy as np
@cuda.kernel
def scale(a, x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = a * x[i]
@cuda.kernel
def poke(x, where):
    if cuda.grid(1) == 0:
        x[where] = 1.0
@cuda.kernel
def spin(x):
    while True:
        x[0] = x[0] + 1.0
x = np.ones(8, dtype=np.float32)
"""


@pytest.fixture(scope="module")
def cuda(kernel):
    outcome = kernel.run(SETUP, timeout=60)
    assert outcome.reply["status"] == "ok", outcome.reply
    return kernel


def test_a_launch_has_a_report_and_a_plain_cell_has_none(cuda):
    shown = cuda.run("scale(2.0, x)", timeout=60).of("display_data")
    # On a busy machine the compile may take so long that a progress line stands beside it.
    [report] = [one for one in shown if "application/vnd.xcuda.report.v1+json" in one["data"]]
    assert "scale" in report["data"]["text/plain"]
    assert cuda.run("x.tolist()").result == str([2.0] * 8)
    assert not cuda.run("1 + 1").of("display_data")


def test_an_index_out_of_range_names_the_cells_line_and_the_next_cell_works(cuda):
    reply = cuda.run("poke[1, 1](x, 10**6)", timeout=60).reply
    assert reply["ename"] == "IndexError"
    assert "1000000" in reply["evalue"] and "(8,)" in reply["evalue"]
    assert "at line 11 of <cell " in reply["evalue"] and "thread (0, 0, 0)" in reply["evalue"]
    assert cuda.run("poke[1, 1](x, 3); x[3]", timeout=60).result == "np.float32(1.0)"


def test_a_kernel_that_never_ends_is_interrupted(cuda):
    message_id = cuda.client.execute("print('begun', flush=True)\nspin[1, 1](x)\ncuda.synchronize()")
    cuda.wait_for("stream", message_id)
    time.sleep(0.5)
    cuda.manager.interrupt_kernel()
    reply = cuda.reply(message_id)
    assert reply["ename"] == "KeyboardInterrupt"
    assert cuda.run("x[:] = 1; scale(3.0, x); x[0]", timeout=60).result == "np.float32(3.0)"


STAYS = {
    "a wait for a stream": "with s:\n    spin[1, 1](d)\nprint('begun', flush=True)\ns.synchronize()",
    "an await": "print('begun', flush=True)\nwith s:\n    await spin[1, 1].async_call(d)",
    "an await of several": (
        "print('begun', flush=True)\nwith s:\n    await asyncio.gather(*(spin[1, 1].async_call(d) for _ in range(2)))"
    ),
    "an await of what ran at once": "print('begun', flush=True)\nawait spin[1, 1].async_call(d)",
    "another task": (
        "async def waits():\n    with s:\n        await spin[1, 1].async_call(d)\n"
        "task = asyncio.create_task(waits())\nprint('begun', flush=True)\nawait asyncio.sleep(100)"
    ),
    "Python beside it": "with s:\n    spin[1, 1](d)\nprint('begun', flush=True)\nwhile True: pass",
}


@pytest.mark.parametrize("where", STAYS)
def test_an_interrupt_stops_the_kernels_of_streams_and_is_told_once(cuda, where):
    cuda.run("import asyncio\ns, d, e = cuda.stream(), cuda.zeros(1), cuda.to_device(np.ones(8))")
    assert cuda.interrupt_after(STAYS[where]).reply["ename"] == "KeyboardInterrupt"
    # Whatever was under way has ended, and nothing tells of it again.
    after = "cuda.synchronize()\nwith s:\n    scale(2.0, e)\ns.synchronize()\ne.copy_to_host()[0]"
    assert cuda.run(after, timeout=30).result == "np.float64(2.0)"
    assert cuda.run("import asyncio\nawait asyncio.sleep(0.01)\n7", timeout=30).result == "7"


@pytest.mark.parametrize("delay", [0, 0.002, 0.01, 0.05, 0.2])
def test_an_interrupt_of_an_idle_kernel_stops_what_cells_have_left(cuda, delay):
    assert cuda.run("s, d = cuda.stream(), cuda.zeros(1)\nwith s:\n    spin[1, 1](d)").reply["status"] == "ok"
    time.sleep(delay)
    cuda.manager.interrupt_kernel()
    message_id = cuda.client.execute("s.synchronize()\n'over'")
    assert cuda.reply(message_id, timeout=30)["status"] == "ok"


def test_a_time_limit_inside_await_names_the_cells_line(cuda):
    cuda.run("s, d = cuda.stream(), cuda.zeros(1)\n%cuda_limit time=0.5s")
    outcome = cuda.run("with s:\n    await spin[1, 1].async_call(d)", timeout=30)
    cuda.run("%cuda_limit time=none")
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(outcome.of("error")[0]["traceback"]))
    assert outcome.reply["ename"] == "TimeLimitError"
    assert "----> 2     await spin" in text and "asyncio" not in text and "xcuda/" not in text
    assert cuda.run("s.synchronize()\n'over'", timeout=30).result == "'over'"


def test_what_was_stopped_is_named(cuda):
    cuda.run("s, d = cuda.stream(), cuda.zeros(1)")
    code = "with s:\n    spin[1, 1](d)\nprint('begun', flush=True)\ncuda.synchronize()"
    text = "\n".join(cuda.interrupt_after(code).of("error")[0]["traceback"])
    assert re.search(r"spin was stopped, launched at line 2 of <cell \d+>", text), text


def test_help_of_a_kernel(cuda):
    [payload] = cuda.run("scale?").reply["payload"]
    assert "scale" in payload["data"]["text/plain"]


def test_magics_are_there_without_loading_anything(own_kernel):
    assert "%cuda_info" in own_kernel.ask("complete", "%cuda_in", 8)["matches"]
    assert own_kernel.run("import sys; 'xcuda._runtime' in sys.modules").result == "False"


def test_shutdown_while_a_kernel_runs(own_kernel):
    own_kernel.run(SETUP, timeout=60)
    message_id = own_kernel.client.execute("print('begun', flush=True)\nspin[1, 1](x)\ncuda.synchronize()")
    own_kernel.wait_for("stream", message_id)
    time.sleep(0.5)
    assert own_kernel.close() == 0


def test_a_refusal_shows_the_users_frames_alone(kernel):
    """A kernel's refusal is a SyntaxError of a running cell: nothing of IPython stands above it."""
    kernel.run("from xcuda import core as cuda\nimport numpy as np")
    outcome = kernel.run("@cuda.kernel\ndef bad(a):\n    a.append(3)\n\n\nbad(np.zeros(3))")
    (error,) = outcome.of("error")
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert "a.append(3)" in text and "bad(np.zeros(3))" in text and "KernelSyntaxError" in text
    assert "interactiveshell" not in text and "exec(code_obj" not in text
    plain = kernel.run("a b").of("error")[0]  # of the cell's own text, as ever
    assert plain["ename"] == "SyntaxError" and "a b" in "\n".join(plain["traceback"])


def test_a_warning_names_the_cell(kernel):
    kernel.run("from xcuda import core as cuda\nimport numpy as np")
    outcome = kernel.run(
        "@cuda.kernel\ndef last(x, n):\n    for k in range(n):\n        pass\n    x[cuda.grid(1)] = k\n\n\n"
        "last[1, 1](np.zeros(1, np.int64), 3)"
    )
    told = "\n".join(part["data"]["text/plain"] for part in outcome.of("display_data"))
    assert re.search(r"warning: <cell \d+>, line 5: 'k' may have no value here", told), told


def test_what_leads_to_arrays_by_the_notebook_itself_is_no_holder(kernel):
    kernel.run("from xcuda import core as cuda\ncuda.zeros(3)")
    kernel.run("a = cuda.zeros(3)\nip = get_ipython()")
    told = kernel.run("print(cuda.memory_info())").text()
    assert "  a (24 bytes" in told and "exit" not in told and "_ip" not in told and "ip." not in told, told
    kernel.run("%cuda_free --all")
    assert kernel.run(
        "[n for n in ('a', 'ip', 'exit', 'quit', 'get_ipython', 'In', 'Out') if n in globals()]"
    ).result == ("['ip', 'exit', 'quit', 'get_ipython', 'In', 'Out']")


def test_pythons_warnings_name_the_cell(kernel):
    kernel.run("import warnings, numpy as np\nfrom xcuda import core as cuda")
    for cell, kind in (
        ("1 + 1\nnp.zeros(1) / 0", "RuntimeWarning"),
        ("@cuda.kernel\ndef idle(x, unused):\n    x[0] = 1", "KernelWarning"),
        ("1\nwarnings.warn('mine')", "UserWarning"),
    ):
        told = "".join(part["text"] for part in kernel.run(cell).of("stream"))
        assert re.match(rf"Cell In\[\d+\], line 2: {kind}: ", told), told


@pytest.mark.parametrize(
    "cell",
    [
        "cuda.grid(1)",
        "bad(np.array(['a', 'b']))",
        "cuda.to_device(np.zeros(3))[7]",
        "cuda.zeros(3).mean",
        "@cuda.kernel\ndef refused(a):\n    d = {}",
        "cuda.Device('tpu')",
        "cuda.to_device(np.zeros(3)).copy_to_host(np.zeros(4))",
    ],
)
def test_what_the_runtime_tells_on_purpose_shows_the_users_line_alone(kernel, cell):
    kernel.run(
        "from xcuda import core as cuda\nimport numpy as np\n\n\n@cuda.kernel\ndef bad(a):\n    a[cuda.grid(1)] = 1"
    )
    (error,) = kernel.run(cell).of("error")
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert cell.splitlines()[0] in text and "xcuda/core" not in text, text
    depth = "import sys, traceback; len(traceback.extract_tb(sys.last_traceback))"
    assert int(kernel.run(depth).result) >= 2  # %debug still has all of it


def test_a_fault_of_ours_shows_all_frames(kernel):
    kernel.run(
        "from xcuda.core import arrays\nfrom xcuda import core as cuda\n"
        "kept, arrays._shape = arrays._shape, lambda shape: shape.nonsense"
    )
    (error,) = kernel.run("cuda.empty(3)").of("error")
    assert "arrays.py" in "\n".join(error["traceback"])
    kernel.run("arrays._shape = kept")
