"""%cuda_mem, %cuda_free and %cuda_limit: what they show, give back, hold to, and refuse."""

from __future__ import annotations

import gc
import time

import pytest
from fake_cuda import on_fake
from jupyterlab_sanitizer import sanitized
from magic_shell import a_shell, run, usage_error
from xcuda import core as cuda
from xcuda.magics import memory
from xcuda.profiler.peaks import largest


@pytest.fixture(scope="module")
def shell():
    for shell in a_shell():
        yield shell
        run(shell, "%cuda_free --all")


def used():
    gc.collect()
    return cuda.Device().memory()["used"]


def page_of(shell):
    return shell.run_line_magic("cuda_mem", "")._repr_mimebundle_()["text/html"]


def test_arrays_are_listed_by_variable_and_cell(shell):
    run(
        shell,
        "import numpy as np\nweights = cuda.to_device(np.ones((30, 50), np.float32))\nlayers = [cuda.zeros(7)]",
    )
    number = shell.execution_count - 1
    captured = run(shell, "%cuda_mem")
    text = captured.stdout
    row = next(line for line in text.splitlines() if "weights" in line)
    assert row.split()[:5] == ["weights", "5.9", "KiB", "30x50", "float32"] and f"<cell {number}>" in row
    assert "layers[0]" in text and "in use by arrays" in text
    page = page_of(shell)
    assert sanitized(page).replace(';">', '">') == page and ">weights</td>" in page


def test_peaks_are_told_by_cell(shell):
    gc.collect()  # arrays of other tests that would go while this one looks
    run(shell, "before = cuda.zeros(1000)")
    run(shell, "big = cuda.zeros(500_000)\ndel big\nsmall = cuda.zeros(10)")
    number = shell.execution_count - 1
    run(shell, "1 + 1")
    told = run(shell, "%cuda_mem").stdout.splitlines()[-1]
    assert told.startswith("at most held by arrays while a cell ran: ")
    peaks = dict(largest(cuda.Device().label, 1000))
    held = sum(a.nbytes for a in cuda.memory_info().arrays)
    assert f"In [{number}] 3.8 MiB" in told
    assert 4_008_000 <= peaks[f"In [{number}]"] <= 4_000_000 + held
    assert f"In [{number + 1}]" not in peaks  # made no arrays
    assert f"In [{number}] 3.8 MiB" in page_of(shell)
    run(shell, "%cuda_free before small")


def test_a_failed_cell_has_a_peak_too(shell):
    run(shell, "lost = cuda.zeros(70_000)\ndel lost\n1 / 0", ok=False)
    assert dict(largest(cuda.Device().label, 1000))[f"In [{shell.execution_count - 1}]"] >= 560_000


def test_ages_are_told(shell):
    begin = time.monotonic()
    run(shell, "older = cuda.zeros(11)\nimport time\ntime.sleep(0.05)\nyounger = cuda.zeros(11)")
    ages = {a.name: a.age for a in cuda.memory_info().arrays}
    whole = time.monotonic() - begin
    assert 0.05 <= ages["older"] <= whole and 0 <= ages["younger"] <= whole - 0.05
    text = run(shell, "%cuda_mem").stdout
    assert any(line.endswith("age") for line in text.splitlines()) and any(
        line.endswith(" ms") or line.endswith(" s") for line in text.splitlines() if "younger" in line
    )
    run(shell, "%cuda_free older younger")


def test_numeric_s_arrays_hold_memory_too(shell):
    run(shell, "import xcuda.numeric as xnp\nn = xnp.arange(100_000) * 2.0\nfloat(n.sum())")
    assert any(line.split()[0] == "n" for line in run(shell, "%cuda_mem").stdout.splitlines() if line.strip())
    before = used()
    run(shell, "%cuda_free --all")
    assert "n" not in shell.user_ns and used() <= before - 800_000


def test_reports_and_checks_hold_no_arrays(shell):
    before = used()
    run(shell, "held = cuda.zeros(100_000)")
    run(shell, "%cuda_profile -q -o kept_report triple(held)")
    run(shell, "%%cuda_check -o kept_check\ntriple(held)")
    run(shell, "%%cuda_debug -o kept_steps\ntriple(held)")
    assert used() >= before + 800_000
    run(shell, "%cuda_free held")
    assert used() < before + 10_000
    assert {"kept_report", "kept_check", "kept_steps"} <= set(shell.user_ns)


def test_a_name_given_twice_is_freed_once(shell):
    run(shell, "twice = cuda.zeros(1000)")
    assert "given back" in run(shell, "%cuda_free twice twice").stdout
    assert "twice" not in shell.user_ns


def test_a_full_device_names_the_holders_and_the_command(shell):
    run(shell, "holder = cuda.zeros(1 << 17)")
    told = usage_error(shell, "%%cuda_limit memory=1MiB\ncuda.zeros(1 << 20)")
    assert "The largest: holder (1.0 MiB" in told and "%cuda_free NAME" in told
    run(shell, "%cuda_free holder")


def test_names_are_escaped(shell):
    run(shell, "d = {'<b>x</b>': cuda.zeros(9)}")
    page = page_of(shell)
    assert "<b>x</b>" not in page and "&lt;b&gt;x&lt;/b&gt;" in page


def test_what_came_and_went(shell):
    memory._last.clear()
    assert "there was none yet" in usage_error(shell, "%cuda_mem --diff")
    run(shell, "old = cuda.zeros(1000)")
    run(shell, "%cuda_mem")
    run(shell, "new = cuda.zeros(3000)\ndel old")
    text = run(shell, "%cuda_mem --diff").stdout
    assert "change +" in text
    lines = [line.split()[:2] for line in text.splitlines()[2:]]
    assert ["+", "new"] in lines and ["-", "old"] in lines
    assert "the same arrays" in run(shell, "%cuda_mem --diff").stdout


def test_a_variable_is_freed_with_what_the_history_keeps(shell):
    before = used()
    run(shell, "a = cuda.zeros(100_000)\nb = cuda.zeros(10)\na")
    run(shell, "a")
    run(shell, "del_me = 1")
    assert used() >= before + 800_000
    assert "given back" in run(shell, "%cuda_free a").stdout
    assert used() < before + 10_000
    assert "a" not in shell.user_ns and "b" in shell.user_ns
    run(shell, "%cuda_free b")


def test_unused_is_what_only_the_history_and_tracebacks_hold(shell):
    before = used()
    run(shell, "kept = cuda.zeros(1000)\ncuda.zeros(100_000)")
    run(shell, "def fails():\n    local = cuda.zeros(100_000)\n    raise ValueError\nfails()", ok=False)
    run(shell, "%cuda_free --unused")
    assert before + 8000 <= used() < before + 100_000
    assert "kept" in shell.user_ns
    run(shell, "%cuda_free --all")
    assert "kept" not in shell.user_ns and used() <= before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%cuda_free", "takes names of variables, --unused or --all"),
        ("%cuda_free nothing_such", "there is no variable 'nothing_such'"),
        ("%cuda_mem tpu", "tpu"),
        ("%cuda_limit speed=3", "a limit is time=5s or memory=8GB, not 'speed=3'"),
        ("%cuda_limit time=5parsecs", "time= takes a number above 0 and a unit (ms, s, min, h), or none"),
        ("%cuda_limit memory=-3GB", "memory= takes a number above 0"),
        ("%cuda_limit time=0", "above 0"),
    ],
)
def test_wrong_lines_get_one_sentence(shell, line, told):
    assert told in usage_error(shell, line)


def test_limits_are_set_shown_and_lifted(shell):
    try:
        assert "time:   2.5 s a cell" in run(shell, "%cuda_limit time=2500ms memory=1GiB").stdout
        assert "memory: 1.0 GiB on" in run(shell, "%cuda_limit").stdout
        assert "MemoryError" in usage_error(shell, "big = cuda.zeros(1 << 28)")
    finally:
        text = run(shell, "%cuda_limit time=none memory=none").stdout
    assert "no limit" in text.splitlines()[0] and "no limit but its own" in text.splitlines()[1]


def test_spilling_is_a_gpus(shell):
    if shell.user_ns["cuda"].Device().kind == "cpu":
        assert "the CPU device's arrays are in host memory already" in usage_error(
            shell, "%cuda_mem --spill 1GB"
        )
    assert "--spill takes a number above 0 and a unit" in usage_error(shell, "%cuda_mem --spill much")


@on_fake()
def test_spilling_is_told():
    from magic_shell import a_shell
    from xcuda import core as cuda

    shell = next(a_shell())
    told = run(shell, "%cuda_mem --spill 64MiB").stdout
    assert "arrays of 2 MiB and more" in told and "at most 64.0 MiB of them" in told
    shell.user_ns["a"] = cuda.zeros(1 << 20)
    shown = run(shell, "%cuda_mem").stdout
    assert "moved to host memory 0 bytes, at most there (%cuda_mem --spill) 64.0 MiB" in shown
    assert "no array moves" in run(shell, "%cuda_mem --spill off").stdout
    assert "moved to host memory" not in run(shell, "%cuda_mem").stdout


ENDLESS = (
    "@cuda.kernel\ndef endless(x):\n    while x[0] == 0:\n        x[1] += 1\nx = cuda.zeros(2, 'int64')\n"
)


@pytest.mark.parametrize("body", [ENDLESS + "endless[1, 1](x)\ncuda.synchronize()", "while True:\n    pass"])
def test_a_cell_is_stopped_at_its_limit(shell, body):
    captured = run(shell, "%%cuda_limit time=300ms\n" + body, ok=False)
    told = captured.stdout + captured.stderr
    assert "TimeLimitError" in told and "the cell ran longer than 0.3 s" in told
    # The next cell has no limit, and the device goes on.
    captured = run(shell, "y = np.ones(4, np.float32)\ntriple(y)\nimport time; time.sleep(0.4)\nprint(y)")
    assert "[3. 3. 3. 3.]" in captured.stdout


def test_the_session_s_limit_holds_for_each_cell(shell):
    run(shell, "%cuda_limit time=2s")  # which cells that do nothing keep on a loaded machine too
    try:
        run(shell, "import time\ntime.sleep(0.1)")
        captured = run(shell, "time.sleep(100)", ok=False)
        assert "TimeLimitError" in captured.stdout + captured.stderr
        run(shell, "1 + 1")
    finally:
        run(shell, "%cuda_limit time=none")
    run(shell, "time.sleep(2.2)")


HOLDERS = {
    "an error": (
        "def f():\n    inside = cuda.zeros(100_000)\n    raise ValueError('x')\n"
        "try:\n    f()\nexcept ValueError as e:\n    holder = e",
        "holder, an error with inside of f()",
    ),
    "an error's cause": (
        "def f():\n    inside = cuda.zeros(100_000)\n    1 / 0\n"
        "try:\n    try:\n        f()\n    except ZeroDivisionError as e:\n        raise KeyError from e\n"
        "except KeyError as e:\n    holder = e",
        "holder, an error with inside of f()",
    ),
    "a closure": (
        "def made():\n    inside = cuda.zeros(100_000)\n    return lambda: inside\nholder = made()",
        "holder, a function with inside",
    ),
    "a default": ("def holder(x=cuda.zeros(100_000)):\n    pass", "holder, a function with a default"),
    "a set": ("from collections import deque\nholder = deque([cuda.zeros(100_000)])", "an item of holder"),
    "a partial": (
        "from functools import partial\nholder = partial(print, cuda.zeros(100_000))",
        "holder, a partial call's 0",
    ),
    "a generator": (
        "def g():\n    inside = cuda.zeros(100_000)\n    yield\n    yield inside\nholder = g()\nnext(holder)",
        "holder, paused with inside",
    ),
    "a generator not begun": (
        "def g(inside):\n    yield inside\nholder = g(cuda.zeros(100_000))",
        "holder, paused with inside",
    ),
    "a coroutine": (
        "import asyncio\nasync def g(inside):\n    await asyncio.sleep(0)\nholder = g(cuda.zeros(100_000))\nholder.send(None)",
        "holder, paused with inside",
    ),
    "an asynchronous generator": (
        "async def g(inside):\n    yield inside\nholder = g(cuda.zeros(100_000))\n"
        "try:\n    holder.__anext__().send(None)\nexcept StopIteration:\n    pass",
        "holder, paused with inside",
    ),
    "an object": (
        "class Net:\n    pass\nholder = Net()\nholder.weights = cuda.zeros(100_000)",
        "holder.weights",
    ),
    "an object with slots": (
        "class Net:\n    __slots__ = ('weights', 'unset')\nholder = Net()\nholder.weights = cuda.zeros(100_000)",
        "holder.weights",
    ),
    "a method": (
        "class Net:\n    def run(self):\n        pass\nnet = Net()\nnet.weights = cuda.zeros(100_000)\n"
        "holder = net.run\ndel net",
        "holder.__self__.weights",
    ),
    "a class": ("class holder:\n    weights = cuda.zeros(100_000)", "holder.weights"),
    "a named tuple": (
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: object\n    b: int\n"
        "holder = Pair(cuda.zeros(100_000), 1)",
        "holder[0]",
    ),
    "objects in a dict of lists": (
        "class Layer:\n    pass\nlayer = Layer()\nlayer.weights = cuda.zeros(100_000)\n"
        "holder = {'net': [layer]}\ndel layer",
        "holder['net'][0].weights",
    ),
    "a dict's attribute": (
        "class Net(dict):\n    pass\nholder = Net(a=1)\nholder.weights = cuda.zeros(100_000)",
        "holder.weights",
    ),
    "a NumPy array of objects": (
        "holder = np.empty((2, 2), object)\nholder[1, 0] = cuda.zeros(100_000)",
        "holder[1, 0]",
    ),
    "an iterator": ("holder = iter([cuda.zeros(100_000)])", "something in holder"),
    "a cache of results": (
        "from functools import lru_cache\n@lru_cache\ndef holder(n):\n    return cuda.zeros(n)\n"
        "_ = holder(100_000)\n_ = 0",
        "something in holder",
    ),
    "a decorated function": (
        "from functools import wraps\ndef made():\n    inside = cuda.zeros(100_000)\n    def f():\n"
        "        return inside\n    @wraps(f)\n    def g():\n        pass\n    return g\nholder = made()",
        "holder.__wrapped__, a function with inside",
    ),
    "a kernel": (
        "def made():\n    inside = cuda.zeros(100_000)\n    @cuda.kernel\n    def k(x):\n"
        "        x[0] = inside[0]\n    return k\nholder = made()",
        "holder",
    ),
    "a task": (
        "import asyncio\nasync def g(inside):\n    await asyncio.Event().wait()\n"
        "loop = asyncio.new_event_loop()\nholder = loop.create_task(g(cuda.zeros(100_000)))\n"
        "loop.run_until_complete(asyncio.sleep(0))\nloop.close()",
        "something in holder, paused with inside",
    ),
}


@pytest.mark.parametrize("kind", HOLDERS)
def test_whatever_holds_an_array_is_named_and_freed_by_its_name(shell, kind):
    code, named = HOLDERS[kind]
    run(shell, "%cuda_free --all")
    before = used()
    run(shell, code)
    assert used() >= before + 800_000
    assert named in run(shell, "%cuda_mem").stdout
    run(shell, "%cuda_free holder")
    assert used() < before + 10_000


@pytest.mark.parametrize("kind", HOLDERS)
def test_all_takes_whatever_holds_an_array(shell, kind):
    run(shell, "%cuda_free --all")
    before = used()
    run(shell, HOLDERS[kind][0])
    assert "holder" in shell.user_ns and used() >= before + 800_000
    run(shell, "%cuda_free --all")
    assert used() < before + 10_000 and "holder" not in shell.user_ns


def test_all_leaves_what_leads_to_arrays_only_by_the_notebook_itself(shell):
    run(
        shell,
        "a = cuda.zeros(10)\nip = get_ipython()\nhook = ip.displayhook\nimport sys, asyncio\nmain = sys.modules['__main__']\n"
        "def uses():\n    return a\nlazy = (n for n in range(3))\nloop = asyncio.new_event_loop()\nfuture = loop.create_future()\nloop.close()",
    )
    run(shell, "%cuda_free --all")
    assert "a" not in shell.user_ns
    assert {"ip", "hook", "main", "uses", "lazy", "loop", "future", "cuda", "np"} <= set(shell.user_ns)


def test_looking_for_holders_runs_no_code_of_theirs_and_ends(shell):
    run(
        shell,
        "class Lazy(list):\n    def __getattribute__(self, name):\n        raise RuntimeError(name)\n"
        "    def __iter__(self):\n        raise RuntimeError\n    def __getitem__(self, key):\n        raise RuntimeError\n"
        "lazy = Lazy([cuda.zeros(10)])\nloop = []\nloop.append(loop)\nmany = [[i] for i in range(100_000)]",
    )
    assert "lazy[0]" in run(shell, "%cuda_mem").stdout
    run(shell, "%cuda_free --all")
    assert "lazy" not in shell.user_ns and {"loop", "many"} <= set(shell.user_ns)


def test_names_with_commas_and_names_that_hold_nothing(shell):
    run(shell, "one, two, count = cuda.zeros(10), cuda.zeros(10), 3")
    run(shell, "%cuda_free one, two")
    assert not {"one", "two"} & set(shell.user_ns)
    for name in ("np", "count"):
        assert "holds no device memory" in usage_error(shell, f"%cuda_free {name}")
        assert name in shell.user_ns


def test_a_unit_s_k_may_be_small(shell):
    run(shell, "%cuda_limit memory=900kB")
    assert cuda.Device().memory_limit == 900_000
    run(shell, "%cuda_limit memory=none")
