"""%%cuda_profile's options, %%cuda_time, %%cuda_trace, %cuda_occupancy and %cuda_report, and what each refuses."""

from __future__ import annotations

import json

import pytest
from fake_cuda import need_nvrtc
from magic_shell import a_shell, report_of, run, usage_error
from report_documents import valid
from xcuda import profiler
from xcuda.magics.completions import option_completions
from xcuda.magics.options import options_and_code
from xcuda.magics.render import render_benchmark

CALL = "triple(np.ones(10, np.float32))"


@pytest.fixture(scope="module")
def shell():
    yield from a_shell()


def html_of(captured) -> str:
    return "".join(output.data.get("text/html", "") for output in captured.outputs)


def test_profile_n_runs_the_cell_so_often(shell):
    captured = run(shell, f"%%cuda_profile -n 3 -o kept\n{CALL}")
    assert report_of(captured)["kernels"][0]["calls"] == 3
    assert report_of(captured)["scope"]["label"] == f"In [{shell.execution_count - 1}]"
    assert shell.user_ns["kept"].document["timeline"]["events"]


def test_profile_draws_pictures_that_are_asked_for(shell):
    page = html_of(run(shell, f"%%cuda_profile --timeline --roofline\n{CALL}"))
    assert page.count('<img src="data:image/svg+xml;base64,') == 2
    assert "<img" not in html_of(run(shell, f"%%cuda_profile\n{CALL}"))


def test_profile_of_an_expression(shell):
    captured = run(shell, f"%cuda_profile -n 2 --metrics time,occupancy {CALL}")
    assert report_of(captured)["kernels"][0]["calls"] == 2
    assert "arithmetic rate" not in html_of(captured)
    captured = run(shell, f"%cuda_profile -q {CALL}; -4 + 1")
    assert "-3" in captured.stdout and report_of(captured) is None


def test_what_else_a_cell_ran_keeps_its_report(shell):
    captured = run(shell, f"%cuda_profile -q -o kept {CALL}\n{CALL}\n{CALL}")
    assert shell.user_ns["kept"].kernels[0]["calls"] == 1
    assert report_of(captured)["kernels"][0]["calls"] == 3
    assert report_of(run(shell, f"%cuda_time -n 1 -w -o timed {CALL}\n{CALL}")) is not None


@pytest.mark.parametrize(
    ("line", "options", "code"),
    [
        ("-n 3 --timeline f(x) - 1", "-n 3 --timeline", "f(x) - 1"),
        ("f(x, '-n  2')", "", "f(x, '-n  2')"),
        ("-q -- -x", "-q", "-x"),
        ("  --metrics time,occupancy   f( a )", "--metrics time,occupancy", "f( a )"),
        ("-n", "-n", ""),
        ("", "", ""),
    ],
)
def test_options_end_where_the_code_begins(line, options, code):
    assert options_and_code(line, {"-n", "--metrics"}) == (options, code)


def test_time_tells_device_from_host(shell):
    captured = run(shell, f"%%cuda_time -n 3\n{CALL}")
    text = captured.stdout
    assert f"In [{shell.execution_count - 1}]: " in text
    assert "device " in text and "host " in text and "cold" in text and "3 calls" in text
    assert report_of(captured) is None  # of thousands of launches
    bundle, _ = render_benchmark(shell.run_cell_magic("cuda_time", "-n 1 -w", CALL))
    assert "warm" in bundle["text/html"]


def test_time_of_an_expression_kept_and_without_cold_runs(shell):
    captured = run(shell, f"%cuda_time -n 4 -w -o timed {CALL}")
    assert not captured.outputs
    timed = shell.user_ns["timed"]
    assert timed.warm.calls == 4 and timed.cold is None and timed.launches == 1


def test_time_keeps_no_names_and_knows_the_users(shell):
    run(shell, "shell_seven = 7")
    run(shell, "%%cuda_time -n 1 -w\nfor _ in range(2):\n    inner_name = shell_seven + 1\n")
    assert "inner_name" not in shell.user_ns


def test_an_error_of_a_timed_cell_is_the_users(shell):
    captured = run(shell, "%%cuda_time -n 1\n1 / 0", ok=False)
    assert "ZeroDivisionError" in captured.stdout + captured.stderr


def test_a_trace_is_written(shell, tmp_path):
    file = tmp_path / "a trace.json"
    captured = run(shell, f'%%cuda_trace -q "{file}"\n{CALL}')
    trace = json.loads(file.read_text())
    assert "triple" in [e["name"] for e in trace["traceEvents"]]
    assert f"1 event written to {file}" in captured.stdout
    assert report_of(captured) is None
    assert report_of(run(shell, f"%%cuda_trace {tmp_path / 'b.json'}\n{CALL}"))["kernels"]


def test_reports_off_on_and_full(shell):
    try:
        assert run(shell, "%cuda_report off").stdout == "off: no reports\n"
        assert report_of(run(shell, CALL)) is None
        assert report_of(run(shell, f"%%cuda_profile\n{CALL}")) is not None  # asked for
        run(shell, "%cuda_report full")
        captured = run(shell, CALL)
        assert valid(report_of(captured)) and html_of(captured).startswith("<details open ")
        assert "<img" in html_of(captured)
    finally:
        profiler.show_reports("on")
    assert run(shell, "%cuda_report").stdout == "on: a line that unfolds\n"
    assert html_of(run(shell, CALL)).startswith("<details style")


def test_occupancy_of_a_named_gpu(shell):
    need_nvrtc()
    found = shell.run_line_magic("cuda_occupancy", "triple 32 16x16 100 1024 --target sm_90")
    assert [row.threads for row in found.rows] == [32, 256, 100, 1024]
    small, usual, odd, large = found.rows
    assert (small.share, small.limit) == (0.5, "blocks")  # 32 blocks of one warp in place of 64
    assert (usual.share, usual.blocks) == (1, 8)
    assert odd.warps == 4 * odd.blocks
    assert large.blocks == 2
    assert "256" in found.advice and "The most is 100 %" in found.advice
    text = repr(found)
    assert text.splitlines()[0].startswith("triple(float32[::1]) on sm_90: ")
    assert "limited by" in text
    page = found._repr_mimebundle_()["text/html"]
    assert "<img src=" in page and "<meter" in page
    (crowded,) = shell.run_line_magic("cuda_occupancy", "triple 128 --target sm_90 --shared 65536").rows
    assert (crowded.blocks, crowded.limit) == (3, "shared memory")  # of 228 KiB
    default = shell.run_line_magic("cuda_occupancy", "triple")
    assert len(default.rows) == 10 and default.architecture.startswith("sm_")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("%cuda_profile", "needs an expression after its options, or, as %%cuda_profile, a cell"),
        ("%cuda_profile --speed f(x)", "--speed"),
        ("%%cuda_profile -n 0\n1", "-n is how often to run, 1 or more, not 0"),
        ("%%cuda_profile -n few\n1", "invalid int value: 'few'"),
        ("%%cuda_profile -m time,speed\n1", "no metric is called 'speed'"),
        ("%%cuda_time -n 0\n1", "-n is how often to run, 1 or more, not 0"),
        ("%%cuda_time -t 900\n1", "-t is in seconds, above 0 and up to 60, not 900"),
        ("%%cuda_time x\n1", "unrecognized arguments: x"),
        ("%%cuda_time\n# nothing", "%%cuda_time needs something to run"),
        ("%%cuda_time\nimport asyncio\nawait asyncio.sleep(0)", "%%cuda_time takes no top-level await"),
        ("%cuda_time -o 1x 1", "-o takes a variable's name, not '1x'"),
        ("%%cuda_time -o class\n1", "-o takes a variable's name, not 'class'"),
        ("%%cuda_profile -o None\n1", "-o takes a variable's name, not 'None'"),
        ("%%cuda_profile -o a.b\n1", "-o takes a variable's name, not 'a.b'"),
        ("%cuda_advise triple(np.ones(3)", "UsageError: triple(np.ones(3): '(' was never closed\n"),
        ("%cuda_time -n 3", "needs an expression"),
        ("%%cuda_trace\n1", "the following arguments are required: file"),
        ("%%cuda_trace /nowhere/at/all/x.json\n1", "can't be written: there is no folder /nowhere/at/all"),
        ("%%cuda_trace /\n1", "/ is a folder"),
        ("%cuda_occupancy", "the following arguments are required: kernel\n"),
        ("%cuda_occupancy nothing_of_this_name", "there is no 'nothing_of_this_name' here"),
        ("%cuda_occupancy np", "np is no kernel but module"),
        ("%cuda_occupancy triple many", "a block size is a number from 1 on, or as 16x16, not 'many'"),
        ("%cuda_occupancy triple 64x32", "a block has at most 1024 threads; 64x32 are 2048"),
        ("%cuda_occupancy triple 0", "a block size is a number"),
        ("%cuda_occupancy triple --target sm_1", "sm_1"),
        ("%cuda_occupancy triple --shared -4", "--shared is in bytes, 0 or more, not -4"),
        ("%cuda_report loud", "invalid choice: 'loud'"),
    ],
)
def test_usage_errors_are_one_line(shell, line, sentence):
    said = usage_error(shell, line)
    assert sentence in said
    assert len([text for text in said.strip().splitlines() if "UsageError" in text]) <= 1
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("line", "word", "offered"),
    [
        ("%%cuda_profile --ti", "--ti", ["--timeline"]),
        (
            "%%cuda_profile --timeline --",
            "--",
            ["--counters", "--metrics", "--number", "--output", "--quiet", "--roofline", "--target"],
        ),
        ("%%cuda_profile -m comp", "comp", ["compute_utilization"]),
        ("%cuda_report ", "", ["full", "off", "on"]),
        ("cuda_report of", "of", ["off"]),
        ("%cuda_occupancy tri", "tri", ["triple"]),
        ("%cuda_occupancy triple --t", "--t", ["--target"]),
        ("%cuda_occupancy triple --target sm_90 --", "--", ["--shared"]),
        (
            "%cuda_source triple --",
            "--",
            ["--asm", "--cpp", "--ir", "--ptx", "--sass", "--target", "--text", "--version"],
        ),
        ("%cuda_names x", "x", ["xcuda"]),
        ("%%cuda_time -n ", "", []),
        ("%not_ours --", "--", []),
    ],
)
def test_tab_offers_options_and_values(shell, line, word, offered):
    assert option_completions(shell, line, word) == offered


def test_tab_asks_us_in_a_real_completion(shell):
    from IPython.core.completer import provisionalcompleter

    def offered(line):
        with provisionalcompleter():
            return [(c.text, c.start) for c in shell.Completer.completions(line, len(line))]

    assert ("--roofline", 15) in offered("%%cuda_profile --roo")
    # Options alone: -- before each of Python's names would be Python as well.
    assert all(text.startswith("--") and text[2:3].islower() for text, _ in offered("%%cuda_profile --"))
    assert not [text for text, _ in offered("%%cuda_profile --") if text in ("--abs", "--all")]
    assert [text for text, _ in offered("%cuda_report ")] == ["full", "off", "on"]
    assert offered("%%cuda_profile -m time,occ") == [("occupancy", 23)]
