"""A magic that is not there: those that may have been meant."""

import pytest
from magic_shell import a_shell
from xcuda.magics.near import ALSO_CALLED, near_names
from xcuda.magics.shell import NAMES

KNOWN = {name for names in NAMES.values() for name in names}


@pytest.fixture(scope="module")
def shell():
    yield from a_shell()


@pytest.mark.parametrize(
    "name, told",
    [
        ("cuda_memory", "did you mean %cuda_mem?"),
        ("cuda_inof", "did you mean %cuda_info?"),
        ("cuda_bench", "did you mean %cuda_time and %%cuda_time?"),
        ("cuda_racecheck", "did you mean %%cuda_check?"),
    ],
)
def test_what_may_have_been_meant(name, told):
    assert near_names(name) == told


def test_all_of_them_where_none_is_near():
    told = near_names("cuda_xyzzy")
    assert told.startswith("there are %cuda_advise, ") and all(name in told for name in KNOWN)


def test_other_names_lead_to_magics_and_are_none():
    assert set(ALSO_CALLED.values()) <= KNOWN
    assert not {f"cuda_{name}" for name in ALSO_CALLED} & KNOWN


def test_ipythons_words_go_on_with_them(shell, capsys):
    for cell in ("%cuda_memory", "%%cuda_memory\n1"):
        shell.run_cell(cell)
        said = "".join(capsys.readouterr())
        assert "cuda_memory` not found; did you mean %cuda_mem?" in said
    shell.run_cell("%no_such_magic")
    said = "".join(capsys.readouterr())
    assert "no_such_magic` not found" in said and "cuda" not in said
