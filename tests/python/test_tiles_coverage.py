"""docs/TILES.md names tests: each of them is there."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "docs" / "TILES.md"


@pytest.mark.skipif(not TABLE.exists(), reason="the sources' documents are not here")
def test_the_tests_that_the_table_names_are_there():
    named = set(re.findall(r"`(test_\w+)::(test_\w+)`", TABLE.read_text()))
    assert len(named) > 50
    missing = [
        f"{file}::{test}"
        for file, test in sorted(named)
        if not re.search(rf"^def {test}\(", (HERE / f"{file}.py").read_text(), re.MULTILINE)
    ]
    assert not missing
