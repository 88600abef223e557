"""The kernel's JSON text of plain values: what the json module reads of it is the value, and what is not plain goes that way."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

to_json = pytest.importorskip("xcuda.kernel.encode").to_json
json_text = pytest.importorskip("xcuda.kernel._kernel").json_text

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner)
    ),
)


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


@given(PLAIN)
def test_what_is_read_is_what_was_written(value):
    text = json_text(value)
    assert text is not None and same(json.loads(text), value)
    assert "\n" not in text


def test_tuples_are_lists_and_long_texts_are_whole():
    assert json.loads(json_text((1, (2.0, "a")))) == [1, [2.0, "a"]]
    text = 'ä "quoted" \\ \x00\x1f\x7f \u2028 😀' * 1000
    assert json.loads(json_text({"text/html": text})) == {"text/html": text}


class Number(int):
    pass


LOOP: list = []
LOOP.append(LOOP)
DEEP: list = []
for _ in range(100):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [2**63, math.nan, math.inf, "\ud800", {1: 2}, {"a": b"bytes"}, Number(3), {1, 2}, LOOP, DEEP],
    ids=lambda v: type(v).__name__,
)
def test_what_is_not_plain_goes_the_other_way(value):
    assert json_text(value) is None
    if value is not DEEP:
        json.loads(to_json(value))


def test_no_error_is_left_behind():
    assert json_text(["\ud800"]) is None
    assert json_text(["after it"]) == '["after it"]'
