"""%cuda_source for GPUs, and %%cuda_profile --target: figures of the compiler, by the user's lines."""

import subprocess
import sys

import pytest
from jupyterlab_sanitizer import sanitized
from magic_shell import a_shell, run
from xcuda import _runtime
from xcuda.magics import machine_code
from xcuda.magics.source import Passage, beside, weights_of
from xcuda.profiler import line_table

NVRTC = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
pytestmark = pytest.mark.skipif(NVRTC is None or bool(NVRTC["problem"]), reason="NVRTC is not here")

HEAVY = """
@cuda.kernel
def uneven_lines(x, y):
    i = cuda.grid(1)
    if i < x.size:
        a = x[i]
        b = np.sin(a) + np.exp(a) + np.cos(a)
        y[i] = a + b
"""


@pytest.fixture(scope="module")
def shell():
    yield from a_shell()


@pytest.fixture
def heavy(shell):
    shell.run_cell(HEAVY)
    shell.run_cell("uneven_lines(np.ones(10), np.ones(10))")
    return shell.user_ns["uneven_lines"]


def line_of(kernel, text):
    import inspect

    lines, first = inspect.getsourcelines(kernel.py_func)
    return next(first + i for i, line in enumerate(lines) if text in line)


def test_the_line_with_the_work_has_the_most_instructions(heavy):
    found = weights_of(heavy, heavy.specialisations[-1], "sm_90")
    assert found.target == "sm_90"
    costly, cheap = line_of(heavy, "np.sin"), line_of(heavy, "y[i] =")
    assert found.lines[costly] == found.most > 10 * found.lines[cheap] > 0


def test_all_instructions_are_counted_once(heavy):
    made = machine_code.compiled_for(heavy, heavy.signatures[-1], "sm_80")
    table = machine_code.section(made["cubin"], ".debug_line")
    counts = line_table.instructions(table, heavy.py_func.__code__.co_filename, range(1, 20))
    code = sum(len(machine_code.section(made["cubin"], name)) for name in (".text.uneven_lines_kernel",))
    assert sum(counts.values()) * line_table.INSTRUCTION <= code
    assert sum(counts.values()) * line_table.INSTRUCTION > 0.9 * code


def test_costs_stand_before_the_lines(shell, heavy):
    shown = shell.run_line_magic("cuda_source", "uneven_lines --target sm_90")
    text = repr(shown)
    assert "instructions that it became on sm_90" in text
    row = next(line for line in text.splitlines() if "np.sin" in line.partition("|")[0])
    assert int(row.split()[0]) > 100
    page = shown._repr_mimebundle_()["text/html"]
    assert sanitized(page).count("<meter") == page.count("<meter") >= 3


def test_ptx_is_shown(shell, heavy):
    text = repr(shell.run_line_magic("cuda_source", "uneven_lines --ptx --target sm_80"))
    assert ".target sm_80" in text and "st.global.f64" in text


def test_sass_stands_beside_the_python_or_says_what_is_missing(shell, heavy, monkeypatch):
    if machine_code.disassembler() is not None:
        text = repr(shell.run_line_magic("cuda_source", "uneven_lines --sass"))
        assert any("y[i] = a + b" in line.partition("|")[0] for line in text.splitlines())
        assert "EXIT ;" in text
    monkeypatch.setattr(machine_code, "disassembler", lambda: None)
    with pytest.raises(Exception, match="SASS needs nvdisasm, which is not here: pip install"):
        shell.run_line_magic("cuda_source", "uneven_lines --sass")


def test_sass_of_a_disassembler_is_read(heavy, monkeypatch):
    said = (
        "uneven_lines_kernel:\n.text.uneven_lines_kernel:\n"
        '\t//## File "/somewhere/<cell>", line 7\n'
        "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
        ".L_x_1:\n"
        "        /*0010*/                   EXIT ;\n"
    )
    monkeypatch.setattr(machine_code, "disassembler", lambda: "nvdisasm")
    monkeypatch.setattr(
        subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0, stdout=said, stderr="")
    )
    found = machine_code.sass(b"")
    assert [(p.line, p.text.strip()) for p in found if p.line] == [
        (7, "LDC R1, c[0x0][0x28] ;"),
        (7, "EXIT ;"),
    ]


def test_a_profile_tells_of_another_target(shell):
    captured = run(shell, "%%cuda_profile --target sm_80\ntriple(np.ones(300, np.float32))")
    (table,) = (
        o for o in captured.outputs if "On sm_80: compiled for it, not run there." in o.data["text/plain"]
    )
    (row,) = (line for line in table.data["text/plain"].splitlines() if line.startswith("triple("))
    assert "256" in row and "100 %" in row
    assert "triple(" in sanitized(table.data["text/html"])


def test_sections_of_what_is_no_cubin():
    assert machine_code.section(b"text", ".debug_line") == b""
    assert machine_code.section(sys.executable.encode(), ".debug_line") == b""
    assert not line_table.instructions(b"", "cell", range(1, 3))


def test_a_long_line_of_a_listing_goes_on_where_it_began():
    passage = Passage("cell", 3, "a", "    first = 1;\n\n        second = 2;\n}")
    assert [row for _, row in passage.lines] == ["    first = 1;", " ", "        second = 2;", "}"]
    assert [indent for indent, _ in passage.lines] == [4.8, 2.4, 7.2, 2.4]  # 0.6 em a letter
    page = beside({"entry": "k", "signature": "", "device": "cpu", "text": "a <b>\n"}).html
    assert "<pre" not in page and page.count("a &lt;b&gt;") == 1
