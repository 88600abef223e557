"""A short run of the fuzzer of the message layer; `./run check` has the long one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from robust import messages


def test_mutated_messages_harm_nobody():
    sent, wrong = messages.fuzz(seed=2, count=200)
    assert wrong == [] and all(sent.values())
