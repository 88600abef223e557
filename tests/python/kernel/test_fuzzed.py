"""Short runs of the fuzzers of the message layer and of interrupts; `./run check` has the long ones."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import pytest
from robust import interrupts, messages


def test_mutated_messages_harm_nobody():
    sent, wrong = messages.fuzz(seed=2, count=200)
    assert wrong == [] and all(sent.values())


def test_interrupts_at_random_moments_end_their_own_cell_alone():
    pytest.importorskip("xcuda.core")
    outcomes, wrong = interrupts.fuzz(seed=7, count=25)
    assert wrong == [] and sum(outcomes.values()) == 25
