"""What the kernel keeps of outputs and errors for %notebook: the latest, however long the session or the output is."""

import json

HELD = "m = get_ipython().history_manager\n"


def test_a_session_is_exported_with_its_outputs(own_kernel, tmp_path):
    kernel = own_kernel
    kernel.run("print('first')\nprint('second')")
    kernel.run("40 + 2")
    kernel.run("1 / 0")
    kernel.run("'last'")
    kernel.run(f"%notebook {tmp_path}/session.ipynb")
    cells = json.loads((tmp_path / "session.ipynb").read_text())["cells"]
    kinds = [[output["output_type"] for output in cell["outputs"]] for cell in cells]
    assert kinds[-4:] == [["stream"], ["execute_result"], ["error"], ["execute_result"]]
    printed, number, error, _ = (cell["outputs"][0] for cell in cells[-4:])
    assert "".join(printed["text"]).split() == ["first", "second"]
    assert number["data"]["text/plain"] == ["42"] and error["ename"] == "ZeroDivisionError"


def test_the_oldest_outputs_go(kernel):
    kernel.run("import json\nget_ipython().history_manager.reset()")
    for _ in range(3):
        kernel.run("from IPython.display import display\nfor i in range(700): get_ipython().displayhook(i)")
    outcome = kernel.run(
        HELD + "print(sum(map(len, m.outputs.values())), [len(v) > 0 for v in m.outputs.values()])"
    )
    assert outcome.text().startswith("1000 [") and "False" not in outcome.text()


def test_what_a_cell_prints_is_kept_to_a_bound(kernel):
    kernel.run("get_ipython().history_manager.reset()")
    kernel.run("for i in range(300): print('x' * 9999)")
    outcome = kernel.run(
        HELD + "kept = [o.bundle['stream'] for v in m.outputs.values() for o in v if 'stream' in o.bundle]\n"
        "print([sum(map(len, pieces)) < 1_100_000 for pieces in kept], kept[0][-1])"
    )
    assert outcome.text().startswith("[True") and "was not kept" in outcome.text()


def test_large_outputs_leave_room_for_themselves(kernel):
    kernel.run("get_ipython().history_manager.reset()")
    for _ in range(5):
        kernel.run(
            "class Large:\n    def _repr_mimebundle_(self, **_): return {'text/html': 'y' * 3_000_000}\nLarge()"
        )
    outcome = kernel.run(HELD + "print(sum(map(len, m.outputs.values())))")
    assert outcome.text() == "2\n"


def test_errors_are_kept_to_a_bound(kernel):
    kernel.run("get_ipython().history_manager.reset()")
    kernel.run("1 / 0")
    kernel.run(HELD + "for i in range(3000): m.exceptions[-i] = {}")
    assert kernel.run(HELD + "len(m.exceptions), type(m.exceptions).__name__").result == "(1000, 'Errors')"
