"""A short soak; tests/soak/run has the long one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from soak.session import soak


def test_random_cells_in_one_kernel():
    outcome = soak(cells=60, seed=11)
    assert outcome.cells == 60 and outcome.wrong == []
    assert len(outcome.kinds) > 6 and outcome.device[-1] <= max(outcome.device)
