"""What `capture` reads of a function: its tree and places, the meaning of its names, and what has changed since."""

import enum
import json
import linecache
import math
import subprocess
import sys
import types

import numpy as np
import pytest
from frontend_source import make
from xcuda import core as cuda
from xcuda.core import language
from xcuda.core.source import capture, describe


def names(function):
    return json.loads(capture(function).names_json)["names"]


class Mode(enum.IntEnum):
    FAST = 3


LIMIT = 5


FAST = {
    "kind": "constant",
    "type": "int",
    "value": "3",
    "fields": [f"{__name__}.Mode.FAST"],  # its name among all; its value and its name
    "items": [
        {"kind": "constant", "type": "int", "value": "3"},
        {"kind": "constant", "type": "str", "value": "FAST"},
    ],
}


def uses_globals(a):
    a[0] = LIMIT + math.pi + np.float32(2) + Mode.FAST


def test_names_of_a_file():
    found = names(uses_globals)
    assert found["LIMIT"] == {"kind": "constant", "type": "int", "value": "5"}
    assert float.fromhex(found["math.pi"]["value"]) == math.pi
    assert found["np.float32"] == {"kind": "dtype", "dtype": "float32"}
    assert found["Mode.FAST"] == FAST
    assert "a" not in found


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (True, {"kind": "constant", "type": "bool", "value": True}),
        (2**64, {"kind": "constant", "type": "int", "value": str(2**64)}),
        (0.1, {"kind": "constant", "type": "float", "value": (0.1).hex()}),
        (None, {"kind": "constant", "type": "None"}),
        ("hi", {"kind": "constant", "type": "str", "value": "hi"}),
        (
            np.float32(0.1),
            {"kind": "scalar", "dtype": "float32", "type": "float", "value": float(np.float32(0.1)).hex()},
        ),
        (np.uint8(7), {"kind": "scalar", "dtype": "uint8", "type": "int", "value": "7"}),
        (np.bool_(True), {"kind": "scalar", "dtype": "bool", "type": "bool", "value": True}),
        (np.dtype("int16"), {"kind": "dtype", "dtype": "int16"}),
        (np.sin, {"kind": "function", "name": "numpy.sin"}),
        (np.abs, {"kind": "function", "name": "numpy.absolute"}),
        (np.where, {"kind": "function", "name": "numpy.where"}),
        (math.erf, {"kind": "function", "name": "math.erf"}),
        (min, {"kind": "function", "name": "builtins.min"}),
        (float, {"kind": "function", "name": "builtins.float"}),
        (ValueError, {"kind": "exception", "name": "ValueError"}),
        (language.grid, {"kind": "intrinsic", "name": "grid"}),
        (language.atomic.add, {"kind": "intrinsic", "name": "atomic.add"}),
        (math, {"kind": "module", "name": "math"}),
        ([1], {"kind": "host", "type": "list", "text": "a list of 1 item"}),
        (
            np.ones((2, 1), np.int16),
            {"kind": "array", "dtype": "int16", "shape": [2, 1], "data": "01000100"},
        ),
        (
            np.zeros((2, 3), object),
            {"kind": "host", "type": "ndarray", "text": "a object array of shape (2, 3)"},
        ),
        (1j, {"kind": "constant", "type": "complex", "real": (0.0).hex(), "imag": (1.0).hex()}),
        (
            Mode,
            {
                "kind": "class",
                "name": "Mode",
                "fields": ["FAST"],
                "items": [FAST],
            },
        ),
    ],
)
def test_the_meaning_of_an_object(value, meaning):
    assert names(make("def f(a):\n    a[0] = x\n", x=value))["x"] == meaning


def test_tuples_of_constants():
    found = names(make("def f(a):\n    a[0] = x[1]\n", x=(1, (2.5, True))))["x"]
    assert found["kind"] == "tuple" and found["items"][1]["kind"] == "tuple"


def test_unknown_names_bring_the_nearest():
    found = names(make("def f(a):\n    a[0] = valeu + np.sinn(2)\n", value=1))
    assert found["valeu"] == {"kind": "undefined", "close": ["value"]}
    assert found["np.sinn"]["close"] == ["sin"]


def test_a_kernel_is_a_helper_to_another():
    kernel = cuda.kernel(make("def k(a):\n    a[0] = 1\n"))
    assert names(make("def f(a):\n    k(a)\n", k=kernel))["k"]["kind"] == "helper"


def test_annotations_and_decorators_are_not_names():
    f = make("""
        def deco(f): return f
        @deco
        def f(a: "Missing", n: int = 3) -> np.ndarray:
            x: Missing = n
            a[0] = x
    """)
    assert names(f) == {}


def test_helpers_are_captured_with_their_own_names():
    f = make("""
        SCALE = 2
        def inner(x, by=0.5): return x * by * SCALE
        def outer(x): return inner(x) + outer_again(x)
        def outer_again(x): return inner(x)
        def f(a): a[0] = outer(a[1])
    """)
    data = json.loads(capture(f).names_json)
    assert [h["name"] for h in data["helpers"]] == ["outer", "inner", "outer_again"]
    assert data["helpers"][1]["names"]["SCALE"]["value"] == "2"
    assert data["helpers"][1]["defaults"]["by"]["type"] == "float"


def test_places_are_those_of_the_file():
    c = capture(uses_globals)
    tree = json.loads(c.ast_json)
    line = uses_globals.__code__.co_firstlineno
    assert tree[1][:2] == [line, 0]
    assert tree[2]["body"][0][1][:2] == [line + 1, 4]
    assert c.first_line == line and c.text.startswith("def uses_globals(a):") and c.file == __file__


def test_an_indented_function_keeps_its_columns():
    def inside(a):
        a[0] = 1

    tree = json.loads(capture(inside).ast_json)
    assert tree[1][:2] == [inside.__code__.co_firstlineno, 4]


def test_a_changed_global_is_seen():
    f = make("N = 1\ndef f(a):\n    a[0] = N\n", name="f")
    c = capture(f)
    assert not c.changed()
    f.__globals__["N"] = 2
    assert c.changed() and not capture(f).changed()
    del f.__globals__["N"]
    assert capture(f).changed() is False
    f.__globals__["N"] = 1


def test_a_new_name_over_a_builtin_is_seen():
    f = make("def f(a):\n    a[0] = min(1, 2)\n")
    c = capture(f)
    f.__globals__["min"] = max
    assert c.changed()


def test_a_changed_cell_is_seen():
    f, change = make(
        """
        def factory():
            n = 1
            def change(value):
                nonlocal n
                n = value
            def f(a):
                a[0] = n
            return f, change
        made = factory()
    """,
        name="made",
    )
    c = capture(f)
    assert names(f)["n"]["value"] == "1" and not c.changed()
    change(2)
    assert c.changed() and names(f)["n"]["value"] == "2"


def test_an_edited_helper_is_seen():
    f = make("def h(x): return x\ndef f(a):\n    a[0] = h(1)\n", name="f")
    c = capture(f)
    f.__globals__["h"].__code__ = make("def h(x): return x + 1\n").__code__  # as %autoreload does
    assert c.changed()
    c = capture(f)
    f.__globals__["h"] = make("def h(x): return x + 2\n")
    assert c.changed()


def test_an_attribute_of_a_users_module_is_seen():
    config = types.ModuleType("config")
    config.N = 1
    f = make("def f(a):\n    a[0] = config.N\n", config=config)
    c = capture(f)
    assert not c.changed()
    config.N = 2
    assert c.changed()


def test_the_text_of_a_command_is_read():
    text = (
        "import numpy as np\nfrom xcuda import core as cuda\n\n@cuda.kernel\ndef f(a):\n    a[0] = 7\n\n"
        "a = np.zeros(1)\nf[1, 1](a)\nprint(a[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("7.0\n", "")


def test_no_source_is_said():
    space = {}
    exec("def f(a): pass", space)
    with pytest.raises(
        OSError, match="no source text for f\\(\\).*Define it in a notebook cell or in a file"
    ):
        capture(space["f"])


def test_a_file_that_changed_is_said():
    f = make("def f(a):\n    a[0] = 1\n")
    file = f.__code__.co_filename
    text = "def g(b):\n    b[0] = 1\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with pytest.raises(OSError, match="changed since it was defined: run the definition again"):
        capture(f)


def test_what_is_no_function_is_said():
    with pytest.raises(
        TypeError,
        match="a kernel is made from a plain Python function, not from a builtin_function_or_method",
    ):
        capture(print)
    with pytest.raises(TypeError, match="a lambda can't be a kernel: give it a name with def"):
        capture(lambda a: a)


@pytest.mark.parametrize(
    "use",
    [
        lambda: cuda.grid(1),
        lambda: cuda.threadIdx.x,
        lambda: cuda.shared.array(3, np.float32),
        lambda: cuda.atomic.add(None, 0, 1),
        lambda: cuda.syncthreads(),
    ],
)
def test_intrinsics_outside_a_kernel(use):
    with pytest.raises(RuntimeError, match="has a meaning inside a kernel only"):
        use()


def test_intrinsics_are_documented():
    for name in language.__all__[2:]:
        assert getattr(language, name).__doc__, name
    assert "grid" in repr(language.grid)


def test_descriptions():
    assert describe([1, 2]) == "a list of 2 items"
    assert describe(np.zeros(3, np.float32)) == "a float32 array of shape (3,)"
    assert describe(math) == "module math"
    assert describe(object()) == "an object"
