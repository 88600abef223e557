"""Programs as text, run with NumPy and with numeric: the same error, or arrays of the same dtype, shape and values."""

import numpy
from xcuda import numeric


def alike(text, near=0.0):
    """Asserts that the program does the same in both; its last line is the expression that is compared.

    Full folds and indices are arrays without axes in numeric, scalars in NumPy: that alone may differ.
    """
    expected, found = outcome(text, numpy), outcome(text, numeric)
    if isinstance(expected, Exception) or isinstance(found, Exception):
        known = type(found) is not Exception and isinstance(
            expected, type(found)
        )  # UFuncTypeError is a TypeError
        assert known, f"{text}: {found!r}, in NumPy {expected!r}"
        return
    _same(found, expected, text, near)


def outcome(text, module):
    """The value of the program's last line, or what it raises."""
    *statements, last = text.strip().split("\n")
    env = {"np": module, "numpy": numpy}
    try:
        with numpy.errstate(all="ignore"):
            exec("\n".join(statements), env)
            return eval(last, env)
    except Exception as error:
        return error


def _same(found, expected, text, near):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected), text
        for f, e in zip(found, expected, strict=True):
            _same(f, e, text, near)
        return
    if not hasattr(expected, "dtype"):
        assert found == expected or found != found and expected != expected, (
            f"{text}: {found!r}, in NumPy {expected!r}"
        )
        return
    expected = numpy.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape, (
        f"{text}: {found!r}, in NumPy {expected!r}"
    )
    values = found.get() if hasattr(found, "get") else numpy.asarray(found)
    if near and expected.dtype.kind in "fc":
        numpy.testing.assert_allclose(values, expected, near, near, err_msg=text)
    else:
        numpy.testing.assert_array_equal(values, expected, err_msg=text)
