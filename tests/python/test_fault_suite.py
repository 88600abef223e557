"""The fault suite of tests/faults on the default device: the right exception each time, and a device that goes on."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.programs import programs
from faults.suite import outcome
from xcuda import core as cuda

PROGRAMS = {p.name: p for p in programs() if p.on in ("", cuda.Device().kind)}


def test_there_are_sixty_of_different_names():
    assert len({program.name for program in programs()}) == len(programs()) >= 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_right_exception_and_survival(name):
    assert outcome(PROGRAMS[name]) == ""
