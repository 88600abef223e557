"""A short soak; tests/soak/run has the long one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from soak.session import restarts, soak


def test_random_cells_in_one_kernel():
    outcome = soak(cells=60, seed=11, fill=False)
    assert outcome.cells == 60 and outcome.wrong == []
    assert len(outcome.kinds) > 6 and outcome.device[-1] <= max(outcome.device)


def test_a_kernel_that_is_restarted_again_and_again():
    seen = []
    assert restarts(4, progress=lambda number, wrong: seen.append(number)) == []
    assert seen == [0, 1, 2, 3, 4]
