"""datetime64 and timedelta64 in kernels: NumPy's units, casts and NaT rules; NumPy is the reference."""

import itertools

import numpy as np
import pytest
from frontend_source import compiles, make
from test_frontend_refusals import refusal
from xcuda import core

NAT = -(2**63)
RNG = np.random.default_rng(5)
SMALL = np.concatenate([RNG.integers(-1000, 1000, 60), [0, 1, -1, 7, -7, NAT, NAT]])
LARGE = np.concatenate([RNG.integers(-(10**9), 10**9, 60), [2**31, -(2**31), 0, NAT]])


def moments(values, unit):
    return values.astype("i8").view(f"M8[{unit}]")


def spans(values, unit):
    return values.astype("i8").view(f"m8[{unit}]")


def elementwise(expression, *arrays, dtype, **names):
    params = "abc"[: len(arrays)]
    text = f"def f({', '.join('p' + p for p in params)}, o):\n    i = cuda.grid(1)\n    if i < o.shape[0]:\n"
    text += "".join(f"        {p} = p{p}[i]\n" for p in params) + f"        o[i] = {expression}\n"
    out = np.zeros(len(arrays[0]), dtype)
    kernel = core.kernel(make(text, **names))
    kernel[-(-len(out) // 64), 64](*arrays, out)
    core.synchronize()
    return out


def as_numpy(expression, *arrays, **names):
    """What NumPy computes of whole arrays; its warnings are of NaT and zero divisors, which are meant."""
    with np.errstate(all="ignore"):
        return eval(expression, {"np": np, **dict(zip("abc", arrays, strict=False)), **names})


def check(expression, *arrays, **names):
    want = as_numpy(expression, *arrays, **names)
    got = elementwise(expression, *arrays, dtype=want.dtype, **names)
    np.testing.assert_array_equal(got, want)


def shuffled(values):
    return np.random.default_rng(len(values)).permutation(values)


@pytest.mark.parametrize("op", ["a - b", "a < b", "a <= b", "a > b", "a >= b", "a == b", "a != b"])
@pytest.mark.parametrize(
    "units", [("D", "D"), ("D", "h"), ("s", "ms"), ("W", "D"), ("M", "D"), ("Y", "s"), ("ns", "us")]
)
def test_two_moments(op, units):
    b = shuffled(SMALL)
    b[::4] = SMALL[::4]
    check(op, moments(SMALL, units[0]), moments(b, units[1]))


@pytest.mark.parametrize(
    "op", ["a + b", "a - b", "a / b", "a // b", "a % b", "a < b", "a <= b", "a == b", "a != b"]
)
@pytest.mark.parametrize("units", [("D", "D"), ("h", "m"), ("s", "ns"), ("Y", "M"), ("W", "D")])
def test_two_spans(op, units):
    b = shuffled(SMALL)
    b[::4] = SMALL[::4]
    check(op, spans(SMALL, units[0]), spans(b, units[1]))


@pytest.mark.parametrize("op", ["a + b", "b + a", "a - b"])
@pytest.mark.parametrize("units", [("D", "D"), ("D", "h"), ("h", "D"), ("M", "D"), ("M", "Y"), ("Y", "s")])
def test_a_moment_and_a_span(op, units):
    check(op, moments(SMALL, units[0]), spans(shuffled(SMALL), units[1]))


@pytest.mark.parametrize("op", ["a + b", "b + a", "a - b", "b - a", "a * b", "b * a", "a / b", "a // b"])
@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u2", "u8"])
def test_a_span_and_whole_numbers(op, dtype):
    b = shuffled(np.abs(SMALL) % 100).astype(dtype)
    if dtype[0] == "i":
        b[::3] = -b[::3]
    check(op, spans(LARGE[: len(b)], "s"), b[: len(LARGE)])


@pytest.mark.parametrize("op", ["a * b", "b * a", "a / b", "a // b"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_a_span_and_floats(op, dtype):
    b = np.resize([1.5, -2.25, 0.0, -0.0, np.nan, np.inf, -np.inf, 1e-3, 3.0], len(SMALL)).astype(dtype)
    check(op, spans(SMALL, "ms"), b)


@pytest.mark.parametrize("op", ["a + 5", "5 + a", "a - 5", "a + True"])
def test_a_moment_and_literals(op):
    check(op, moments(SMALL, "D"))


@pytest.mark.parametrize(
    "op", ["a + 5", "5 - a", "a * 3", "2.5 * a", "a / 2", "a // -2", "a / 0", "a == 7", "a < 7", "-a", "+a"]
)
def test_a_span_and_literals(op):
    check(op, spans(SMALL, "D"))


@pytest.mark.parametrize("name", ["minimum", "maximum", "fmin", "fmax"])
def test_least_and_greatest(name):
    for kind, unit in ((moments, "D"), (spans, "s")):
        check(f"np.{name}(a, b)", kind(SMALL, unit), kind(shuffled(SMALL), unit))
    check(f"np.{name}(a, b)", moments(SMALL, "D"), moments(shuffled(SMALL), "h"))


@pytest.mark.parametrize("name", ["min", "max"])
def test_python_s_min_and_max(name):
    a, b = spans(SMALL, "D"), spans(shuffled(SMALL), "D")
    choose = min if name == "min" else max
    want = np.array([choose(x, y) for x, y in zip(a, b, strict=True)])
    np.testing.assert_array_equal(elementwise(f"{name}(a, b)", a, b, dtype=a.dtype), want)


@pytest.mark.parametrize("expression", ["np.isnat(a)", "np.isnan(a)", "np.isfinite(a)", "np.isinf(a)"])
def test_tests_for_nat(expression):
    check(expression, moments(SMALL, "D"))
    check(expression, spans(SMALL, "ns"))


def test_size_sign_and_clip():
    a = spans(SMALL, "D")
    check("abs(a)", a)
    want = np.where(np.isnat(a), np.nan, np.sign(a.astype("i8")))  # of float64 since NumPy 2.5
    np.testing.assert_array_equal(elementwise("np.sign(a)", a, dtype="f8"), want)
    np.testing.assert_array_equal(elementwise("np.sign(a) * abs(a)", a, dtype=a.dtype), a)
    low, high = np.timedelta64(-5, "D"), np.timedelta64(30, "D")
    check("np.clip(a, low, high)", a, low=low, high=high)


def test_truth():
    a = spans(SMALL, "D")
    got = elementwise("1 if a else 0", a, dtype="i4")
    np.testing.assert_array_equal(got, a.astype(bool).astype("i4"))
    np.testing.assert_array_equal(elementwise("not a", a, dtype=bool), ~a.astype(bool))


def test_divmod_and_augmented_assignment():
    @core.kernel
    def f(a, b, q, r):
        i = core.grid(1)
        if i < len(a):
            whole, rest = divmod(a[i], b[i])
            q[i] = whole
            r[i] = rest
            r[i] += a[i]
            r[i] *= 2

    a, b = spans(SMALL, "h"), spans(shuffled(SMALL), "m")
    q, r = np.zeros(len(a), "i8"), np.zeros(len(a), "m8[m]")
    f[2, 64](a, b, q, r)
    core.synchronize()
    whole, rest = as_numpy("divmod(a, b)", a, b)
    np.testing.assert_array_equal(q, whole)
    np.testing.assert_array_equal(r, (rest + a) * 2)


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"]


@pytest.mark.parametrize("source, target", list(itertools.permutations(UNITS, 2)))
def test_a_moment_assigned_to_another_unit(source, target):
    values = SMALL % 400 - 200 if source in "YMW" else LARGE // 10**5 if source in "Dhm" else LARGE
    a = moments(
        values, source
    )  # all fit the target: NumPy 2.5 raises OverflowError where NumPy 2.4 wraps around
    a[:2] = a[-1:] = np.datetime64("NaT", source)
    np.testing.assert_array_equal(elementwise("a", a, dtype=f"M8[{target}]"), a.astype(f"M8[{target}]"))


@pytest.mark.parametrize("source, target", [*itertools.permutations(UNITS[2:], 2), ("Y", "M"), ("M", "Y")])
def test_a_span_assigned_to_another_unit(source, target):
    a = spans(SMALL, source)
    np.testing.assert_array_equal(elementwise("a", a, dtype=f"m8[{target}]"), a.astype(f"m8[{target}]"))


def test_units_finer_than_nanoseconds():
    check("a - b", moments(LARGE, "as"), moments(shuffled(LARGE), "as"))
    check("a + b", spans(LARGE, "ps"), spans(shuffled(LARGE), "fs"))


def test_whole_numbers_become_spans_and_back():
    values = SMALL.astype("i8")
    np.testing.assert_array_equal(elementwise("a", values, dtype="m8[D]"), values.astype("m8[D]"))
    np.testing.assert_array_equal(
        elementwise("np.timedelta64(a, 'h')", values, dtype="m8[h]"), spans(values, "h")
    )
    np.testing.assert_array_equal(
        elementwise("np.datetime64(a, 'D')", values, dtype="M8[D]"), moments(values, "D")
    )
    for kind in (moments, spans):
        np.testing.assert_array_equal(elementwise("np.int64(a)", kind(values, "D"), dtype="i8"), values)
    cut = elementwise("np.timedelta64(a, 'D')", spans(values, "h"), dtype="m8[D]")
    np.testing.assert_array_equal(cut, spans(values, "h").astype("m8[D]"))


def test_scalars_as_arguments_globals_and_nat():
    start = np.datetime64("2005-02-03", "D")

    @core.kernel
    def f(days, target, delta, same, moved, none):
        i = core.grid(1)
        if i < len(days):
            same[i] = days[i] == target
            moved[i] = days[i] - delta + (days[i] - start)
            none[i] = np.datetime64("NaT")

    days = np.arange("2005-02", "2005-04", dtype="M8[D]")
    days[3] = np.datetime64("NaT")
    for delta in (np.timedelta64(5, "D"), np.timedelta64(7, "h"), np.timedelta64("NaT", "s")):
        same, none = np.ones(len(days), bool), np.zeros(len(days), "M8[s]")
        moved = np.zeros(len(days), "M8[s]")
        f[1, 64](days, days[5], delta, same, moved, none)
        core.synchronize()
        np.testing.assert_array_equal(same, days == days[5])
        np.testing.assert_array_equal(moved, (days - delta + (days - start)).astype("M8[s]"))
        assert np.isnat(none).all()


def test_strided_reversed_big_endian_and_device_arrays():
    whole = np.arange("2000-01-01", "2000-03-01", dtype="M8[D]")
    for given in (whole[::2], whole[::-1], whole.astype(">M8[D]"), whole.reshape(10, 6).T.ravel()):
        out = np.zeros(len(given), "m8[h]")
        kernel = core.kernel(
            make("def f(a, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i] - a[0]\n")
        )
        kernel[1, 64](given, out)
        core.synchronize()
        np.testing.assert_array_equal(out, given - given[0])
    on_device = core.to_device(whole)
    assert on_device.dtype == whole.dtype
    np.testing.assert_array_equal(on_device.copy_to_host(), whole)
    np.testing.assert_array_equal(on_device.view(np.int64).copy_to_host(), whole.view(np.int64))
    assert on_device.view(np.int64).gpu_data == on_device.gpu_data
    back = core.device_array(len(whole), "M8[D]")
    core.kernel(make("def f(a, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        o[i] = a[i] + 1\n"))[
        1, 64
    ](on_device, back)
    np.testing.assert_array_equal(back.copy_to_host(), whole + 1)


def test_fields_of_records_local_arrays_and_reductions():
    log = np.dtype([("when", "M8[s]"), ("took", "m8[ms]"), ("code", "i4")])

    @core.kernel
    def f(rows, total, late):
        spans = core.local.array(2, "timedelta64[ms]")
        spans[0] = 0
        for i in range(len(rows)):
            spans[0] += rows[i].took
            if rows[i].when > late:
                rows[i].code = 1
                rows[i].when += np.timedelta64(1, "D")
        total[0] = spans[0]

    for align in (False, True):
        rows = np.zeros(
            20,
            np.dtype(log.descr, align=align)
            if not align
            else np.dtype({"names": list(log.names), "formats": ["M8[s]", "m8[ms]", "i4"]}, align=True),
        )
        rows["when"] = np.datetime64("2024-02-28T00:00:00") + np.arange(20) * np.timedelta64(3, "h")
        rows["took"] = np.arange(20)
        want = rows.copy()
        late = np.datetime64("2024-02-29", "D")
        hit = want["when"] > late
        want["code"][hit] = 1
        want["when"][hit] += np.timedelta64(1, "D")
        total = np.zeros(1, "m8[ms]")
        f[1, 1](rows, total, late)
        core.synchronize()
        np.testing.assert_array_equal(rows, want)
        assert total[0] == want["took"].sum()


def test_a_global_array_and_choices():
    holidays = np.array(["2024-12-25", "2025-01-01"], "M8[D]")

    @core.kernel
    def f(days, next_one):
        i = core.grid(1)
        if i < len(days):
            found = np.datetime64("NaT", "D")
            for h in holidays:
                if h >= days[i] and (np.isnat(found) or h < found):
                    found = h
            next_one[i] = found if days[i] > np.datetime64(0, "D") else days[i]

    days = np.arange("2024-12-20", "2025-01-05", dtype="M8[D]")
    out = np.zeros(len(days), "M8[D]")
    f[1, 32](days, out)
    core.synchronize()
    later = [holidays[holidays >= d] for d in days]
    np.testing.assert_array_equal(out, [x[0] if len(x) else np.datetime64("NaT", "D") for x in later])


def test_print(capsys):
    @core.kernel
    def f(day, span, none):
        print(day, span, none)

    for day in ("2005-02-03", "1969-12-31T23", "0001-01-01T00:00:01.5", "1970-01", "-0044", "12000-01-01"):
        moment, span = np.datetime64(day), np.timedelta64(-7, "ms")
        f[1, 1](moment, span, np.datetime64("NaT", "s"))
        core.synchronize()
        assert capsys.readouterr().out == f"{moment} {span} NaT\n"


REFUSED = [
    (
        "x = day + day",
        "\\+ between datetime64\\[D\\] and datetime64\\[D\\] has no meaning",
        "the difference of two",
    ),
    ("x = span * span", "\\* between timedelta64", "np.timedelta64"),
    ("x = span + 1.5", "\\+ between timedelta64\\[h\\] and a Python float", "np.timedelta64"),
    ("x = 5 - day", "- between a Python int and datetime64", "np.timedelta64"),
    ("x = day < span", "have no order", "compare two of one kind"),
    ("x = day + month", "months and years have no fixed length", "convert outside"),
    ("x = -day", "has no negative", "subtract two"),
    ("x = np.sqrt(span)", "sqrt\\(\\) does not take timedelta64", "np.int64"),
    ("x = span if n else 1.5", "can't become timedelta64\\[h\\]", "np.timedelta64"),
    ("b[0] = span", "timedelta64\\[h\\] can't become float32", "divide by one"),
    ("x = int(span)", "is no number", "np.int64\\(x\\)"),
    ("x = np.datetime64('2020-01-01')", "can't be read from a string", "outside the kernel"),
    ("x = np.timedelta64(n, 'fortnight')", "is no unit of time", '"D"'),
    ("x = np.timedelta64(1.5, 'D')", "needs an integer", "int\\(x\\)"),
    ("x = np.isnat(n)", "isnat\\(\\) takes a datetime64", "np.isnan"),
    ("x = day if n else n", "can't become datetime64", "np.datetime64"),
]


@pytest.mark.parametrize("body, found, instead", REFUSED)
def test_what_is_refused(body, found, instead):
    names = {
        "day": np.datetime64("2020-01-01", "D"),
        "span": np.timedelta64(5, "h"),
        "month": np.timedelta64(1, "M"),
    }
    error, _ = refusal(body, **names)
    import re

    assert re.search(found, str(error)) and re.search(instead, str(error)), str(error)


def test_units_of_several_are_refused():
    odd = np.zeros(3, "M8[25s]")
    kernel = core.kernel(make("def f(a, o):\n    o[0] = a[0]\n"))
    with pytest.raises(TypeError, match="datetime64\\[25s\\]"):
        kernel[1, 1](odd, odd)


def test_the_cuda_text_compiles():
    @core.kernel
    def f(days, hours, months, factor, out, ratio):
        i = core.grid(1)
        if i < len(days):
            out[i] = days[i] + hours[i] * factor - 3
            ratio[i] = (days[i] - months[i]) / np.timedelta64(1, "D")
            if days[i] > months[i] and not np.isnat(hours[i]):
                out[i] = np.maximum(out[i], months[i])
                ratio[i] += (hours[i] % np.timedelta64(7, "m")) // np.timedelta64(2, "s")

    days = np.zeros(4, "M8[D]")
    compiles(f, (days, np.zeros(4, "m8[h]"), np.zeros(4, "M8[M]"), 1.5, np.zeros(4, "M8[s]"), np.zeros(4)))
