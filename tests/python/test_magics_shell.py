"""The magics in a plain IPython shell: registering, reports under cells, and each magic's answers."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from magic_shell import a_shell, report_of, run, usage_error
from report_documents import document
from xcuda.magics.render import MIME


@pytest.fixture(scope="module")
def shell():
    yield from a_shell()


def test_advice_on_a_kernel_is_read_beside_its_line(shell):
    run(
        shell,
        """
@cuda.kernel
def every_fourth(y, x):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[4 * i]

long, short = np.ones(4096, np.float32), np.ones(1024, np.float32)
""",
    )
    advice = shell.run_line_magic("cuda_advise", "every_fourth short long")
    assert "y[i] = x[4 * i]" in repr(advice)
    assert "neighbouring threads are 4 elements apart" in repr(advice)
    for line in (
        "every_fourth(short, long)",
        "every_fourth[8, 128](short, long[:])",
        "every_fourth[8, 128] short long",
        "every_fourth[(8, 1), 128] short long[:]",
    ):
        assert "4 elements apart" in repr(shell.run_line_magic("cuda_advise", line)), line
    page = advice._repr_mimebundle_()["text/html"]
    assert "<code>y[i] = x[4 * i]</code>" in page and "<script" not in page
    assert "nothing to change" in repr(shell.run_line_magic("cuda_advise", "triple"))
    run(shell, "triple[4, 32](np.ones(128, np.float32))")
    assert "name them" in usage_error(shell, "%cuda_advise triple")


def test_a_cell_that_used_a_device_shows_one_report(shell):
    report = report_of(run(shell, "triple(np.ones(10, np.float32))"))
    assert report["kernels"][0]["name"] == "triple"
    assert report["scope"]["label"] == f"In [{shell.execution_count - 1}]"


def test_other_cells_show_none(shell):
    assert report_of(run(shell, "1 + 1")) is None


def test_loading_twice_shows_no_second_report(shell):
    shell.run_line_magic("reload_ext", "xcuda")
    assert report_of(run(shell, "triple(np.ones(10, np.float32))")) is not None


def test_the_function_is_not_hidden_by_a_module_of_its_name(shell):
    import xcuda.magics

    for _ in range(2):
        xcuda.magics.register(shell)
        xcuda.magics.render_report(document())
        xcuda.magics.kernel_completions("x", 1)


def test_a_failed_cell_keeps_its_report(shell):
    report = report_of(run(shell, "triple(np.ones(10, np.float32)); 1 / 0", ok=False))
    assert report["scope"]["failed"] is True


def test_profile_keeps_the_report_and_shows_it_open(shell):
    captured = run(
        shell, "%%cuda_profile -o kept\ntriple(np.ones(10, np.float32))\ntriple(np.ones(10, np.float32))"
    )
    assert report_of(captured)["kernels"][0]["calls"] == 2
    (shown,) = [output for output in captured.outputs if MIME in output.data]
    assert shown.data["text/html"].startswith("<details open ")
    assert shell.user_ns["kept"].kernels[0]["calls"] == 2


def test_profile_quiet_shows_nothing_and_gives_the_cells_value(shell):
    captured = run(shell, "%%cuda_profile --quiet -o kept\ny = np.ones(3, np.float32)\ntriple(y)\ny.sum()")
    assert report_of(captured) is None
    assert "9.0" in captured.stdout
    assert shell.user_ns["kept"].kernels[0]["calls"] == 1


def test_profile_shows_only_the_metrics_asked_for(shell):
    captured = run(shell, "%%cuda_profile -m memory_throughput\ntriple(np.ones(10, np.float32))")
    (shown,) = [output for output in captured.outputs if MIME in output.data]
    assert "memory rate" in shown.data["text/html"] and "arithmetic rate" not in shown.data["text/html"]
    assert "no metric is called 'speed'" in usage_error(shell, "%%cuda_profile -m speed\n1")


def test_profile_of_a_failing_cell_fails_and_reports(shell):
    captured = run(shell, "%%cuda_profile -o kept\ntriple(np.ones(10, np.float32))\n1 / 0", ok=False)
    assert report_of(captured)["scope"]["failed"] is True
    assert "ZeroDivisionError" in captured.stdout + captured.stderr


def test_profile_without_a_device_says_so(shell):
    captured = run(shell, "%%cuda_profile\nz = 5")
    assert "The cell used no device" in captured.stdout
    assert shell.user_ns["z"] == 5
    assert "takes no top-level await" in usage_error(
        shell, "%%cuda_profile\nimport asyncio\nawait asyncio.sleep(0)"
    )


def test_info_names_device_compiler_cache_and_what_is_missing(shell, monkeypatch):
    from xcuda.magics import libraries

    here = dict(
        name="NVIDIA driver", purpose="runs kernels on a GPU", version="CUDA 13.0", file="libcuda.so.1"
    )
    here |= {"from": "the loader's path", "problem": "", "advice": ""}
    absent = dict(name="NVRTC", purpose="compiles kernels for a GPU", version="", file="")
    absent |= {"from": "", "problem": "nothing there", "advice": "pip install nvidia-cuda-nvrtc"}
    monkeypatch.setattr(libraries, "found", lambda: [here, absent])
    text = repr(shell.run_line_magic("cuda_info", ""))
    assert "(current)" in text and "XCUDA_WORKERS" in text and "XCUDA_CACHE_DIR" in text
    assert "CUDA 13.0, libcuda.so.1 (the loader's path)" in text
    assert "NVRTC" in text
    assert "not found; it compiles kernels for a GPU: pip install nvidia-cuda-nvrtc (nothing there)" in text


def test_source_shows_cpp_beside_python(shell):
    shown = shell.run_line_magic("cuda_source", "triple")
    assert any("x[i] = 3 * x[i]" in line and "|" in line for line in repr(shown).splitlines())
    assert "#line" not in repr(shown)
    bundle = shown._repr_mimebundle_()
    assert "<table" in bundle["text/html"] and "x[i] = 3 * x[i]" in bundle["text/html"]


def test_source_in_other_forms(shell):
    assert "triple" in repr(shell.run_line_magic("cuda_source", "triple --ir"))
    text = repr(shell.run_line_magic("cuda_source", "triple --text"))
    assert 'extern "C"' in text and "#line" not in text
    assert "ret" in repr(shell.run_line_magic("cuda_source", "triple --asm"))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "%cuda_source nothing_of_this_name",
            "there is no 'nothing_of_this_name' here: run the cell that defines it",
        ),
        ("%cuda_source shell_number", "shell_number is no kernel but int"),
        ("%cuda_source fresh_kernel", "fresh_kernel has not been compiled yet: call it once"),
        ("%cuda_advise", "the following arguments are required: kernel\n"),
        ("%cuda_advise triple[1, 32](a=3)", "takes a call's arguments one by one"),
        ("%cuda_advise fresh_kernel", "fresh_kernel has not been called yet"),
        ("%cuda_advise shell_number", "shell_number is no kernel but int"),
        ("%cuda_advise nothing_of_this_name", "nothing_of_this_name"),
        ("%cuda_source triple -v 99", "compiled version"),
        ("%cuda_source triple --ir --asm", "one of --cpp, --ir, --text, --asm, --ptx and --sass"),
        ("%cuda_source triple --target sm_1", "is no GPU architecture"),
        ("%%cuda_profile --target volta\n1", "the limits of 'volta' are not known"),
        ("%cuda_device cuda:77", "there is no device cuda:77 here; there are: "),
        ("%%cuda_profile -o 1x\n1", "-o takes a variable's name, not '1x'"),
    ],
)
def test_usage_errors_are_sentences(shell, line, sentence):
    shell.run_cell("shell_number = 3")
    shell.run_cell("@cuda.kernel\ndef fresh_kernel(x):\n    x[0] = 1\n")
    assert sentence in usage_error(shell, line)


def test_device_and_cache(shell):
    assert run(shell, "%cuda_device").stdout.startswith("cpu: ")
    assert run(shell, "%cuda_device cpu").stdout.startswith("cpu: ")
    assert "folder" in run(shell, "%cuda_cache").stdout
    assert run(shell, "%cuda_cache --clear").stdout.startswith("Removed ")
    assert "0 kernels, 0 B" in run(shell, "%cuda_cache").stdout


def test_names_tell_who_serves_them(shell):
    listed = run(shell, "%cuda_names").stdout
    assert any(line.split() == ["cuda.core", "xcuda.core"] for line in listed.splitlines())
    run(shell, "%cuda_names xcuda")
    run(shell, "import cuda.core\nassert cuda.core.kernel is not None")
    run(shell, "%cuda_names installed\nimport xcuda.core as cuda")


@pytest.mark.parametrize(
    "line", ["import cuda.core as cuda", "from cuda import core as cuda", "from cuda.core import Device"]
)
def test_an_installed_package_that_keeps_a_name_is_told_of(tmp_path, line):
    """NVIDIA's cuda-core, brought by numba-cuda, has the article's name: without a word, @cuda.kernel would be missing."""
    package = tmp_path / "cuda" / "core"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class Device: ...\n")
    code = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_line_magic("load_ext", "xcuda")
        shell.run_cell("import numpy\\nfrom xcuda import core as ours")
        print("--")
        shell.run_cell({line!r})
        shell.run_cell({line!r})
        print("--")
        shell.run_cell("%cuda_names xcuda\\nimport cuda.core as cuda\\nassert cuda is ours")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    before, told, after = ran.stdout.split("--\n")
    assert before == "" and "Error" not in after, ran.stdout
    assert told == (
        "cuda.core is that of an installed package here, not xcuda's: write `from xcuda import core`, "
        "or run `%cuda_names xcuda` first.\n"
    )


def test_each_magic_has_its_help(shell):
    from xcuda.magics.shell import NAMES

    for kind, names in NAMES.items():
        for name in names:
            help_text = shell.magics_manager.magics[kind][name].__doc__
            assert name in help_text and "usage" in help_text.lower() or "::" in help_text, name


def test_registering_loads_neither_the_runtime_nor_the_commands():
    code = """
        import sys
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        import xcuda.magics
        xcuda.magics.register(shell)
        print([m for m in ("xcuda._runtime", "xcuda.magics.commands", "jinja2", "numpy") if m in sys.modules])
        print("cuda_info" in shell.magics_manager.magics["line"])
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.splitlines() == ["[]", "True"], ran.stderr


def test_a_shell_of_the_xcuda_kernel_gets_no_hooks():
    from xcuda.magics.shell import shows_reports_itself

    theirs = type("Shell", (), {"__module__": "xcuda.kernel.shell"})
    assert shows_reports_itself(theirs()) and not shows_reports_itself(object())


def test_what_may_be_left_out_is_not_asked_for():
    """argparse calls an argument of any number required, unless it has a default."""
    from xcuda.magics.shell import NAMES, classes

    for name in {*NAMES["line"], *NAMES["cell"]}:
        method = next(getattr(c, name) for c in classes() if hasattr(c, name))
        for action in method.parser._actions:
            assert not (action.nargs == "*" and action.required), (name, action.dest)
