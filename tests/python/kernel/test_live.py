"""What a front end sees while a long cell runs: the line of progress, and the dashboard."""

import pytest

pytest.importorskip("xcuda.core")

SETUP = """from xcuda import core as cuda, profiler
@cuda.kernel
def spin(x):
    while x[0] >= 0.0:
        x[0] = x[0] + 1.0
@cuda.kernel
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1
x = cuda.zeros(64)
spin[1, 1](cuda.full(64, -1.0))
add_one[1, 64](x)
"""
SPIN = "spin[1, 1](x)\ncuda.synchronize()"


@pytest.fixture(scope="module")
def cuda(kernel):
    outcome = kernel.run(SETUP, timeout=60)
    assert outcome.reply["status"] == "ok", outcome.reply
    return kernel


def until(kernel, wanted, timeout=60):
    """The first iopub message for which `wanted` holds."""
    while True:
        message = kernel.client.get_iopub_msg(timeout=timeout)
        if wanted(message):
            return message


def rest_of(kernel, message_id):
    """The iopub messages up to a request's end, whosever they are."""
    seen = []
    while True:
        message = kernel.client.get_iopub_msg(timeout=60)
        seen.append(message)
        ended = message["content"].get("execution_state") == "idle"
        if ended and message["parent_header"].get("msg_id") == message_id:
            return seen


def display_of(message):
    return message["content"].get("transient", {}).get("display_id", "")


def test_a_long_kernel_has_a_line_that_changes_and_ends(cuda):
    cuda.run("profiler.show_progress(0)")
    message_id = cuda.client.execute(SPIN)
    first = until(cuda, lambda m: m["msg_type"] == "display_data" and display_of(m).startswith("xcuda-line-"))
    assert first["parent_header"]["msg_id"] == message_id
    mine = display_of(first)
    spins = until(
        cuda, lambda m: display_of(m) == mine and "spin: running" in m["content"]["data"]["text/plain"]
    )
    assert spins["msg_type"] == "update_display_data" or spins is first
    cuda.manager.interrupt_kernel()
    seen = rest_of(cuda, message_id)
    assert cuda.reply(message_id)["ename"] == "KeyboardInterrupt"
    last = [m for m in seen if display_of(m) == mine][-1]
    assert last["msg_type"] == "update_display_data"
    assert last["content"]["data"]["text/plain"].startswith("spin ran for ")
    cuda.run("profiler.show_progress(True)")


@pytest.mark.parametrize("off", ["profiler.show_progress(False)", "%cuda_report off"])
def test_there_is_no_line_where_it_is_off_or_nothing_is_long(cuda, off):
    loop = "for _ in range(300):\n    add_one[1, 64](x)\ncuda.synchronize()"
    cuda.run("profiler.show_progress(3600)")
    assert not [m for m in cuda.run(loop).messages if display_of(m)]
    cuda.run(f"profiler.show_progress(0)\n{off}")
    assert not [m for m in cuda.run(loop).messages if display_of(m)]
    cuda.run("profiler.show_progress(True)\n%cuda_report on")


VIEW = "application/vnd.jupyter.widget-view+json"


def views(kernel, model, count):
    """What a front end tells when a widget's views come or go."""
    content = {"comm_id": model, "data": {"method": "update", "state": {"_view_count": count}}}
    message = kernel.client.session.msg("comm_msg", content)
    kernel.client.session.send(kernel.client.shell_channel.socket, message)


def page_of(message, name):
    """The page that an update of the display has, "" where it is none."""
    content = message["content"]
    if message["msg_type"] != "update_display_data" or content["transient"]["display_id"] != name:
        return ""
    return content["data"]["text/html"]


@pytest.fixture
def dashboard(cuda):
    """(display's content, id of the invisible widget's model)"""
    pytest.importorskip("ipywidgets")
    outcome = cuda.run("%cuda_dashboard --every 0.05", timeout=60)
    shown, watching = outcome.of("display_data")
    yield shown, watching["data"][VIEW]["model_id"]
    cuda.run("%cuda_dashboard off")


def test_the_dashboard_shows_what_there_is_without_a_widget(cuda, dashboard):
    """So that a page made by nbconvert, or one that shows no widgets, has it."""
    bundle = dashboard[0]["data"]
    assert {"text/plain", "text/html"} == set(bundle)
    assert "memory by variable" in bundle["text/plain"] and "512 bytes" in bundle["text/plain"]
    assert "<script" not in bundle["text/html"] and "cpu" in bundle["text/html"]


def test_the_dashboard_goes_on_between_and_during_cells_with_names_escaped(cuda, dashboard):
    name = dashboard[0]["transient"]["display_id"]
    cuda.client.execute("held = {'<img src=x>': cuda.zeros(1000)}")
    new = until(cuda, lambda m: "img src=x" in page_of(m, name))
    assert "<img" not in page_of(new, name) and "&lt;img" in page_of(new, name)
    cuda.client.execute("add_one[1, 64](x)")
    until(cuda, lambda m: "last kernels" in page_of(m, name) and "add_one" in page_of(m, name))
    message_id = cuda.client.execute(SPIN)
    until(cuda, lambda m: "spin: running" in page_of(m, name))
    cuda.manager.interrupt_kernel()
    rest_of(cuda, message_id)
    assert cuda.reply(message_id)["ename"] == "KeyboardInterrupt"
    cuda.run("del held")


def test_the_dashboard_stops_when_nobody_sees_it_any_more(cuda, dashboard):
    views(cuda, dashboard[1], 1)
    assert cuda.run("from xcuda.magics import dashboard\ndashboard.is_running()").result == "True"
    views(cuda, dashboard[1], 0)
    assert cuda.run("dashboard._panel.thread.join(30); dashboard.is_running()", timeout=60).result == "False"


def test_the_dashboard_stops_when_it_is_told_to(cuda, dashboard):
    outcome = cuda.run("%cuda_dashboard off")
    assert outcome.text() == "The dashboard has stopped.\n"
    pages = [page_of(m, dashboard[0]["transient"]["display_id"]) for m in outcome.messages]
    assert "stopped" in "".join(pages)
    assert cuda.run("%cuda_dashboard off").text() == "No dashboard is shown.\n"
    assert "seconds above 0" in str(cuda.run("%cuda_dashboard --every 0").messages)


def test_without_widgets_it_is_a_snapshot(cuda):
    outcome = cuda.run(
        "import sys\nhidden = sys.modules.get('ipywidgets')\nsys.modules['ipywidgets'] = None\n"
        "try:\n    get_ipython().run_line_magic('cuda_dashboard', '')\nfinally:\n"
        "    sys.modules.pop('ipywidgets')\n    if hidden: sys.modules['ipywidgets'] = hidden"
    )
    assert outcome.reply["status"] == "ok", outcome.reply
    [shown] = [d["data"] for d in outcome.of("display_data") if "snapshot" in d["data"]["text/plain"]]
    assert VIEW not in shown and "memory by variable" in shown["text/html"]
