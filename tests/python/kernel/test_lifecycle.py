"""Start, restart, shutdown, exit: the process comes and goes cleanly."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest


def ends(session, timeout=60) -> int:
    return session.process.wait(timeout=timeout)


def test_ten_starts_and_shutdowns_leave_no_crash(kernel):
    from conftest import Session

    for number in range(10):
        session = Session()
        # Alternately idle, just busy, and with threads and tasks still alive.
        if number % 3 == 1:
            assert (
                session.run(
                    "import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True)"
                    ".start()\nimport asyncio\nt = asyncio.create_task(asyncio.sleep(30))"
                ).reply["status"]
                == "ok"
            )
        elif number % 3 == 2:
            session.client.execute("print('x' * 100000)")
        assert session.close() == 0


def test_shutdown_during_a_cell(own_kernel):
    message_id = own_kernel.client.execute("print('begun')\nwhile True: pass")
    own_kernel.wait_for("stream", message_id)
    assert own_kernel.close() == 0


def test_shutdown_while_waiting_for_input(own_kernel):
    own_kernel.client.execute("input()", allow_stdin=True)
    own_kernel.client.get_stdin_msg(timeout=60)
    assert own_kernel.close() == 0


def test_shutdown_request_is_answered(own_kernel):
    own_kernel.client.shutdown()
    reply = own_kernel.client.get_control_msg(timeout=60)
    assert reply["msg_type"] == "shutdown_reply"
    assert ends(own_kernel) == 0


def test_restart_forgets_and_works(own_kernel):
    own_kernel.run("kept = 1")
    own_kernel.manager.restart_kernel()
    own_kernel.client.wait_for_ready(timeout=120)
    assert own_kernel.run("'kept' in globals()").result == "False"


@pytest.mark.parametrize("word", ["exit()", "quit", "exit"])
def test_exit_ends_the_kernel_after_its_reply(own_kernel, word):
    outcome = own_kernel.run(word)
    assert outcome.reply["status"] == "ok"
    assert outcome.reply["payload"] == [{"source": "ask_exit", "keepkernel": False}]
    assert ends(own_kernel) == 0


def test_exit_may_keep_the_kernel(kernel):
    assert kernel.run("exit(keep_kernel=True)").reply["payload"] == [
        {"source": "ask_exit", "keepkernel": True}
    ]
    assert kernel.run("1").result == "1"


def test_exit_handlers_run_and_may_print(own_kernel, tmp_path):
    mark = tmp_path / "ran"
    own_kernel.run(
        f"import atexit, pathlib\natexit.register(lambda: (print('bye'), pathlib.Path({str(mark)!r}).touch()))"
    )
    assert own_kernel.close() == 0
    assert mark.exists()


def test_it_ends_when_jupyter_dies(tmp_path):
    starter = (
        "import jupyter_client, os\n"
        "m, c = jupyter_client.manager.start_new_kernel(kernel_name='xcuda')\n"
        "print(m.provisioner.process.pid, flush=True)\nos._exit(1)"
    )
    done = subprocess.run([sys.executable, "-c", starter], capture_output=True, text=True, timeout=60)
    pid = int(done.stdout)
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if b"Z" in open(f"/proc/{pid}/stat", "rb").read().split(b") ")[1][:1]:
            return  # nobody is left to collect it
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the kernel outlived Jupyter")


@pytest.mark.parametrize("shape", ["package", "module"])
def test_something_called_xcuda_in_the_working_directory_is_not_taken(tmp_path, shape):
    from conftest import Session

    if shape == "package":
        (tmp_path / "xcuda").mkdir()
        (tmp_path / "xcuda" / "__init__.py").write_text("raise SystemExit('the wrong xcuda')")
    else:
        (tmp_path / "xcuda.py").write_text("raise SystemExit('the wrong xcuda')")
    (tmp_path / "mine.py").write_text("here = 'beside the notebook'")
    session = Session(cwd=str(tmp_path))
    try:
        assert session.run("import xcuda.kernel\nxcuda.kernel.__name__").result == "'xcuda.kernel'"
        assert session.run("import mine\nmine.here").result == "'beside the notebook'"
    finally:
        assert session.close() == 0


def test_kernelspec_is_found_and_runs_this_python():
    from jupyter_client.kernelspec import KernelSpecManager

    spec = KernelSpecManager().get_kernel_spec("xcuda")
    assert spec.argv[-4:] == ["-m", "xcuda.kernel", "-f", "{connection_file}"]
    assert spec.interrupt_mode == "signal" and spec.metadata["debugger"] is True
    assert {"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} <= set(os.listdir(spec.resource_dir))
    from conftest import Session

    session = Session()
    try:
        assert session.run("import sys; sys.executable").result == repr(sys.executable)
    finally:
        assert session.close() == 0


def test_kernel_info_tells_the_language_and_where_help_is(kernel):
    kernel.client.kernel_info()
    info = kernel.client.get_shell_msg(timeout=30)["content"]
    language = info["language_info"]
    assert (language["name"], language["mimetype"], language["file_extension"]) == (
        "python",
        "text/x-python",
        ".py",
    )
    # What JupyterLab and nbconvert highlight cells by, magics among them.
    assert language["codemirror_mode"]["name"] == "ipython"
    from pygments.lexers import get_lexer_by_name

    assert get_lexer_by_name(language["pygments_lexer"])
    assert len(info["help_links"]) >= 4
    for link in info["help_links"]:
        assert link["text"] and link["url"].startswith("https://")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "can't be opened"),
        ("{", "is not as Jupyter writes it"),
        (json.dumps({"shell_port": 1}), "control_port"),
    ],
)
def test_bad_connection_file_is_told(tmp_path, content, told):
    path = tmp_path / "connection.json"
    if content is not None:
        path.write_text(content)
    command = [sys.executable, "-P", "-m", "xcuda.kernel", "-f", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert told in done.stderr and str(path) in done.stderr


def test_an_address_in_use_and_an_unknown_scheme_are_told(kernel, tmp_path):
    info = kernel.client.get_connection_info()
    info["key"] = info["key"].decode()
    for change, told in [
        ({}, f"tcp://127.0.0.1:{info['shell_port']}"),
        ({"signature_scheme": "hmac-rot13"}, "hmac-rot13"),
    ]:
        path = tmp_path / "connection.json"
        path.write_text(json.dumps({**info, **change}))
        command = [sys.executable, "-P", "-m", "xcuda.kernel", "-f", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and told in done.stderr, done.stderr


def test_a_kernel_without_a_key(tmp_path):
    from jupyter_client import BlockingKernelClient
    from jupyter_client.connect import write_connection_file

    path = str(tmp_path / "connection.json")
    write_connection_file(path, key=b"")
    process = subprocess.Popen([sys.executable, "-P", "-m", "xcuda.kernel", "-f", path])
    client = BlockingKernelClient(connection_file=path)
    client.load_connection_file()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        assert client.execute_interactive("1", timeout=60)["content"]["status"] == "ok"
        client.shutdown()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        client.stop_channels()


def test_usage_without_a_connection_file():
    done = subprocess.run(
        [sys.executable, "-P", "-m", "xcuda.kernel"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2 and "CONNECTION_FILE" in done.stderr


def test_a_started_kernel_has_loaded_nothing_heavy(kernel):
    from conftest import Session

    session = Session()
    try:
        maps = open(f"/proc/{session.process.pid}/maps").read()
        heavy = [
            name for name in ("libLLVM", "libclang", "libxcuda_runtime", "_multiarray_umath") if name in maps
        ]
        assert heavy == []
        loaded = session.run(
            "import sys\n[m for m in ('numpy', 'xcuda._runtime', 'matplotlib', 'debugpy') if m in sys.modules]"
        )
        assert loaded.result == "[]"
    finally:
        assert session.close() == 0


def test_interrupts_while_it_goes_down_change_nothing(kernel):
    from conftest import Session

    for _ in range(5):
        session = Session()
        session.run("import numpy, asyncio")  # something to take apart
        session.client.shutdown()
        session.client.get_control_msg(timeout=60)
        while session.process.poll() is None:
            os.kill(session.process.pid, signal.SIGINT)
        session.client.stop_channels()
        assert ends(session) == 0


def test_interrupts_while_it_starts_change_nothing(tmp_path, monkeypatch):
    from conftest import Session

    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "slow.py").write_text(
        "import os, signal, time\n"
        "for _ in range(10):\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0.01)\nstarted = True"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    session = Session()
    try:
        assert session.run("started").result == "True"
        outcome = session.interrupt_after("print('begun', flush=True)\nwhile True: pass")
        assert outcome.reply["ename"] == "KeyboardInterrupt"
    finally:
        assert session.close() == 0
