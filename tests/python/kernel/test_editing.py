"""Completion, inspection, is_complete: what the front-end asks while one types."""

import pytest


def test_complete_attributes_and_replace_range(kernel):
    kernel.run("import math")
    reply = kernel.ask("complete", "x = math.fac", 12)
    assert reply["matches"] == ["factorial"]
    assert (reply["cursor_start"], reply["cursor_end"]) == (9, 12)
    assert reply["metadata"]["_jupyter_types_experimental"][0]["type"] == "function"


def test_complete_counts_characters_not_bytes(kernel):
    code = "s = '\U0001f600é'; math.fac"
    kernel.run("import math")
    reply = kernel.ask("complete", code, len(code))
    assert reply["matches"] == ["factorial"]
    assert reply["cursor_start"] == len(code) - 3


def test_complete_magics_and_nothing(kernel):
    assert "%timeit" in kernel.ask("complete", "%timei", 6)["matches"]
    assert kernel.ask("complete", "no_such_name_at_all", 19)["matches"] == []


@pytest.mark.parametrize("level", [0, 1])
def test_inspect_an_object(kernel, level):
    kernel.run("def shown(a, b=2):\n    'What it does.'\n    return a + b")
    reply = kernel.ask("inspect", "shown(1", 7, detail_level=level)
    assert reply["found"] is True
    text = reply["data"]["text/plain"]
    assert ("return" in text) if level else ("What it does." in text)


def test_inspect_any_object_and_what_is_not_there(kernel):
    kernel.run(
        "class Odd:\n    __signature__ = 'none'\n    @property\n    def __doc__(self): raise ValueError\nodd = Odd()"
    )
    assert kernel.ask("inspect", "odd", 3)["found"] is True
    reply = kernel.ask("inspect", "not_there", 4)
    assert reply["status"] == "ok" and reply["found"] is False


def test_a_mime_bundle_in_the_help_is_shown(kernel):
    kernel.run(
        "class K:\n    def __call__(self, x): 'Adds one.'\n    def _repr_mimebundle_(self, **_): "
        "return {'text/plain': 'K!'}\nk = K()"
    )
    [payload] = kernel.run("k?").reply["payload"]
    assert "K" in payload["data"]["text/plain"]


@pytest.mark.parametrize(
    ("code", "status", "indent"),
    [
        ("1 + 1", "complete", None),
        ("for i in range(3):", "incomplete", "    "),
        ("x = (1,", "incomplete", None),
        ("%%time\n", "incomplete", None),
        ("1 +* 2", "invalid", None),
        ("await f()", "complete", None),
    ],
)
def test_is_complete(kernel, code, status, indent):
    reply = kernel.ask("is_complete", code)
    assert reply["status"] == status
    if indent is not None:
        assert reply["indent"] == indent
