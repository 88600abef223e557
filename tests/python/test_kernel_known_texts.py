"""Strings and members of Enums, which are known while a kernel is compiled: Python itself is the reference."""

import enum

import numpy as np
import pytest
from frontend_source import make, run
from xcuda import core


class Color(enum.IntEnum):
    RED = 1
    GREEN = 2


class Mode(enum.Enum):
    FAST = "fast"
    EXACT = 2.5


NAMES = {"Color": Color, "Mode": Mode}
BODIES = {
    "lengths": ("o[0] = len(a)\no[1] = len('')\no[2] = len('añb')", "xyz"),
    "parts": ("o[0] = a[0] == 'x'\no[1] = a[-1] == 'z'\no[2] = a[1:] == 'yz'\no[3] = a[::-1] == 'zyx'", "xyz"),
    "found": ("o[0] = 'x' in a\no[1] = 'q' not in a\no[2] = a.startswith('x')\no[3] = a.endswith(('q', 'z'))\no[4] = a.find('z')\no[5] = a.count('y')\no[6] = 'añb'.find('b')", "xyz"),
    "ordered": ("o[0] = a < 'y'\no[1] = a >= 'xyz'\no[2] = a > 'xy'\no[3] = a <= 'ñ'", "xyz"),
    "characters": ("for c in a:\n    o[0] = o[0] * 1000 + ord(c)\nfor i, c in enumerate('ñ'):\n    o[1] = ord(c) + i", "xyz"),
    "branches": ("if a:\n    o[0] = 1\nif not '':\n    o[1] = 1\nif a == 'max':\n    o[2] = 5\nelif a in ('min', 'xyz'):\n    o[2] = 6", "xyz"),
    "an IntEnum": ("o[0] = a == Color.RED\no[1] = Color.GREEN + 1\no[2] = a is Color.RED\no[3] = a is not Color.GREEN\no[4] = Color.GREEN.value\no[5] = Color(2).value\no[6] = len(Color.GREEN.name)", Color.RED),
    "an Enum": ("o[0] = a is Mode.EXACT\no[1] = a == Mode.FAST\no[2] = a.value\no[3] = len(a.name)\no[4] = Mode('fast') is Mode.FAST\nm = Mode.FAST\no[5] = m.value == 'fast'\no[6] = Mode['EXACT'].value", Mode.EXACT),
    "members": ("for c in Color:\n    o[0] += c\no[1] = len(Color)\nfor i, m in enumerate(Mode):\n    o[2] += i * len(m.name)\no[3] = a in (Mode.FAST, Mode.EXACT)", Mode.FAST),
    "chosen": ("x = Color.RED if o[0] > 0 else Color.GREEN\no[1] = x is Color.GREEN\no[2] = x == a", Color.GREEN),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_as_in_python(name):
    body, argument = BODIES[name]
    text = "def f(a, o):\n    " + "\n    ".join(body.split("\n")) + "\n"
    want, got = np.zeros(8), np.zeros(8)
    make(text, **NAMES)(argument, want)
    run(make(text, **NAMES), argument, got)
    np.testing.assert_array_equal(got, want)


def test_texts_that_are_made():
    f = make("""
        def f(o):
            s = 'ab'
            o[0] = s + 'c' == 'abc'
            o[1] = s * 2 == 'abab'
            o[2] = s.upper() == 'AB'
            o[3] = 'AB'.lower() == s
            o[4] = s * 0 == ''
    """)
    o = np.zeros(5)
    run(f, o)
    assert o.tolist() == [1] * 5


def test_a_helper_decides_by_its_text():
    f = make("""
        def pick(how, x, y):
            if how == 'least' or how.startswith('min'):
                return min(x, y)
            return max(x, y)

        def f(how, a, o):
            o[0] = pick(how, a[0], a[1])
            o[1] = pick('greatest', a[0], a[1])
    """)
    for how, want in (("least", 2), ("minimum", 2), ("other", 5)):
        o = np.zeros(2)
        run(f, how, np.array([5.0, 2.0]), o)
        assert o.tolist() == [want, 5]


def test_no_such_member():
    with pytest.raises(ValueError, match="no such member of Mode"):
        run(make("def f(o):\n    o[0] = Mode(7).value\n", **NAMES), np.zeros(1))


@pytest.mark.parametrize(
    "value, view", [(np.array(["ab", "c"]), "uint32"), (np.array([b"ab", b"c"]), "uint8")]
)
def test_arrays_of_strings_are_refused_with_what_to_pass(value, view):
    @core.kernel
    def kernel(words, o):
        o[0] = words[0, 0]

    with pytest.raises(TypeError, match=rf"words\.view\(numpy\.{view}\)\.reshape\(words\.shape \+ \(-1,\)\)"):
        kernel[1, 1](value, np.zeros(1))
    o = np.zeros(1)
    kernel[1, 1](value.view(view).reshape((*value.shape, -1)), o)
    assert o[0] == ord("a")


def test_bytes_are_no_numbers():
    @core.kernel
    def kernel(x, o):
        o[0] = x

    with pytest.raises(TypeError, match="bytes_, which kernels don't take"):
        kernel[1, 1](np.bytes_(b"q"), np.zeros(1))
