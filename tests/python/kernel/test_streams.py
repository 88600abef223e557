"""What is printed arrives: all of it, in order, from threads, C code and child processes."""

import time


def test_order_of_python_c_and_child_output(kernel):
    outcome = kernel.run(
        "import ctypes, os, subprocess, sys\nlibc = ctypes.CDLL(None)\n"
        "print('python 1')\nlibc.printf(b'c 2\\n')\nprint('python 3')\nos.system('echo shell 4')\n"
        "print('python 5', end='')\nlibc.printf(b', c 6, ')\nos.write(1, b'fd 7\\n')\n"
        "subprocess.run(['echo', 'child 8'])\nprint('python 9')"
    )
    assert outcome.text() == ("python 1\nc 2\npython 3\nshell 4\npython 5, c 6, fd 7\nchild 8\npython 9\n")


def test_order_across_the_two_streams(kernel):
    outcome = kernel.run("import sys\nfor i in range(3):\n    print(i)\n    print(i, file=sys.stderr)")
    assert [(part["name"], part["text"]) for part in outcome.of("stream")] == [
        (name, f"{i}\n") for i in range(3) for name in ("stdout", "stderr")
    ]


def test_prints_before_a_display_come_before_it(kernel):
    outcome = kernel.run("print('before')\ndisplay(1)\nprint('after')\n2")
    kinds = [message["msg_type"] for message in outcome.messages if message["msg_type"] != "status"]
    assert kinds == ["execute_input", "stream", "display_data", "stream", "execute_result"]


def test_many_threads_lose_nothing(kernel):
    outcome = kernel.run(
        "import threading\ndef talk(who):\n    for i in range(500):\n        print(f'{who}:{i}\\n', end='')\n"
        "ts = [threading.Thread(target=talk, args=(w,)) for w in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\nprint('all')"
    )
    lines = outcome.text().splitlines()
    assert lines[-1] == "all"
    assert sorted(lines[:-1]) == sorted(f"{w}:{i}" for w in range(8) for i in range(500))
    for who in range(8):
        own = [line for line in lines if line.startswith(f"{who}:")]
        assert own == [f"{who}:{i}" for i in range(500)]


def test_output_shows_while_the_cell_still_runs(kernel, gate):
    message_id = kernel.client.execute(f"print('early')\n{gate.wait}\nprint('late')")
    assert kernel.wait_for("stream", message_id)["text"] == "early\n"
    gate.open()
    assert kernel.finish(message_id).text() == "late\n"


def test_a_thread_prints_while_the_main_thread_waits(kernel, gate):
    message_id = kernel.client.execute(
        f"import threading\nthreading.Timer(0.1, print, ['from the thread']).start()\n{gate.wait}\nprint('late')"
    )
    assert kernel.wait_for("stream", message_id)["text"] == "from the thread\n"
    gate.open()
    assert kernel.finish(message_id).text() == "late\n"


def test_a_forked_child_is_heard(kernel):
    outcome = kernel.run(
        "import os\nprint('parent 1')\nchild = os.fork()\nif child == 0:\n    print('child')\n    os._exit(0)\n"
        "os.waitpid(child, 0)\nprint('parent 2')"
    )
    assert outcome.text() == "parent 1\nchild\nparent 2\n"


def test_multiprocessing_by_fork(kernel):
    outcome = kernel.run(
        "import multiprocessing as mp\ndef work(x):\n    print('in', x)\n    return x * x\n"
        "with mp.get_context('fork').Pool(2) as pool:\n    squares = pool.map(work, range(4))\nsquares"
    )
    assert outcome.result == "[0, 1, 4, 9]"
    assert sorted(outcome.text().splitlines()) == [f"in {i}" for i in range(4)]


def test_much_output_is_whole(kernel):
    outcome = kernel.run("for i in range(50000): print(i)", timeout=60)
    assert outcome.text() == "".join(f"{i}\n" for i in range(50000))


def test_much_output_from_a_child_is_whole(kernel):
    outcome = kernel.run("import subprocess\nsubprocess.run(['seq', '200000']);", timeout=60)
    text = outcome.text()
    assert text.startswith("1\n2\n") and text.endswith("199999\n200000\n")
    assert text.count("\n") == 200000


def test_thousands_of_displays_to_a_client_that_is_slow_to_read(kernel):
    message_id = kernel.client.execute("for i in range(5000): display(i)")
    time.sleep(2)
    shown = kernel.finish(message_id, timeout=60).of("display_data")
    assert [part["data"]["text/plain"] for part in shown] == [str(i) for i in range(5000)]


def test_text_that_is_not_utf8_and_characters_cut_in_two(kernel):
    outcome = kernel.run(
        "import os, time\nos.write(1, b'caf\\xc3'); time.sleep(0.2); os.write(1, b'\\xa9 ')\n"
        "os.write(1, b'\\xff\\xfe bad ')\nprint('\\ud800 lone', '\\u00e9 \\U0001f600')"
    )
    assert outcome.text().startswith("caf\u00e9 \ufffd\ufffd bad ")
    assert "\\ud800 lone \u00e9 \U0001f600" in outcome.text()


def test_write_takes_text_only_and_can_be_replaced(kernel):
    assert kernel.run("import sys\nsys.stdout.write(b'bytes')").reply["ename"] == "TypeError"
    swapped = kernel.run(
        "old = sys.stdout.write\nsys.stdout.write = lambda text: old(text.upper())\nprint('loud')\ndel sys.stdout.write"
    )
    assert swapped.text() == "LOUD\n"
    assert kernel.run("print('quiet')").text() == "quiet\n"


def test_closing_stdout_does_not_silence_the_kernel(kernel):
    kernel.run("import sys\nsys.stdout.close()")
    assert kernel.run("print('still here')").text() == "still here\n"


def test_logging_and_warnings_reach_stderr(kernel):
    outcome = kernel.run("import logging, warnings\nlogging.warning('logged')\nwarnings.warn('warned')")
    assert "logged" in outcome.text("stderr") and "warned" in outcome.text("stderr")
