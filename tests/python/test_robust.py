"""Short runs of the fuzzers of tests/robust; `./run check` has the long ones."""

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from robust import front_end, reports, threads


def test_the_front_end_compiles_or_refuses_mutated_kernels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes, wrong = front_end.fuzz(seed=3, count=80)
    assert wrong == []
    assert outcomes["compiled"] > 5 and outcomes["refused"] > 25


def test_hostile_names_stay_text():
    made, wrong = reports.fuzz(seed=5, count=120)
    assert wrong == [] and set(made) == set(reports.PAGES)


def test_threads_get_what_they_would_get_alone():
    done, wrong = threads.fuzz(seed=5, count=80)
    assert wrong == [] and set(done) == set(threads.WORK)


@pytest.mark.parametrize("page", reports.PAGES)
def test_a_name_that_is_mark_up_is_shown_as_it_is(page):
    shown = reports.PAGES[page]("<i>&</i>")["text/html"]
    assert "&lt;i&gt;&amp;&lt;/i&gt;" in shown and "<i>" not in shown
