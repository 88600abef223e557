"""History requests answer with IPython's own rows: [session, line, text or [text, output]]."""

import pytest


@pytest.fixture(scope="module")
def told(kernel):
    for code in ("alpha_1 = 1", "alpha_1 + 1", "alpha_2 = 3", "alpha_1 + 1"):
        kernel.run(code)
    kernel.run("hidden = 1", store_history=False)
    return kernel


def rows(kernel, **question):
    reply = kernel.ask("history", **question)
    assert reply["status"] == "ok"
    return reply["history"]


def test_tail(told):
    found = rows(told, hist_access_type="tail", n=4)
    assert [row[2] for row in found] == ["alpha_1 = 1", "alpha_1 + 1", "alpha_2 = 3", "alpha_1 + 1"]
    assert [row[1] for row in found] == [1, 2, 3, 4]
    assert all(isinstance(row[0], int) and row[0] > 0 for row in found)


def test_tail_with_output(told):
    assert rows(told, hist_access_type="tail", n=1, output=True)[0][2] == ["alpha_1 + 1", "2"]


def test_range_of_this_session(told):
    found = rows(told, hist_access_type="range", session=0, start=1, stop=3)
    assert [(row[1], row[2]) for row in found] == [(1, "alpha_1 = 1"), (2, "alpha_1 + 1")]


def test_search(told):
    found = rows(told, hist_access_type="search", pattern="alpha_1*", n=3)
    assert [row[2] for row in found] == ["alpha_1 = 1", "alpha_1 + 1", "alpha_1 + 1"]
    unique = rows(told, hist_access_type="search", pattern="alpha_1 + *", n=100, unique=True)
    assert [row[2] for row in unique] == ["alpha_1 + 1"]
    assert rows(told, hist_access_type="search", pattern="never typed this *") == []


def test_an_earlier_session_is_found(told, own_kernel):
    session = rows(told, hist_access_type="tail", n=1)[0][0]
    found = rows(own_kernel, hist_access_type="range", session=session, start=1, stop=2)
    assert found == [[session, 1, "alpha_1 = 1"]]


def test_history_magic_agrees(told):
    assert "alpha_2 = 3" in told.run("%history -n 1-4").text()
