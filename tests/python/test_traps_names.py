"""Known traps of names: globals that change, redefined functions, closures, defaults, keyword-only arguments, recursion."""

import numpy as np
import pytest
from frontend_source import lower, make, run
from xcuda import core
from xcuda.core.errors import KernelSyntaxError


def value_of(kernel, *args):
    out = np.zeros(1)
    kernel[1, 1](out, *args)
    core.synchronize()
    return out[0]


def test_a_global_that_changes_between_launches():
    f = make("scale = 2\ndef f(o):\n    o[0] = scale * 10\n", name="f")
    kernel = core.kernel(f)
    assert value_of(kernel) == 20
    for now, want in ((5, 50), (2.5, 25), (True, 10), (2, 20)):
        f.__globals__["scale"] = now
        assert value_of(kernel) == want


def test_a_closure_cell_that_changes_between_launches():
    def cell():
        n = 3

        def f(o):
            o[0] = n

        def change(to):
            nonlocal n
            n = to

        return f, change

    f, change = cell()
    kernel = core.kernel(f)
    assert value_of(kernel) == 3
    change(8)
    assert value_of(kernel) == 8


def test_a_kernel_redefined_in_a_later_cell():
    first = core.kernel(make("def f(o):\n    o[0] = 1\n"))
    second = core.kernel(make("def f(o):\n    o[0] = 2\n"))
    assert (value_of(first), value_of(second), value_of(first)) == (1, 2, 1)


def test_a_helper_redefined_after_the_kernel_was_compiled():
    f = make("def helper(x):\n    return x + 1\ndef f(o):\n    o[0] = helper(1)\n", name="f")
    kernel = core.kernel(f)
    assert value_of(kernel) == 2
    f.__globals__["helper"] = make("def helper(x):\n    return x * 100\n")
    assert value_of(kernel) == 100


def test_a_helper_of_a_helper_redefined():
    f = make(
        "def low(x):\n    return x + 1\ndef high(x):\n    return low(x) * 2\ndef f(o):\n    o[0] = high(1)\n",
        name="f",
    )
    kernel = core.kernel(f)
    assert value_of(kernel) == 4
    f.__globals__["low"] = make("def low(x):\n    return x + 10\n")
    assert value_of(kernel) == 22


@pytest.mark.parametrize(
    ("made", "words"), [("[1, 2, 3]", "a list"), ("{'a': 1}", "a dict"), ("{1, 2}", "a set")]
)
@pytest.mark.parametrize("where", ["global", "closure"])
def test_a_container_from_around_is_refused(made, words, where):
    if where == "global":
        f = make(f"table = {made}\ndef f(o):\n    o[0] = table[0]\n", name="f")
    else:
        f = make(
            f"def around():\n    table = {made}\n    def f(o):\n        o[0] = table[0]\n    return f\nf = around()\n",
            name="f",
        )
    with pytest.raises(KernelSyntaxError) as caught:
        value_of(core.kernel(f))
    assert words in str(caught.value)
    assert caught.value.text[caught.value.offset - 1 :].startswith("table")


def test_a_tuple_from_around_is_constants():
    f = make("table = (4, 5.5)\ndef f(o):\n    o[0] = table[0] + table[1]\n", name="f")
    assert value_of(core.kernel(f)) == 9.5


def test_recursion_is_refused():
    for text in (
        "def g(n):\n    return 1 if n < 2 else n * g(n - 1)\ndef f(o):\n    o[0] = g(5)\n",
        "def g(n):\n    return h(n)\ndef h(n):\n    return g(n)\ndef f(o):\n    o[0] = g(5)\n",
    ):
        with pytest.raises(KernelSyntaxError, match=r"calls itself: recursion .*loop"):
            lower(make(text, name="f"), "float64[1]")


def test_a_helpers_keyword_only_arguments_and_defaults():
    f = make(
        """
        def g(x, /, y=2, *, z, w=10):
            return x * 1000 + y * 100 + z * 10 + w
        def f(o):
            o[0] = g(1, z=3)
            o[1] = g(1, 5, w=4, z=3)
            o[2] = g(1, w=0, z=7, y=6)
        """,
        name="f",
    )
    out, want = np.zeros(3), np.zeros(3)
    run(f, out)
    f(want)
    assert out.tolist() == want.tolist()


def test_a_keyword_only_argument_given_by_place_is_refused():
    f = make("def g(x, *, y):\n    return x + y\ndef f(o):\n    o[0] = g(1, 2)\n", name="f")
    with pytest.raises(KernelSyntaxError, match=r"g\(\) takes 1 argument by place, found 2; write y=..."):
        lower(f, "float64[1]")
    f = make("def f(o):\n    g = lambda x, *, y: x + y\n    o[0] = g(1, 2)\n", name="f")
    with pytest.raises(KernelSyntaxError, match=r"by place, found 2; write y=..."):
        lower(f, "float64[1]")
    f = make("def g(x, /):\n    return x\ndef f(o):\n    o[0] = g(x=1)\n", name="f")
    with pytest.raises(KernelSyntaxError, match=r"g\(\) takes 'x' by place only; leave its name out"):
        lower(f, "float64[1]")


def test_a_kernels_defaults_and_keywords():
    f = make("def f(o, n=3, *, k=4):\n    o[0] = n * 10 + k\n")
    kernel = core.kernel(f)
    out = np.zeros(1)
    for arguments, keywords, want in (
        ((), {}, 34),
        ((5,), {}, 54),
        ((), {"n": 1, "k": 2}, 12),
        ((7,), {"k": 0}, 70),
    ):
        kernel[1, 1](out, *arguments, **keywords)
        core.synchronize()
        assert out[0] == want


def test_a_mutable_default_is_refused():
    """Python would keep the list between calls; a kernel can hold none at all."""
    f = make("def g(x, seen=[]):\n    return x + len(seen)\ndef f(o):\n    o[0] = g(1)\n", name="f")
    with pytest.raises(KernelSyntaxError, match="'seen'"):
        lower(f, "float64[1]")


def test_an_unused_mutable_default_of_a_kernel_is_refused_by_name():
    f = make("def f(o, seen=[]):\n    o[0] = 1\n")
    with pytest.raises((TypeError, KernelSyntaxError), match="seen"):
        value_of(core.kernel(f))


def test_a_helper_may_change_its_argument():
    f = make(
        "def g(x):\n    x += 1\n    return x * 2\ndef f(o):\n    x = 5\n    o[0] = g(x) * 100 + x\n", name="f"
    )
    assert value_of(core.kernel(f)) == 1205


def test_names_of_the_prelude_are_free():
    """A user's names may be C++'s or ours."""
    f = make("""
        def f(o, int_, class_, L, W, F, P, auto, xc_i0, double):
            for float_ in range(2):
                this, new, xc_stop0 = int_ + 1, class_, float_
                o[0] += this * new + L + W + F + P + auto + xc_i0 + double + xc_stop0
    """)
    out, want = np.zeros(1), np.zeros(1)
    run(f, out, *range(1, 10))
    f(want, *range(1, 10))
    assert out[0] == want[0]
