"""Short forms of what tests/soak/run does at length beside the soak itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from soak.clients import clients


def test_several_clients_at_once_get_their_own_results():
    ran, wrong = clients(count=4, cells=4, seed=3)
    assert wrong == [] and ran == 32
